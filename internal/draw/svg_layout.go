package draw

import (
	"cmp"
	"slices"
)

// Measures of a drawing, in pixels.
const (
	margin       = 16 // around the drawing and inside lanes
	laneHeader   = 32
	laneGap      = 10
	pillHeight   = 28
	pillPadding  = 12
	columnGap    = 34
	badgeHeight  = 14
	rowGap       = 16
	trackPitch   = 9
	gutterMargin = 11 // above the first track and below the last
	portPitch    = 9
)

// swimlane is a lane with everything in place. Each cell has its own column. The first row contains the chain of
// replaces that leads to the head, and other cells that fit. Below it are a gutter with the rails, and then the
// other rows.
type swimlane struct {
	lane
	columns  []column
	col, row []int // by cell
	rows     int
	wires    []Edge // each along the row of its end
	rails    []rail
	tracks   int
	badges   []bool // whether a row has badges
}

// rail collects the edges of one kind that lead to the same bundle.
type rail struct {
	Edge         // From is the first source
	sources      []int
	left, right  int // columns
	track, inlet int
}

// alignColumns assigns a column to each cell: after the previous cell of its lane, and the same column in all
// lanes for a bundle in several of them, for comparison. It returns false if the lanes order bundles differently,
// as they may if versions are unknown.
func alignColumns(lanes []*swimlane) bool {
	ids, next := map[string]int{}, [][]int{}
	cells := make([][]int, len(lanes)) // id of each cell
	for i, l := range lanes {
		for _, c := range l.cells {
			id, known := ids[c.Name]
			if !known || c.folded > 0 {
				id = len(next)
				next = append(next, nil)
				if c.folded == 0 {
					ids[c.Name] = id
				}
			}
			if n := len(cells[i]); n > 0 {
				next[cells[i][n-1]] = append(next[cells[i][n-1]], id)
			}
			cells[i] = append(cells[i], id)
		}
	}
	column, ok := longest(next)
	for i, l := range lanes {
		l.col = nil
		for _, id := range cells[i] {
			l.col = append(l.col, column[id])
		}
	}
	return ok
}

// longest returns the length of the longest path to each node. ok is false if there is a cycle.
func longest(next [][]int) (length []int, ok bool) {
	length, before := make([]int, len(next)), make([]int, len(next))
	for _, ids := range next {
		for _, id := range ids {
			before[id]++
		}
	}
	var ready []int
	for id, n := range before {
		if n == 0 {
			ready = append(ready, id)
		}
	}
	done := 0
	for ; done < len(ready); done++ {
		for _, id := range next[ready[done]] {
			length[id] = max(length[id], length[ready[done]]+1)
			if before[id]--; before[id] == 0 {
				ready = append(ready, id)
			}
		}
	}
	return length, done == len(next)
}

// column is the place of a column.
type column struct{ x, width int }

// placeColumns places the columns that the lanes share next to each other.
func placeColumns(lanes ...*swimlane) {
	var columns []column
	for _, l := range lanes {
		for i := range l.cells {
			for len(columns) <= l.col[i] {
				columns = append(columns, column{})
			}
			columns[l.col[i]].width = max(columns[l.col[i]].width, l.cells[i].space())
		}
	}
	x := 2*margin + 2
	for i := range columns {
		columns[i].x = x
		x += columns[i].width + columnGap
	}
	for _, l := range lanes {
		l.columns = columns
		l.arrange()
	}
}

// end returns the right end of the lane's last column.
func (l *swimlane) end() int {
	if n := len(l.col); n > 0 {
		return l.columns[l.col[n-1]].end()
	}
	return 0
}

func (c column) center() int { return c.x + c.width/2 }
func (c column) end() int    { return c.x + c.width }

// arrange assigns a row to each cell and a path to each edge.
func (l *swimlane) arrange() {
	l.row = make([]int, len(l.cells))
	from := l.predecessors()
	var taken occupancy
	placed := make([]bool, len(l.cells))
	for _, c := range l.chain(from) {
		placed[c] = true
		taken.take(0, l.span(from[c], c))
	}
	for c := range l.cells {
		if placed[c] {
			continue
		}
		way := l.span(from[c], c)
		row := taken.first(way)
		if p := from[c]; p >= 0 && taken.free(l.row[p], way) {
			row = l.row[p]
		} else if row > maxRows {
			way = l.span(-1, c)
			row = taken.first(way)
		}
		l.row[c] = row
		taken.take(row, way)
	}
	l.rows = max(1, len(taken))
	l.badges = make([]bool, l.rows)
	for c := range l.cells {
		l.badges[l.row[c]] = l.badges[l.row[c]] || l.cells[c].badge() != ""
	}
	l.route(from, taken)
}

// maxRows is the number of rows from which an edge becomes a rail instead of taking a new row.
const maxRows = 6

// predecessors returns for each cell the nearest one that it replaces, or -1.
func (l *swimlane) predecessors() []int {
	from := make([]int, len(l.cells))
	for c := range from {
		from[c] = -1
	}
	for _, e := range l.links {
		if e.Kind == Replaces && !e.Lost && e.From < e.To {
			from[e.To] = max(from[e.To], e.From)
		}
	}
	return from
}

// chain returns the cells on the path to the head, from the head down.
func (l *swimlane) chain(from []int) (chain []int) {
	c := len(l.cells) - 1
	for i, cell := range l.cells {
		if cell.Head {
			c = i
		}
	}
	for ; c >= 0; c = from[c] {
		chain = append(chain, c)
	}
	return chain
}

// span is the part of a row that a cell and the wire to it take, in half columns.
type span struct{ from, to int }

func (l *swimlane) span(from, c int) span {
	if from < 0 {
		return span{2 * l.col[c], 2 * l.col[c]}
	}
	return span{2*l.col[from] + 1, 2 * l.col[c]}
}

// occupancy holds the taken spans of each row.
type occupancy [][]span

func (o *occupancy) take(row int, s span) {
	for len(*o) <= row {
		*o = append(*o, nil)
	}
	(*o)[row] = append((*o)[row], s)
}

func (o occupancy) free(row int, s span) bool {
	return row >= len(o) || !slices.ContainsFunc(o[row], func(t span) bool { return s.from <= t.to && t.from <= s.to })
}

func (o occupancy) first(s span) (row int) {
	for !o.free(row, s) {
		row++
	}
	return row
}

// route makes wires of edges that have space in a row, and rails of all others.
func (l *swimlane) route(from []int, taken occupancy) {
	type key struct {
		to        int
		kind      Kind
		new, lost bool
	}
	rails := map[key]int{}
	for _, e := range l.links {
		if e.Kind == Replaces && !e.Lost && from[e.To] == e.From && slices.Contains(taken[l.row[e.To]], l.span(e.From, e.To)) {
			l.wires = append(l.wires, e)
			continue
		}
		k := key{e.To, e.Kind, e.New, e.Lost}
		i, known := rails[k]
		if !known {
			i = len(l.rails)
			rails[k] = i
			l.rails = append(l.rails, rail{Edge: e, left: l.col[e.To], right: l.col[e.To]})
		}
		r := &l.rails[i]
		r.sources = append(r.sources, e.From)
		r.left, r.right = min(r.left, l.col[e.From]), max(r.right, l.col[e.From])
	}
	l.layTracks()
}

// layTracks assigns each rail a free track, with short rails nearest to the first row, and an inlet of its own at
// its end.
func (l *swimlane) layTracks() {
	slices.SortStableFunc(l.rails, func(a, b rail) int {
		return cmp.Or(cmp.Compare(a.right-a.left, b.right-b.left), cmp.Compare(a.To, b.To), cmp.Compare(a.Kind, b.Kind))
	})
	var taken occupancy
	inlets := map[int]int{}
	for i := range l.rails {
		r := &l.rails[i]
		slices.Sort(r.sources)
		r.From = r.sources[0]
		way := span{2 * r.left, 2 * r.right}
		if l.col[r.To] == r.right { // leaves on the right of the sources, enters on the left of the end
			way = span{way.from + 1, way.to - 1}
		}
		r.track = taken.first(way)
		taken.take(r.track, way)
		r.inlet = inlets[r.To]
		inlets[r.To]++
	}
	l.tracks = len(taken)
}
