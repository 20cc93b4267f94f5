// What the page reads, and how it writes text. All that comes from catalogs is untrusted:
// it becomes text or the value of an attribute that holds text, never markup.

// The bits of a node's flags, in the order of flagsOf in data.go.
const HEAD = 1, SKIPPED = 2, DEPRECATED = 4, OUTSIDE = 8, MISSING = 16, NEW = 32, REMOVED = 64, STRANDED = 128;
const words = [[NEW, 'new'], [HEAD, 'head'], [REMOVED, 'removed'], [STRANDED, 'stranded'], [DEPRECATED, 'deprecated'], [MISSING, 'no bundle'],
	[SKIPPED, 'skipped'], [OUTSIDE, 'not in this channel']];
const kinds = ['replaces', 'skips'];

const byId = (id) => document.getElementById(id);

// unpack reads a block of the page: JSON, compressed and in Base64.
async function unpack(id) {
	const bytes = Uint8Array.from(atob(byId(id).textContent), (c) => c.charCodeAt(0));
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
	return new Response(stream).json();
}

// clean replaces what has no place in a line, or would change how the text around it reads.
const clean = (text) => String(text).replace(/\s/gu, ' ').replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\ufffd');
const named = (text) => (clean(text).trim() === '' ? '(no name)' : clean(text));
const plural = (n, word) => `${n} ${word}${n === 1 ? '' : 's'}`;

// make gives an element with attributes, listeners (functions) and children (elements or text).
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

const packages = new Map(); // those that have been read, by their place in the index

// packageAt gives a package of the index with what is worked out of it once.
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

// viewOf gives what a platform has of a package, after or before, or undefined.
const viewOf = (pkg, stage, side = 'after') => pkg.views[pkg.stages[stage][side]];

// short is what a bundle is called where its package is known.
const short = (bundle) => (bundle.v && (bundle.n.endsWith(`v${bundle.v}`) || bundle.n.endsWith(`.${bundle.v}`)) ? `v${bundle.v}` : named(bundle.n));

// wordsOf are the words that hold for a node.
const wordsOf = (node) => words.filter(([bit]) => (node.f & bit) && !(bit === OUTSIDE && node.f & REMOVED)).map(([, word]) => word);
