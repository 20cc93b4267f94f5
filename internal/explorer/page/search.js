// The list of packages, and the results of a search.

const MOST_VERSIONS = 60; // the most versions that a search lists

// find returns the packages whose name or channel contains all words of a search, and the bundles that do.
function find(index, text) {
	const wanted = text.toLowerCase().split(/\s+/).filter(Boolean);
	const has = (s) => wanted.every((word) => s.toLowerCase().includes(word));
	const found = { packages: [], bundles: [], more: 0 };
	index.packages.forEach((p, place) => {
		if (wanted.length === 0 || has(p.name)) {
			found.packages.push({ place, channels: [] });
		} else {
			const channels = p.channels.filter((c) => has(`${p.name} ${c}`));
			if (channels.length > 0) found.packages.push({ place, channels });
		}
		if (wanted.length === 0) return;
		for (const name of p.bundles) {
			if (!has(`${p.name} ${name}`) || has(p.name)) continue;
			if (found.bundles.length < MOST_VERSIONS) found.bundles.push({ place, name });
			else found.more++;
		}
	});
	return found;
}

const badge = (n, word) => (n ? make('span', { class: `mark ${word}`, title: plural(n, word) }, String(n), make('span', { class: 'unseen' }, ` ${n === 1 ? word : `${word}s`}`)) : null);

// marksOf returns the marks of a package.
const marksOf = (p) => [p.changed ? make('span', { class: 'mark changed' }, 'changed') : null, badge(p.errors, 'error'), badge(p.warnings, 'warning')];

// showList writes the list for a search.
function showList(index, text) {
	const found = find(index, text);
	const items = [];
	for (const { place, channels } of found.packages) {
		const p = index.packages[place];
		const link = make('a', { href: address({ pkg: p.name }), 'data-place': place }, make('span', { class: 'name' }, named(p.name)), marksOf(p));
		const below = channels.map((c) => make('li', {}, make('a', { href: address({ pkg: p.name, channel: c }) }, `channel ${named(c)}`)));
		items.push(make('li', {}, link, below.length ? make('ul', {}, below) : null));
	}
	for (const { place, name } of found.bundles) {
		const p = index.packages[place];
		const of = name.startsWith(p.name) ? null : make('span', { class: 'of' }, named(p.name));
		items.push(make('li', {}, make('a', { href: address({ pkg: p.name, bundle: name }) }, make('span', { class: 'name' }, named(name)), of)));
	}
	if (items.length === 0) items.push(make('li', { class: 'none' }, 'Nothing has this name.'));
	if (found.more) items.push(make('li', { class: 'none' }, `… and ${plural(found.more, 'version')} more`));
	byId('list').replaceChildren(make('ul', {}, items));
	return found;
}

// markList highlights the shown package.
function markList(place) {
	for (const link of byId('list').querySelectorAll('[data-place]')) {
		if (Number(link.dataset.place) !== place) link.removeAttribute('aria-current');
		else if (!link.hasAttribute('aria-current')) {
			link.setAttribute('aria-current', 'page');
			link.scrollIntoView({ block: 'nearest' });
		}
	}
}

// overview returns the table of all packages.
function overview(index) {
	const count = index.packages.reduce((n, p) => n + p.versions, 0);
	const facts = [plural(index.packages.length, 'package'), plural(count, 'version')];
	if (index.platforms.length > 1) facts.push(`platforms ${index.platforms.join(', ')}`);
	const rows = index.packages.map((p) => make('tr', { class: p.changed ? 'changed' : null },
		make('th', { scope: 'row' }, make('a', { href: address({ pkg: p.name }) }, named(p.name)), p.deprecated ? ' (deprecated)' : null),
		make('td', {}, clean(p.default)), make('td', {}, clean(p.head)),
		make('td', { class: 'number' }, String(p.channels.length)), make('td', { class: 'number' }, String(p.versions)), make('td', {}, marksOf(p))));
	const heads = ['Package', 'Default channel', 'Its head', 'Channels', 'Versions', 'Marks'];
	const table = make('table', {}, make('thead', {}, make('tr', {}, heads.map((h) => make('th', { scope: 'col' }, h)))), make('tbody', {}, rows));
	return [make('h2', {}, facts.join(', ')), findingsOf(index.findings, index), make('div', { class: 'wide' }, table)];
}
