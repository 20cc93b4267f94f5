// The form for a path, and its answer. A path begins on the shown platform unless the address names another.

function pathForm(pkg, index, shown) {
	const state = { ...shown.state, start: shown.state.start ?? index.platforms[shown.stage] };
	const options = pkg.bundles.map((b) => make('option', { value: b.n }));
	const text = (name, label) => make('label', {}, label, make('input', { name, list: 'bundles', value: state[name] ?? '', autocomplete: 'off', spellcheck: 'false' }));
	const choice = (name, label, all) => make('label', {}, label, make('select', { name }, all.map(([value, said]) => make('option', { value, selected: (state[name] ?? '') === value }, said))));
	const channels = [...new Set(pkg.views.flatMap((v) => v.lanes.filter((l) => l.olm).map((l) => l.name)))];
	const several = index.platforms.length > 1;
	const form = make('form', { class: 'path', 'aria-label': 'Path between versions' }, make('datalist', { id: 'bundles' }, options),
		text('from', 'From'), text('to', 'To'),
		several ? choice('start', 'On', index.platforms.map((p) => [p, p])) : null,
		several ? choice('end', 'Ending on', [['', 'any'], ...index.platforms.map((p) => [p, p])]) : null,
		choice('follow', 'Channel', [['', 'any that has it'], ...channels.map((c) => [c, named(c)])]),
		choice('olm', 'Rules', [['', 'OLM v0'], ['v1', 'OLM v1']]),
		make('button', { type: 'submit' }, 'Find path'));
	form.addEventListener('submit', (e) => {
		e.preventDefault();
		go({ ...readAddress(), ...Object.fromEntries(new FormData(form)) });
	});
	const roomy = state.from || state.to || window.matchMedia('(min-width: 1001px)').matches;
	return make('details', { open: roomy }, make('summary', {}, make('h2', {}, 'Path between versions')), form);
}

// answer searches the path that a state requests. It returns null if the state requests none.
function answer(pkg, index, { state, stage }) {
	if (!state.from || !state.to) return null;
	const place = (name, otherwise) => { const i = index.platforms.indexOf(name); return i < 0 ? otherwise : i; };
	const first = place(state.start, stage), last = place(state.end, index.platforms.length - 1);
	const asked = { from: state.from, to: state.to, channel: state.follow || null, olm: state.olm === 'v1' ? 1 : 0, first, last, anywhere: !index.platforms.includes(state.end) };
	const missing = (name) => (pkg.byName.has(name) ? null : `No catalog of this file has version ${named(name)}.`);
	if (missing(state.to)) return { asked, trouble: missing(state.to) };
	if (missing(state.from)) return { asked, trouble: `${missing(state.from)} If it is installed, run graft path: it also follows skipRanges from versions that no catalog has.` };
	if (first > last) return { asked, trouble: 'The path would end on a lower platform than it begins on.' };
	return { asked, ...findPath(pkg, asked) };
}

// answerText shows the answer.
function answerText(pkg, index, found) {
	const name = (at) => short(pkg.bundles[at.bundle]);
	const on = (at) => (index.platforms.length > 1 ? ` on ${index.platforms[at.stage]}` : '');
	if (found.trouble) return make('p', { class: 'answer' }, found.trouble);
	if (!found.steps) {
		const end = found.furthest ? ` The upgrades end at ${name(found.furthest)}${on(found.furthest)}, channel ${named(found.furthest.channel)}.` : '';
		return make('p', { class: 'answer' }, `There is no path.${end} graft path says why, and which edge would give one.`);
	}
	const count = (kind) => found.steps.filter((s) => s.kind === kind).length;
	const items = found.steps.map((s, i) => {
		const link = make('a', { href: address({ ...readAddress(), on: index.platforms[s.stage], channel: s.channel, bundle: pkg.bundles[s.bundle].n }) }, name(s));
		if (i === 0) return make('li', {}, link, `${on(s)}, channel ${named(s.channel)}`);
		if (s.kind === 'cluster') return make('li', {}, `upgrade the cluster to ${index.platforms[s.stage]}`);
		if (s.kind === 'channel') return make('li', {}, `follow channel ${named(s.channel)}`);
		return make('li', {}, 'upgrade to ', link, s.deprecated ? ', which is deprecated' : '', s.pinned ? ', by its version: OLM v1 would choose another' : '');
	});
	const sum = [plural(count('upgrade'), 'bundle upgrade'), plural(count('channel'), 'channel change')];
	if (index.platforms.length > 1) sum.push(plural(count('cluster'), 'cluster upgrade'));
	return make('div', { class: 'answer' }, make('ol', {}, items), make('p', {}, sum.join(', ')));
}
