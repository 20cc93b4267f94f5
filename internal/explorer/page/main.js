// The state of the page is its address, #/PACKAGE/CHANNEL/BUNDLE?on=4.20&view=both&open=... Only the zoom is not
// part of it.

const LEAST = 0.8; // texts are hard to read at a smaller zoom

let index, drawn = '', wanted = 0;

// address returns the link to a state.
function address(state) {
	const parts = [state.pkg ?? readAddress().pkg, state.channel ?? '', state.bundle ?? ''].map(encodeURIComponent);
	const query = new URLSearchParams();
	for (const name of ['on', 'view', 'from', 'to', 'start', 'end', 'follow', 'olm']) if (state[name]) query.set(name, state[name]);
	for (const lane of state.open ?? []) query.append('open', lane);
	return `#/${parts.join('/').replace(/\/+$/, '')}${query.size ? `?${query}` : ''}`;
}

function readAddress() {
	const [path, query] = location.hash.replace(/^#\/?/, '').split(/\?(.*)/s);
	const part = (text) => { try { return decodeURIComponent(text ?? ''); } catch { return text; } };
	const [pkg, channel, bundle] = path.split('/').map(part);
	const asked = new URLSearchParams(query ?? '');
	return { pkg: pkg ?? '', channel: channel ?? '', bundle: bundle ?? '', open: asked.getAll('open'), ...Object.fromEntries([...asked].filter(([name]) => name !== 'open')) };
}

function go(state) {
	const to = address(state);
	if (to === location.hash) show();
	else location.hash = to;
}

const say = (text) => { byId('say').textContent = clean(text); };

// show updates the page to the state in its address.
async function show() {
	const turn = ++wanted, at = location.hash, state = readAddress();
	if (!state.pkg && index.packages.length === 1) state.pkg = index.packages[0].name;
	const place = index.packages.findIndex((p) => p.name === state.pkg);
	markList(place);
	document.body.classList.toggle('single', index.packages.length === 1);
	if (place < 0) {
		drawn = '';
		byId('panel').hidden = true;
		byId('main').replaceChildren(...[state.pkg ? make('p', { class: 'none' }, `No catalog of this file has a package ${named(state.pkg)}.`) : null, ...overview(index)].filter(Boolean));
		document.title = clean(index.title);
		document.body.dataset.shown = at;
		return;
	}
	const pkg = await packageAt(place);
	if (turn !== wanted) return; // the address has changed in the meantime
	document.title = clean([state.bundle, pkg.name, index.title].filter(Boolean).join(' · '));
	showPackage(pkg, index.packages[place], state);
	document.body.dataset.shown = at;
}

function showPackage(pkg, about, state) {
	const stage = stageOf(pkg, state);
	if (state.bundle) unfoldFor(pkg, stage, state);
	const key = JSON.stringify([pkg.name, stage, state.view, state.open]);
	const active = document.activeElement, hadFocus = Boolean(active?.closest('.lane [role=option], #panel a, #list li li, #list a:not([data-place])')), field = active?.closest('#panel') ? active.name || active.type : null;
	if (key !== drawn) {
		drawLanes(pkg, about, stage, state);
		drawn = key;
	}
	const shown = { state, stage, channel: state.channel, bundle: state.bundle };
	const found = answer(pkg, index, shown);
	const panel = [state.bundle ? make('section', { class: 'version' }, make('button', { type: 'button', class: 'small close', 'aria-label': 'Close', click: () => go({ ...state, bundle: '' }) }, '×'), detailsOf(pkg, index, shown), pathButtons(shown)) : null,
		make('section', {}, pathForm(pkg, index, shown), found ? answerText(pkg, index, found) : null)];
	byId('panel').hidden = false;
	byId('panel').replaceChildren(...panel.filter(Boolean));
	if (field) byId('panel').querySelector(`[name="${field}"], [type="${field}"]`)?.focus();
	mark(pkg, stage, state, found, hadFocus);
	if (found) say(byId('panel').querySelector('.answer p, p.answer')?.textContent ?? '');
	else if (state.bundle) say(`${named(state.bundle)} is selected.`);
}

// pathButtons set the ends of a path. It begins on the platform on which a person chose its first version.
const pathButtons = ({ state, stage }) => make('p', {}, ['from', 'to'].map((end) => make('button', { type: 'button', class: 'small', click: () => go({ ...state, [end]: state.bundle, ...(end === 'from' ? { start: index.platforms[stage] } : {}) }) }, `Path ${end} here`)));

// stageOf returns the platform to show: the requested one, the one on which the requested path begins, the highest
// that has the selected version, or the highest that has the package.
function stageOf(pkg, state) {
	for (const asked of [state.on, state.start].map((name) => index.platforms.indexOf(name))) if (asked >= 0) return asked;
	const b = pkg.byName.get(state.bundle);
	for (const side of ['after', 'before']) {
		const holds = pkg.stages.findLastIndex((_, stage) => viewOf(pkg, stage, side)?.lanes.some((l) => l.at.has(b) && !(l.nodes[l.at.get(b)].f & OUTSIDE)));
		if (holds >= 0) return holds;
	}
	const has = pkg.stages.findLastIndex((s) => s.after >= 0);
	return has >= 0 ? has : pkg.stages.findLastIndex((s) => s.before >= 0);
}

// unfoldFor chooses a lane for the selected version, and unfolds it if the version would be hidden.
function unfoldFor(pkg, stage, state) {
	const b = pkg.byName.get(state.bundle);
	const lanes = viewOf(pkg, stage)?.lanes ?? viewOf(pkg, stage, 'before')?.lanes ?? [];
	const has = lanes.filter((l) => l.at.has(b) && !(l.nodes[l.at.get(b)].f & OUTSIDE));
	const lane = has.find((l) => l.name === state.channel) ?? has.find((l) => l.default) ?? has[0];
	if (!lane) return;
	state.channel = lane.name;
	if (lane.whole && !state.open.includes(lane.name) && !lane.folded.c.some(([first, folded]) => folded === 0 && lane.nodes[first].b === b)) state.open = [...state.open, lane.name];
}

function drawLanes(pkg, about, stage, state) {
	const after = viewOf(pkg, stage), before = viewOf(pkg, stage, 'before');
	const both = state.view === 'both' && index.compares.includes(true);
	const found = pkg.findings.filter((f) => f.stage === stage);
	const shown = {
		open: state.open,
		findings: (channel, bundle) => found.filter((f) => concerns(f, bundle) && (!f.channel || f.channel === channel)),
		choose: (lane, bundle) => go({ ...readAddress(), pkg: pkg.name, channel: lane.name, bundle }),
		unfold: (lane, open, bundle) => {
			const now = readAddress();
			pending = { lane: lane.name, bundle: bundle ?? null };
			go({ ...now, pkg: pkg.name, bundle: open ? now.bundle : '', channel: lane.name, open: open ? [...now.open.filter((n) => n !== lane.name), lane.name] : now.open.filter((n) => n !== lane.name) });
		},
	};
	const sides = both ? [['Before', before], ['After', after]] : [[null, after ?? before]];
	const order = both ? [...new Set(inOrder([...(after?.lanes ?? []), ...(before?.lanes ?? [])]).map((l) => l.name))] : null;
	const side = ([title, view]) => {
		let lanes = view ? lanesOf(pkg, view, shown) : [];
		if (order && (title === 'After' || index.compares[stage])) lanes = order.map((name) => lanes.find((l) => l.lane.name === name) ?? make('section', { class: 'lane none' }, make('header', {}, make('h3', {}, named(name))), make('p', {}, 'not in this catalog')));
		return make('section', { class: 'side', 'aria-label': title ?? 'Channels' }, title ? make('h3', { class: 'sidetitle' }, title) : null,
			lanes.length ? lanes : make('p', { class: 'none' }, title === 'Before' && !index.compares[stage] ? 'This platform is not compared with another catalog.' : 'This platform does not have the package.'));
	};
	const facts = [plural(about.channels.length, 'channel'), plural(about.versions, 'version'), about.deprecated ? 'deprecated' : null].filter(Boolean).join(', ');
	byId('main').replaceChildren(make('div', { class: 'bar' }, make('h2', {}, named(pkg.name), ' ', make('span', { class: 'facts' }, facts)), toolbar(pkg, stage, state, both)),
		make('div', { class: both ? 'sides both' : 'sides' }, sides.map(side)), ...[findingsOf(found, index, (f) => (pkg.byName.has(f.bundle) ? address({ ...state, channel: f.channel ?? '', bundle: f.bundle }) : null)), legend(index.compares.includes(true))].filter(Boolean));
	setZoom(zoom ?? fitting(LEAST));
	for (const scroller of document.querySelectorAll('.lane .scroller')) scroller.scrollLeft = scroller.scrollWidth; // scroll to the newest versions
}

let pending = null; // the lane that a person just folded or unfolded, and the version that they used for it

function toolbar(pkg, stage, state, both) {
	const pick = (name, label, all, value) => make('label', {}, label, make('select', { name, change: (e) => go({ ...readAddress(), pkg: pkg.name, [name]: e.target.value }) },
		all.map(([v, said]) => make('option', { value: v, selected: v === value }, said))));
	const button = (label, said, click) => make('button', { type: 'button', 'aria-label': label, title: label, click }, said);
	return make('div', { class: 'tools', role: 'toolbar', 'aria-label': 'View' },
		index.platforms.length > 1 ? pick('on', 'Platform', index.platforms.map((p) => [p, p]), index.platforms[stage]) : null,
		index.compares.includes(true) ? pick('view', 'Show', [['', 'after, with what changed'], ['both', 'before and after']], both ? 'both' : '') : null,
		button('Zoom out (-)', '−', () => setZoom(zoom / 1.2)), button('Zoom in (+)', '+', () => setZoom(zoom * 1.2)), button('Real size (0)', '1:1', () => setZoom(1)), button('Fit (f)', 'Fit', () => setZoom(fitting(0))));
}

function legend(compares) {
	const line = (kind, text) => make('li', {}, draw('svg', { class: 'graft', width: 40, height: 10, 'aria-hidden': 'true' }, draw('path', { class: `edge ${kind}`, d: 'M2 5H30', 'marker-end': `url(#graft-${kind.split(' ').pop()})` })), text);
	return make('ul', { class: 'legend', 'aria-label': 'Legend' }, line('replaces', 'replaces'), line('skips', 'skips'), line('range', 'skipRange'),
		compares ? [line('replaces added', 'new'), line('replaces gone', 'lost')] : null);
}

// mark highlights the selected version and the versions on the path.
function mark(pkg, stage, state, found, hadFocus) {
	const on = new Set((found?.steps ?? []).filter((s) => s.stage === stage).map((s) => JSON.stringify([s.channel, pkg.bundles[s.bundle].n])));
	let target = null;
	for (const g of document.querySelectorAll('.lane [role=option]')) {
		const selected = g.bundle !== null && g.bundle === state.bundle;
		const here = selected && g.lane.name === state.channel;
		g.setAttribute('aria-selected', String(here));
		g.classList.toggle('selected', here);
		g.classList.toggle('alike', selected && !here);
		g.classList.toggle('onpath', on.has(JSON.stringify([g.lane.name, g.bundle])));
		if (here || (!target && pending?.bundle && g.bundle === pending.bundle && g.lane.name === pending.lane)) target = g;
	}
	const lane = pending && [...document.querySelectorAll('.lane')].find((l) => l.lane?.name === pending.lane);
	if (pending && !pending.bundle) lane?.querySelector('header button')?.focus();
	else if (target) {
		if (hadFocus || pending) focusOn(target);
		target.scrollIntoView({ block: 'nearest', inline: 'center' });
	} else if (state.channel && !state.bundle) {
		[...document.querySelectorAll('.lane')].find((l) => l.lane?.name === state.channel)?.scrollIntoView({ block: 'nearest' });
	}
	pending = null;
}

// keys handles the keys of the whole page. A field keeps the keys typed into it.
function keys(e) {
	const typing = e.target.closest?.('input, select, textarea'), search = byId('search');
	if (e.ctrlKey || e.metaKey || e.altKey) return;
	const option = e.target.closest?.('[role=option]');
	if (e.key === 'Escape') {
		if (typing === search) { search.value = ''; searched(); search.blur(); } else if (typing) typing.blur();
		else if (readAddress().bundle) go({ ...readAddress(), bundle: '' });
	} else if (typing === search && (e.key === 'ArrowDown' || e.key === 'Enter')) byId('list').querySelector('a')?.[e.key === 'Enter' ? 'click' : 'focus']();
	else if (typing) return;
	else if (e.key === '/') search.focus();
	else if (option && (e.key === 'Enter' || e.key === ' ')) option.choose();
	else if (option && /^(Arrow|Home$|End$)/.test(e.key)) move(option, e.key);
	else if (e.target.closest?.('#list') && (e.key === 'ArrowDown' || e.key === 'ArrowUp')) step(e.target, e.key === 'ArrowDown' ? 1 : -1);
	else if (e.key === '+' || e.key === '=') setZoom(zoom * 1.2);
	else if (e.key === '-') setZoom(zoom / 1.2);
	else if (e.key === '0') setZoom(1);
	else if (e.key === 'f') setZoom(fitting(0));
	else return;
	e.preventDefault();
}

// step moves the keyboard focus through the list. The search field comes before the first link.
function step(link, by) {
	const links = [...byId('list').querySelectorAll('a')], i = links.indexOf(link) + by;
	if (i < 0) byId('search').focus();
	else links[i]?.focus();
}

function searched() {
	const found = showList(index, byId('search').value);
	markList(index.packages.findIndex((p) => p.name === readAddress().pkg));
	say(`${plural(found.packages.length, 'package')}, ${plural(found.bundles.length + found.more, 'version')}`);
}

// listen reloads the page when its server has another version, and shows the fault if the server cannot build
// one.
function listen(version) {
	const source = new EventSource('events'), trouble = byId('trouble');
	const tell = (text) => { trouble.textContent = text.split('\n').map(clean).join('\n'); trouble.hidden = !text; };
	source.onmessage = (e) => {
		const news = JSON.parse(e.data);
		if (news.version !== version) location.reload();
		tell(news.trouble && `Graft cannot read the catalogs. The page shows their last state.\n${news.trouble}`);
	};
	source.onerror = () => tell('The server has ended, or the browser cannot reach it. The page shows the last state of the catalogs.');
}

async function begin() {
	index = await unpack('index');
	byId('title').textContent = clean(index.title);
	showList(index, '');
	document.addEventListener('keydown', keys);
	byId('search').addEventListener('input', searched);
	window.addEventListener('hashchange', show);
	window.addEventListener('resize', level);
	await show();
	if (document.body.dataset.version) listen(document.body.dataset.version);
	performance.mark('shown');
}
begin();
