// Channels as lanes. The file contains the layouts; this program draws them.

const CELL = 28; // height of a bundle
let zoom; // undefined until something is drawn

// lanesOf draws the channels of a view. choose is called with a lane and a node, unfold with a lane.
function lanesOf(pkg, view, shown) {
	return inOrder(view.lanes).map((lane) => laneOf(pkg, lane, shown));
}

// inOrder sorts channels: the default channel first, then by name with numbers as numbers, so that 3.9 precedes
// 3.10.
const count = new Intl.Collator('en', { numeric: true });
const inOrder = (lanes) => [...lanes].sort((a, b) => Number(b.default ?? false) - Number(a.default ?? false) || count.compare(a.name, b.name));

function laneOf(pkg, lane, shown) {
	const open = lane.whole && shown.open.includes(lane.name);
	const layout = open ? lane.whole : lane.folded;
	const chips = [['default', lane.default], ['new', lane.new], ['deprecated', lane.deprecated]].filter(([, is]) => is).map(([word]) => make('span', { class: `chip ${word}` }, word));
	const toggle = lane.whole ? make('button', { type: 'button', class: 'small', 'aria-expanded': String(Boolean(open)), click: () => shown.unfold(lane, !open) }, open ? 'Fold' : 'Unfold') : null;
	const label = `Channel ${named(lane.name)}, ${plural(layout.n, 'version')}`;
	const svg = draw('svg', { class: 'graft', viewBox: `0 0 ${layout.w} ${layout.h}`, role: 'listbox', 'aria-label': label, 'aria-orientation': 'horizontal' });
	svg.layout = layout;
	for (const [classes, way] of layout.l) {
		const arrow = classes.endsWith('>');
		const names = arrow ? classes.slice(0, -1) : classes;
		svg.append(draw('path', { class: names, d: way, 'marker-end': arrow ? `url(#graft-${names.slice(names.lastIndexOf(' ') + 1)})` : null }));
	}
	layout.c.forEach((cell, i) => svg.append(cellOf(pkg, lane, cell, i === 0, shown)));
	const head = make('header', {}, make('h3', {}, named(lane.name)), chips, make('span', { class: 'count' }, plural(layout.n, 'version')), toggle);
	const scroller = make('div', { class: 'scroller' }, svg);
	handle(scroller, open);
	const section = make('section', { class: open ? 'lane open' : 'lane', 'aria-label': label }, head, scroller);
	section.lane = lane;
	return section;
}

function cellOf(pkg, lane, [first, folded, x, y, width, badgeY, classes, label, mark], tabbed, shown) {
	const node = lane.nodes[first], bundle = pkg.bundles[node.b];
	const g = draw('g', { class: classes.replace('hatched', ''), role: 'option', tabindex: tabbed ? 0 : -1, 'aria-selected': 'false' });
	g.bundle = folded > 0 ? null : bundle.n;
	g.lane = lane;
	const stays = folded > 0 && shown.open.includes(lane.name); // versions that the channel only names stay folded
	g.choose = () => {
		if (folded === 0) shown.choose(lane, bundle.n);
		else if (!stays) shown.unfold(lane, true, bundle.n);
	};
	g.addEventListener('click', g.choose);
	const pill = (more, dx = 0, dy = 0) => draw('rect', { class: more, x: x + dx, y: y + dy, width, height: CELL, rx: CELL / 2 });
	if (folded > 0) {
		const away = badgeY < y ? -1 : 1; // away from the lines
		g.append(pill('pill', 6, 6 * away), pill('pill', 3, 3 * away));
	}
	g.append(pill('pill'));
	if (classes.includes('hatched')) g.append(pill('hatch'));
	g.append(draw('text', { class: 'label', x: x + width / 2, y: y + CELL / 2 + 4 }, label));
	if (mark) g.append(draw('text', { class: 'badge', x: x + width / 2, y: badgeY }, mark));
	const found = folded > 0 ? [] : shown.findings(lane.name, bundle.n);
	if (found.length > 0) {
		const level = found.some((f) => f.level === 'error') ? 'error' : 'warning';
		g.append(draw('circle', { class: `finding ${level}`, cx: x + width - 5, cy: y + 3, r: 6 }), draw('text', { class: 'findingmark', x: x + width - 5, y: y + 6.5 }, '!'));
	}
	const about = folded > 0 ? [label.replace('… ', ''), stays ? null : 'folded; Enter unfolds'] : [named(bundle.n), bundle.v ? `version ${bundle.v}` : null, ...wordsOf(node), node.r ? `skipRange ${node.r}` : null, found.length ? plural(found.length, 'finding') : null];
	const text = clean(about.filter(Boolean).join(', '));
	g.setAttribute('aria-label', text);
	g.append(draw('title', {}, text));
	return g;
}

// setZoom resizes the drawn lanes.
function setZoom(to) {
	zoom = Math.min(3, Math.max(0.2, to));
	for (const svg of document.querySelectorAll('.lane svg')) {
		svg.setAttribute('width', Math.ceil(svg.layout.w * zoom));
		svg.setAttribute('height', Math.ceil(svg.layout.h * zoom));
	}
	level();
}

// level gives lanes side by side the same height.
function level() {
	const sides = [...document.querySelectorAll('.side')];
	if (sides.length < 2) return;
	const rows = sides.map((s) => [...s.querySelectorAll('.lane')]);
	rows[0].forEach((lane, i) => {
		const beside = [lane, rows[1][i]];
		for (const one of beside) one.style.minHeight = '';
		const height = Math.max(...beside.map((one) => one.offsetHeight));
		for (const one of beside) one.style.minHeight = `${height}px`;
	});
}

// fitting returns the zoom at which all folded lanes fit, between least and the real size.
function fitting(least) {
	const scroller = document.querySelector('.scroller');
	const widest = Math.max(1, ...[...document.querySelectorAll('.lane:not(.open) svg')].map((svg) => svg.layout.w));
	return Math.min(1, Math.max(least, (scroller?.clientWidth ?? widest) / widest));
}

// handle lets a scroller follow a dragging pointer, and lets a wheel with Ctrl zoom. Folded lanes share their
// columns and scroll together.
function handle(scroller, open) {
	let drag = null;
	if (!open) scroller.addEventListener('scroll', () => {
		for (const other of scroller.closest('.side').querySelectorAll('.lane:not(.open) .scroller')) other.scrollLeft = scroller.scrollLeft;
	});
	scroller.addEventListener('pointerdown', (e) => {
		if (e.pointerType === 'mouse' && e.button === 0 && !e.target.closest('button, a')) drag = { x: e.clientX, y: e.clientY, left: scroller.scrollLeft, top: byId('main').scrollTop, moved: false };
	});
	scroller.addEventListener('pointermove', (e) => {
		if (!drag) return;
		const dx = e.clientX - drag.x, dy = e.clientY - drag.y;
		if (!drag.moved && Math.hypot(dx, dy) < 5) return;
		if (!drag.moved) scroller.setPointerCapture(e.pointerId);
		drag.moved = true;
		scroller.classList.add('dragged');
		scroller.scrollLeft = drag.left - dx;
		byId('main').scrollTop = drag.top - dy;
	});
	const end = () => { drag = null; scroller.classList.remove('dragged'); };
	scroller.addEventListener('pointerup', end);
	scroller.addEventListener('pointercancel', end);
	scroller.addEventListener('wheel', (e) => {
		if (!e.ctrlKey && !e.metaKey) return;
		e.preventDefault();
		const x = e.clientX - scroller.getBoundingClientRect().left, at = (scroller.scrollLeft + x) / zoom;
		setZoom(zoom * Math.exp(-e.deltaY / 300));
		scroller.scrollLeft = at * zoom - x;
	}, { passive: false });
}

// move moves the keyboard focus from one bundle to another: along the lane, or to the nearest bundle of the next
// lane.
function move(g, key) {
	const cells = [...g.ownerSVGElement.querySelectorAll('[role=option]')], i = cells.indexOf(g);
	const along = { ArrowLeft: i - 1, ArrowRight: i + 1, Home: 0, End: cells.length - 1 };
	if (key in along) return focusOn(cells[along[key]]);
	const lanes = [...g.closest('.side').querySelectorAll('.lane svg')];
	const next = lanes[lanes.indexOf(g.ownerSVGElement) + (key === 'ArrowDown' ? 1 : -1)];
	if (!next) return undefined;
	const middle = (c) => { const b = c.getBoundingClientRect(); return b.left + b.width / 2; };
	const from = middle(g);
	return focusOn([...next.querySelectorAll('[role=option]')].sort((a, b) => Math.abs(middle(a) - from) - Math.abs(middle(b) - from))[0]);
}

function focusOn(g) {
	if (!g) return;
	for (const other of g.ownerSVGElement.querySelectorAll('[role=option]')) other.setAttribute('tabindex', other === g ? 0 : -1);
	g.focus({ preventScroll: true });
	g.scrollIntoView({ block: 'nearest', inline: 'nearest' });
}
