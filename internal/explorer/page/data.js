// Reading the page's data and writing text. Everything from catalogs is untrusted: it becomes text or the value
// of an attribute, never markup.

// The bits of a node's flags, in the order of flagsOf in data.go.
const HEAD = 1, SKIPPED = 2, DEPRECATED = 4, OUTSIDE = 8, MISSING = 16, NEW = 32, REMOVED = 64, STRANDED = 128;
const words = [[NEW, 'new'], [HEAD, 'head'], [REMOVED, 'removed'], [STRANDED, 'stranded'], [DEPRECATED, 'deprecated'], [MISSING, 'no bundle'],
	[SKIPPED, 'skipped'], [OUTSIDE, 'not in this channel']];
const kinds = ['replaces', 'skips'];

const byId = (id) => document.getElementById(id);

// unpack reads a block of the page: gzipped JSON in Base64.
async function unpack(id) {
	const bytes = Uint8Array.from(atob(byId(id).textContent), (c) => c.charCodeAt(0));
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
	return new Response(stream).json();
}

// clean replaces characters that would break a line or change how the surrounding text reads.
const clean = (text) => String(text).replace(/\s/gu, ' ').replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\ufffd');
const named = (text) => (clean(text).trim() === '' ? '(no name)' : clean(text));
const plural = (n, word) => `${n} ${word}${n === 1 ? '' : 's'}`;

// make returns an element with attributes, listeners (functions) and children (elements or text).
function make(tag, attributes = {}, ...children) {
	return fill(document.createElement(tag), attributes, children);
}

const SVG = 'http://www.w3.org/2000/svg';
function draw(tag, attributes = {}, ...children) {
	return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
	for (const [name, value] of Object.entries(attributes)) {
		if (typeof value === 'function') element.addEventListener(name, value);
		else if (value === true) element.setAttribute(name, '');
		else if (value !== false && value !== undefined && value !== null) element.setAttribute(name, value);
	}
	for (const child of children.flat(Infinity)) {
		if (child === null || child === undefined) continue;
		element.append(child instanceof Node ? child : document.createTextNode(clean(child)));
	}
	return element;
}

const packages = new Map(); // packages already read, by their index

// packageAt returns a package of the index. It computes the derived maps once.
async function packageAt(place) {
	if (!packages.has(place)) {
		const pkg = await unpack(`package-${place}`);
		pkg.byName = new Map(pkg.bundles.map((b, i) => [b.n, i]));
		for (const view of pkg.views) {
			for (const lane of view.lanes) lane.at = new Map(lane.nodes.map((n, i) => [n.b, i]));
		}
		packages.set(place, pkg);
	}
	return packages.get(place);
}

// viewOf returns the view of a package on a platform, after or before, or undefined.
const viewOf = (pkg, stage, side = 'after') => pkg.views[pkg.stages[stage][side]];

// short returns the name of a bundle for use where its package is clear.
const short = (bundle) => (bundle.v && (bundle.n.endsWith(`v${bundle.v}`) || bundle.n.endsWith(`.${bundle.v}`)) ? `v${bundle.v}` : named(bundle.n));

// wordsOf returns the words that describe a node.
const wordsOf = (node) => words.filter(([bit]) => (node.f & bit) && !(bit === OUTSIDE && node.f & REMOVED)).map(([, word]) => word);
