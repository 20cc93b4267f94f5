// The search for a path: the same as FindPath of package graph, on the tables in the file. A test compares both.

// A queue that returns the cheapest item first, and the earliest of equally cheap ones.
class Queue {
	#all = [];
	get size() { return this.#all.length; }
	static #before(a, b) { return (compareCosts(a.cost, b.cost) || a.sequence - b.sequence) < 0; }
	push(item) {
		const all = this.#all;
		let i = all.push(item) - 1;
		for (let up = (i - 1) >> 1; i > 0 && Queue.#before(item, all[up]); i = up, up = (i - 1) >> 1) all[i] = all[up];
		all[i] = item;
	}
	pop() {
		const all = this.#all, first = all[0], last = all.pop();
		if (all.length === 0) return first;
		let i = 0;
		for (let down = 1; down < all.length; down = 2 * i + 1) {
			if (down + 1 < all.length && Queue.#before(all[down + 1], all[down])) down++;
			if (!Queue.#before(all[down], last)) break;
			all[i] = all[down];
			i = down;
		}
		all[i] = last;
		return first;
	}
}

// Costs in order of weight: deprecated bundles, bundle upgrades, channel changes, cluster upgrades, versions that
// must be requested explicitly, and how late bundles are upgraded.
function compareCosts(a, b) {
	for (let i = 0; i < a.length; i++) {
		if (a[i] !== b[i]) return a[i] - b[i];
	}
	return 0;
}
const plus = (a, b) => a.map((n, i) => n + b[i]);

// offersOf returns the upgrades that a lane offers for each bundle, in OLM's order.
function offersOf(lane, olm) {
	lane.offers ??= [];
	if (lane.offers[olm] || !lane.olm) return lane.offers[olm] ?? new Map();
	const offers = new Map();
	for (const [to, deprecated, ...stretches] of lane.olm[olm].o) {
		for (let i = 0; i < stretches.length; i += 2) {
			for (let from = stretches[i]; from < stretches[i] + stretches[i + 1]; from++) {
				if (!offers.has(from)) offers.set(from, []);
				offers.get(from).push({ to, deprecated: deprecated === 1 });
			}
		}
	}
	const unlike = new Map(lane.olm[olm].u ?? []);
	for (const [from, all] of offers) {
		const own = unlike.get(from) ?? all[0].to;
		for (const o of all) o.pinned = o.to !== own;
	}
	lane.offers[olm] = offers;
	return offers;
}

// nextOf returns the upgrade that OLM chooses by itself for a bundle, or undefined.
const nextOf = (lane, olm, bundle) => (offersOf(lane, olm).get(bundle) ?? []).find((o) => !o.pinned)?.to;

// findPath searches the path from one bundle to another. asked contains from and to; channel, if the path must
// begin there; olm, 0 or 1; first and last, indexes of platforms; and anywhere, whether the path may end before
// the last platform. It returns the steps, or the furthest place reached.
function findPath(pkg, asked) {
	const views = pkg.stages.map((_, i) => (i < asked.first || i > asked.last ? undefined : viewOf(pkg, i)));
	const from = pkg.byName.get(asked.from) ?? -1, to = pkg.byName.get(asked.to) ?? -1;
	const lanes = views.map((v) => new Map((v?.lanes ?? []).map((l) => [l.name, l])));
	const reached = new Map(), done = new Set(), queue = new Queue();
	const keyOf = (at) => `${at.stage}/${at.bundle}/${at.channel}`;
	let sequence = 0;
	const reach = (at, cost, before, step) => {
		const key = keyOf(at), known = reached.get(key);
		if (known && compareCosts(known.cost, cost) <= 0) return;
		reached.set(key, { at, cost, before, step });
		queue.push({ key, cost, sequence: ++sequence });
	};
	for (const channel of startsOf(pkg, views, asked, from)) reach({ stage: asked.first, channel, bundle: from }, [0, 0, 0, 0, 0, 0], null, null);
	while (queue.size > 0) {
		const { key } = queue.pop();
		if (done.has(key)) continue;
		done.add(key);
		const { at, cost } = reached.get(key);
		if (at.bundle === to && (asked.anywhere || at.stage === asked.last)) return { steps: stepsTo(reached, key) };
		const lane = lanes[at.stage].get(at.channel);
		for (const o of lane ? offersOf(lane, asked.olm).get(at.bundle) ?? [] : []) {
			const late = at.stage - asked.first;
			reach({ ...at, bundle: o.to }, plus(cost, [Number(o.deprecated), 1, 0, 0, Number(o.pinned), late]), key, { kind: 'upgrade', deprecated: o.deprecated, pinned: o.pinned });
		}
		for (const channel of lanes[at.stage].keys()) {
			if (channel !== at.channel) reach({ ...at, channel }, plus(cost, [0, 0, 1, 0, 0, 0]), key, { kind: 'channel' });
		}
		if (at.stage < asked.last && !(pkg.bundles[at.bundle]?.k ?? []).includes(at.stage + 1)) {
			reach({ ...at, stage: at.stage + 1 }, plus(cost, [0, 0, 0, 1, 0, 0]), key, { kind: 'cluster' });
		}
	}
	return { furthest: furthestOf(reached) };
}

// startsOf returns the channels to start in: the requested one, or those that have the bundle, the default
// channel first. If no channel has it, it returns all channels.
function startsOf(pkg, views, asked, from) {
	if (asked.channel) return [asked.channel];
	const here = [], elsewhere = [];
	views.forEach((view, stage) => {
		const lanes = [...(view?.lanes ?? [])].sort((a, b) => Number(b.default ?? false) - Number(a.default ?? false));
		for (const lane of lanes) {
			const node = lane.nodes[lane.at.get(from)];
			if (stage === asked.first && node && !(node.f & OUTSIDE)) here.push(lane.name);
			if (!elsewhere.includes(lane.name)) elsewhere.push(lane.name);
		}
	});
	return here.length > 0 ? here : elsewhere;
}

function stepsTo(reached, key) {
	const steps = [];
	for (; key !== null; key = reached.get(key).before) {
		const { at, step } = reached.get(key);
		steps.unshift({ ...at, ...step });
	}
	return steps;
}

// furthestOf returns the place of the highest bundle reached. Bundles are sorted.
function furthestOf(reached) {
	let best;
	for (const { at } of reached.values()) {
		if (!best || at.bundle > best.bundle || (at.bundle === best.bundle && at.stage > best.stage)) best = at;
	}
	return best;
}
