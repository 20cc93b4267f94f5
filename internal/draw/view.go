package draw

import (
	"fmt"
	"math"
	"slices"
)

// lane is a channel as a picture shows it: folded to the available room, and without redundant edges.
type lane struct {
	*Channel
	cells []cell
	links []Edge // between cells
	count int    // number of the channel's entries
}

// cell is one place in a lane: a bundle, or several folded bundles.
type cell struct {
	Node
	first  int // index of the node, or of the first folded node
	folded int
	text   string
}

// A lane with this room shows one bundle with the rest folded on its sides, whatever the channel contains.
const leastRoom = 3

const (
	maxFocus   = 8 // bundles kept because they changed
	anyRoom    = math.MaxInt
	neverShown = math.MaxInt // distance of nodes that the focus cannot reach
)

// lane returns the channel as drawn in the given room: with the radius of the options, or the largest smaller
// radius for which the cells fit. Heads and changes are always shown, except with the least room.
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

// view is a channel being converted to a lane.
type view struct {
	*Channel
	nodes []int // drawn nodes, in order
	place []int // position of each node in nodes, or -1 if it is not drawn
	edges []Edge
}

// newView leaves out the edges of ranges that upgrade no bundle, because a higher entry takes the bundle or the
// same entry names it. It then leaves out bundles outside the channel that only such a range mentions.
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

// focus returns the positions of the nodes around which the channel is shown, newest first. It returns at least
// one if there are nodes.
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

// changed returns the positions that a reviewer looks for, newest first. It returns none for a new channel, in
// which everything is new.
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

// folder returns the function that builds the lane for a radius.
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

// distances counts steps from the focus. A step leads to the next version or over a replaces edge, but not
// through bundles outside the channel.
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

// build folds each run of at least two nodes that are not kept. With apart, it folds nodes outside the channel
// separately.
func (v *view) build(kept func(place int) bool, apart bool) lane {
	l := lane{Channel: v.Channel}
	at := make([]int, len(v.nodes)) // cell of each position
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

// link returns the edges between cells, each once. Between folded cells it returns only replaces edges, and it
// drops ranges that lead to a folded cell.
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
