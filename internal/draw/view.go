package draw

import (
	"fmt"
	"math"
	"slices"
)

// lane is a channel as a picture shows it: what there is no room for is folded, and
// of the edges those are left out that say nothing new.
type lane struct {
	*Channel
	cells []cell
	links []Edge // between cells
	count int    // of the channel's entries
}

// cell is one place in a lane: a bundle, or several folded into one.
type cell struct {
	Node
	first  int // the node, or the first of those that are folded
	folded int
	text   string
}

// A lane with room for this many cells has one bundle, and the rest folded to its
// sides, whatever the channel holds.
const leastRoom = 3

const (
	maxFocus   = 8 // bundles that are kept because they changed
	anyRoom    = math.MaxInt
	neverShown = math.MaxInt // the distance of what the focus has no way to
)

// lane gives the channel as it is drawn in the given room: with the radius of the
// options, or the largest below it that leaves no more cells than there is room for.
// Heads and what has changed are shown even so, but for the least room.
func (ch *Channel) lane(o Options, room int) lane {
	v := newView(ch)
	if len(v.nodes) == 0 {
		return v.build(nil, true)
	}
	if room <= leastRoom {
		focus := v.focus(o)[0]
		return v.build(func(p int) bool { return p == focus }, false)
	}
	fold := v.folder(o)
	if o.Radius > 0 && room == anyRoom {
		return fold(o.Radius)
	}
	if whole := fold(All); o.Radius <= 0 && len(whole.cells) <= room {
		return whole
	}
	best := fold(0)
	for radius := 1; radius <= room && (o.Radius <= 0 || radius <= o.Radius); radius++ {
		more := fold(radius)
		if len(more.cells) > room {
			break
		}
		best = more
	}
	return best
}

// view is a channel on its way to a lane.
type view struct {
	*Channel
	nodes []int // those that are drawn, in order
	place []int // of each node in nodes, -1 where it is not drawn
	edges []Edge
}

// newView leaves out the edges of ranges by which nobody is upgraded, because a
// higher entry takes the same bundle or the same entry takes it by name, and then
// the bundles outside of the channel that only such a range knows.
func newView(ch *Channel) *view {
	v := &view{Channel: ch, place: make([]int, len(ch.Nodes))}
	type pair struct{ from, to int }
	best, named := make([]int, len(ch.Nodes)), map[pair]bool{}
	for _, e := range ch.Edges {
		if !e.Lost {
			best[e.From] = max(best[e.From], e.To)
		}
		if e.Kind != SkipRange {
			named[pair{e.From, e.To}] = true
		}
	}
	wanted := make([]bool, len(ch.Nodes))
	for _, e := range ch.Edges {
		says := e.To == best[e.From] || ch.Nodes[e.To].New && !ch.New
		if e.Kind == SkipRange && !e.Lost && (!says || named[pair{e.From, e.To}]) {
			continue
		}
		if e.From == e.To {
			continue
		}
		v.edges = append(v.edges, e)
		if e.Kind != SkipRange || e.Lost {
			wanted[e.From], wanted[e.To] = true, true
		}
	}
	for i, n := range ch.Nodes {
		v.place[i] = -1
		if wanted[i] || !n.Outside {
			v.place[i] = len(v.nodes)
			v.nodes = append(v.nodes, i)
		}
	}
	v.edges = slices.DeleteFunc(v.edges, func(e Edge) bool { return v.place[e.From] < 0 || v.place[e.To] < 0 })
	return v
}

// focus gives the nodes around which the channel is shown, as places, the newest
// first: never none where there are nodes.
func (v *view) focus(o Options) []int {
	if changed := v.changed(); len(changed) > 0 && !v.draws(o.Around) {
		return changed
	}
	var heads []int
	for p, i := range slices.Backward(v.nodes) {
		switch n := v.Nodes[i]; {
		case n.Name == o.Around && n.Name != "":
			return []int{p}
		case n.Head && len(heads) < maxFocus:
			heads = append(heads, p)
		}
	}
	if len(heads) == 0 {
		return []int{len(v.nodes) - 1}
	}
	return heads
}

func (v *view) draws(bundle string) bool {
	return bundle != "" && slices.ContainsFunc(v.nodes, func(i int) bool { return v.Nodes[i].Name == bundle })
}

// changed gives the places of what a reviewer looks for, the newest first. In a
// channel that is new as a whole nothing is newer than the rest.
func (v *view) changed() (places []int) {
	if v.New {
		return nil
	}
	marked := make([]bool, len(v.nodes))
	for _, e := range v.edges {
		if e.New || e.Lost {
			marked[v.place[e.To]] = true
		}
		if e.Lost {
			marked[v.place[e.From]] = true
		}
	}
	for p, i := range slices.Backward(v.nodes) {
		n := v.Nodes[i]
		if (marked[p] || n.New || n.Removed || n.Stranded) && len(places) < maxFocus {
			places = append(places, p)
		}
	}
	return places
}

// folder gives the function that makes the lane with a radius.
func (v *view) folder(o Options) func(radius int) lane {
	focus := v.focus(o)
	distance := v.distances(focus)
	always := append(v.changed(), focus...)
	for p, i := range slices.Backward(v.nodes) {
		if v.Nodes[i].Head && len(always) < 3*maxFocus {
			always = append(always, p)
		}
	}
	return func(radius int) lane {
		return v.build(func(p int) bool {
			return (radius == All || distance[p] <= radius) && !v.outside(p) || slices.Contains(always, p)
		}, true)
	}
}

// distances counts steps from the focus; a step leads to the next version, or over
// a replaces edge, and not through what is outside of the channel.
func (v *view) distances(focus []int) []int {
	next := make([][]int, len(v.nodes))
	join := func(a, b int) {
		next[a] = append(next[a], b)
		next[b] = append(next[b], a)
	}
	for p := 1; p < len(v.nodes); p++ {
		join(p-1, p)
	}
	for _, e := range v.edges {
		if e.Kind == Replaces {
			join(v.place[e.From], v.place[e.To])
		}
	}
	distance := make([]int, len(v.nodes))
	for p := range distance {
		distance[p] = neverShown
	}
	queue := slices.Clone(focus)
	for _, p := range focus {
		distance[p] = 0
	}
	for len(queue) > 0 {
		p := queue[0]
		queue = queue[1:]
		for _, q := range next[p] {
			if distance[q] == neverShown && !v.outside(q) {
				distance[q] = distance[p] + 1
				queue = append(queue, q)
			}
		}
	}
	return distance
}

// build folds each run of nodes that are not kept, unless it is a single one. What
// is outside of the channel is folded apart from what is in it, if that is asked.
func (v *view) build(kept func(place int) bool, apart bool) lane {
	l := lane{Channel: v.Channel}
	at := make([]int, len(v.nodes)) // the cell of each place
	firstKept, lastKept := len(v.nodes), -1
	for p, i := range v.nodes {
		if !v.Nodes[i].Outside && !v.Nodes[i].Removed {
			l.count++
		}
		if kept(p) {
			firstKept, lastKept = min(firstKept, p), p
		}
	}
	for p := 0; p < len(v.nodes); {
		end := p + 1
		for !kept(p) && end < len(v.nodes) && !kept(end) && (!apart || v.outside(end) == v.outside(p)) {
			end++
		}
		c := cell{Node: v.Nodes[v.nodes[p]], first: v.nodes[p]}
		if n := end - p; n > 1 {
			c = cell{first: v.nodes[p], folded: n, text: foldText(n, end <= firstKept, p > lastKept, apart && v.outside(p))}
		}
		for ; p < end; p++ {
			at[p] = len(l.cells)
		}
		l.cells = append(l.cells, c)
	}
	l.links = v.link(l.cells, at)
	return l
}

func (v *view) outside(place int) bool { return v.Nodes[v.nodes[place]].Outside }

func foldText(n int, older, newer, outside bool) string {
	switch {
	case outside:
		return fmt.Sprintf("… %d not in this channel", n)
	case older:
		return fmt.Sprintf("… %d older versions", n)
	case newer:
		return fmt.Sprintf("… %d newer versions", n)
	}
	return fmt.Sprintf("… %d versions", n)
}

// link gives the edges between cells, each once. Between what is folded only the
// chain is of interest, and a range that leads to it says nothing.
func (v *view) link(cells []cell, at []int) (links []Edge) {
	type key struct {
		from, to int
		kind     Kind
		lost     bool
	}
	seen := map[key]int{}
	for _, e := range v.edges {
		from, to := at[v.place[e.From]], at[v.place[e.To]]
		both := cells[from].folded > 0 && cells[to].folded > 0
		if from == to || both && e.Kind != Replaces || cells[to].folded > 0 && e.Kind == SkipRange {
			continue
		}
		k := key{from, to, e.Kind, e.Lost}
		if i, ok := seen[k]; ok {
			links[i].New = links[i].New && e.New
			continue
		}
		seen[k] = len(links)
		links = append(links, Edge{from, to, e.Kind, e.New, e.Lost})
	}
	return links
}
