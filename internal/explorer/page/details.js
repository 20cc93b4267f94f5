// The details of one version, and lists of findings.

// findingsOf lists findings, errors first. link returns the address of a finding's object, or null.
function findingsOf(found, index, link = () => null) {
	if (!found || found.length === 0) return null;
	const sorted = [...found].sort((a, b) => Number(a.level !== 'error') - Number(b.level !== 'error'));
	const items = sorted.map((f) => {
		const where = [index.platforms.length > 1 ? index.platforms[f.stage] : null, f.channel ? `channel ${f.channel}` : null, f.file ? `${f.file}${f.line ? `:${f.line}` : ''}` : null].filter(Boolean).join(', ');
		return make('li', { class: f.level }, make('strong', {}, `${f.level}: ${f.id}`), ' ', link(f) ? make('a', { href: link(f) }, f.message) : make('span', {}, f.message), where ? make('span', { class: 'where' }, where) : null, f.remedy ? make('span', { class: 'remedy' }, f.remedy) : null);
	});
	return make('details', { class: 'findings', open: found.length < 8 }, make('summary', {}, plural(found.length, 'finding')), make('ul', {}, items));
}

const concerns = (f, bundle) => f.bundle === bundle || (f.bundles ?? []).includes(bundle);

// detailsOf describes a version in a channel of a platform.
function detailsOf(pkg, index, shown) {
	const b = pkg.byName.get(shown.bundle), bundle = pkg.bundles[b];
	if (!bundle) return [make('h2', {}, named(shown.bundle)), make('p', {}, 'No catalog of this file has it.')];
	const view = viewOf(pkg, shown.stage) ?? viewOf(pkg, shown.stage, 'before');
	const lanes = (view?.lanes ?? []).filter((l) => l.at.has(b) && !(l.nodes[l.at.get(b)].f & OUTSIDE));
	const lane = view?.lanes.find((l) => l.name === shown.channel && l.at.has(b)) ?? lanes[0];
	const to = (name, more = {}) => make('a', { href: address({ ...shown.state, ...more, bundle: name }) }, short(pkg.bundles[pkg.byName.get(name)] ?? { n: name }));
	const rows = [];
	const row = (term, ...content) => rows.push(make('dt', {}, term), make('dd', {}, content));
	row('Bundle', make('code', {}, named(bundle.n)));
	if (bundle.v) row('Version', bundle.v);
	if (view?.images[b]) row('Image', make('code', {}, view.images[b]));
	if (lanes.length) row(lanes.length === 1 ? 'Channel' : 'Channels', listOf(lanes.map((l) => make('a', { href: address({ ...shown.state, channel: l.name }) }, named(l.name)))));
	if (lane) edgeRows(pkg, lane, b, row, to);
	if (index.platforms.length > 1) {
		const has = index.platforms.filter((_, i) => viewOf(pkg, i)?.lanes.some((l) => l.at.has(b) && !(l.nodes[l.at.get(b)].f & OUTSIDE)));
		row('Platforms', has.length ? has.join(', ') : 'none');
	}
	if (bundle.k) row('Keeps the cluster below', index.platforms[bundle.k[0]]);
	const marks = lane ? wordsOf(lane.nodes[lane.at.get(b)]).map((word) => make('span', { class: 'chip' }, word)) : [];
	return [make('h2', {}, short(bundle), ' ', marks), make('dl', {}, rows), findingsOf(pkg.findings.filter((f) => concerns(f, bundle.n)), index)];
}

// edgeRows lists which versions the entry succeeds in a channel, and which succeed it.
function edgeRows(pkg, lane, b, row, to) {
	const at = lane.at.get(b), node = lane.nodes[at];
	const name = (n) => pkg.bundles[lane.nodes[n].b].n;
	const mark = (flag) => (flag & 2 ? ' (lost)' : flag & 1 ? ' (new)' : '');
	const inChannel = { channel: lane.name };
	kinds.forEach((kind, k) => {
		const ends = lane.edges.filter((e) => e[1] === at && e[2] === k);
		if (ends.length) row(kind, manyOf(ends.map((e) => make('span', {}, to(name(e[0]), inChannel), mark(e[3])))));
	});
	if (node.r) row('skipRange', make('code', {}, node.r));
	const up = lane.edges.filter((e) => e[0] === at);
	if (up.length) row('Named by', manyOf(up.map((e) => make('span', {}, to(name(e[1]), inChannel), ` ${kinds[e[2]]} it${mark(e[3])}`))));
	if (!lane.olm) return;
	const nexts = [0, 1].map((olm) => nextOf(lane, olm, b));
	const said = (n) => (n === undefined ? 'none' : to(pkg.bundles[n].n, inChannel));
	if (nexts[0] === nexts[1]) row('Next upgrade', said(nexts[0]));
	else row('Next upgrade', 'OLM v0: ', said(nexts[0]), '; OLM v1: ', said(nexts[1]));
}

const listOf = (items) => items.flatMap((item, i) => (i ? [', ', item] : [item]));

// manyOf folds a long list.
function manyOf(items) {
	if (items.length <= 12) return listOf(items);
	return make('details', {}, make('summary', {}, plural(items.length, 'version')), listOf(items));
}
