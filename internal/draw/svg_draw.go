package draw

import (
	"fmt"
	"strings"
)

// drawing is a swimlane in place, while it is written.
type drawing struct {
	*swimlane
	*strings.Builder
	y       int
	outlets map[[2]int]int // by bundle and style, in order of use
	used    map[int]int
	lines   []Line
}

func (l *swimlane) write(b *strings.Builder, y, width int) {
	d := newDrawing(l, y)
	d.Builder = b
	fmt.Fprintf(b, `<rect class="lane" x="%d" y="%d" width="%d" height="%d" rx="8"/>`+"\n", margin, y, width-2*margin, l.height())
	d.header(width)
	for _, line := range d.lines {
		line.write(b)
	}
	for i := range l.cells {
		d.cell(i)
	}
}

// newDrawing returns a drawing with the lines of the lane in place.
func newDrawing(l *swimlane, y int) *drawing {
	d := &drawing{swimlane: l, y: y, outlets: map[[2]int]int{}, used: map[int]int{}}
	for i := range l.rails {
		d.rail(&l.rails[i])
	}
	for _, e := range l.wires {
		d.wire(e)
	}
	return d
}

func (d *drawing) header(width int) {
	name := d.name()
	x := 2*margin + 2
	fmt.Fprintf(d, `<text class="channel" x="%d" y="%d">%s</text>`, x, d.y+20, xmlText(name))
	x += boldWidth(name, 13) + 10
	for _, chip := range d.marks() {
		w := chipWidth(chip)
		fmt.Fprintf(d, `<rect class="chip" x="%d" y="%d" width="%d" height="16" rx="8"/><text class="chiptext" x="%d" y="%d">%s</text>`,
			x, d.y+8, w, x+w/2, d.y+20, chip)
		x += w + 6
	}
	fmt.Fprintf(d, `<text class="count" x="%d" y="%d">%s</text>`+"\n", width-2*margin-2, d.y+20, plural(d.count, "version"))
}

// box returns the place of a cell's pill.
func (d *drawing) box(i int) (x, y, width int) {
	width = d.cells[i].width()
	return d.columns[d.col[i]].center() - width/2, d.y + d.rowY(d.row[i]), width
}

func (d *drawing) cell(i int) {
	c := d.cells[i]
	x, y, w := d.box(i)
	class := c.class()
	if c.Removed {
		class += " removed"
	}
	fmt.Fprintf(d, `<g class="%s"><title>%s</title>`, class, xmlText(short(clean(c.about()), 200)))
	if c.folded > 0 {
		away := -1 // away from the gutter
		if d.row[i] > 0 {
			away = 1
		}
		for _, by := range []int{6, 3} {
			fmt.Fprintf(d, `<rect class="pill" x="%d" y="%d" width="%d" height="%d" rx="%d"/>`, x+by, y+away*by, w, pillHeight, pillHeight/2)
		}
	}
	fmt.Fprintf(d, `<rect class="pill" x="%d" y="%d" width="%d" height="%d" rx="%d"/>`, x, y, w, pillHeight, pillHeight/2)
	if c.Deprecated {
		fmt.Fprintf(d, `<rect class="hatch" x="%d" y="%d" width="%d" height="%d" rx="%d"/>`, x, y, w, pillHeight, pillHeight/2)
	}
	fmt.Fprintf(d, `<text class="label" x="%d" y="%d">%s</text>`, x+w/2, y+pillHeight/2+4, xmlText(c.shown()))
	if badge := c.badge(); badge != "" {
		fmt.Fprintf(d, `<text class="badge" x="%d" y="%d">%s</text>`, x+w/2, d.badgeY(i), badge)
	}
	d.WriteString("</g>\n")
}

// badgeY returns the baseline of a cell's badge, on the side away from the gutter.
func (d *drawing) badgeY(i int) int {
	_, y, _ := d.box(i)
	if d.row[i] == 0 {
		return y - 5
	}
	return y + pillHeight + 12
}

// wire draws a line along the row of its end. It changes to that row directly after its start, where no cell is
// in the way.
func (d *drawing) wire(e Edge) {
	x0, y0, w0 := d.box(e.From)
	x1, y1, _ := d.box(e.To)
	x0, y0, x1, y1 = x0+w0, y0+pillHeight/2, x1-arrowLength, y1+pillHeight/2
	if d.cells[e.From].folded > 0 {
		x0 += 3
	}
	class := e.class()
	if y0 == y1 {
		d.path(class, true, "M%d %dH%d", x0, y0, x1)
		return
	}
	bend := d.columns[d.col[e.From]].end() + columnGap - arrowLength - 4
	middle := (x0 + bend) / 2
	d.path(class, true, "M%d %dC%d %d %d %d %d %dH%d", x0, y0, middle, y0, middle, y1, bend, y1, x1)
}

const (
	arrowLength = 7
	bendRadius  = 6
)

// rail draws the path from each source to the track, the track, and the path from the track to the end.
func (d *drawing) rail(r *rail) {
	track := d.y + d.firstRow() + pillHeight + gutterMargin + r.track*trackPitch
	class := r.class()
	xt, yt, wt := d.box(r.To)
	end := xt + wt/2 - port(r.inlet, wt)
	edge, up := yt+pillHeight+arrowLength, -1 // the end of the arrow, and its direction
	if d.row[r.To] > 0 {
		edge, up = yt-arrowLength, 1
	}
	first, far := 0, 0
	for n, from := range r.sources {
		x, y, w := d.box(from)
		x += w/2 + port(d.outlet(from, r.Edge), w)
		turn, down := bendRadius, 1
		if x > end {
			turn = -bendRadius
		}
		if d.row[from] > 0 {
			down = -1
		} else {
			y += pillHeight
		}
		d.path(class, false, "M%d %dV%dQ%d %d %d %d", x, y, track-down*bendRadius, x, track, x+turn, track)
		if n == 0 || abs(x-end) > far {
			first, far = x+turn, abs(x-end)
		}
	}
	turn := bendRadius
	if first > end {
		turn = -bendRadius
	}
	d.path(class, true, "M%d %dH%dQ%d %d %d %dV%d", first, track, end-turn, end, track, end, track+up*bendRadius, edge)
}

// outlet numbers the styles of the lines that leave a bundle.
func (d *drawing) outlet(cell int, e Edge) int {
	style := int(e.Kind) * 4
	if e.New {
		style++
	}
	if e.Lost {
		style += 2
	}
	k := [2]int{cell, style}
	if _, known := d.outlets[k]; !known {
		d.outlets[k] = d.used[cell]
		d.used[cell]++
	}
	return d.outlets[k]
}

// port returns the distance from a bundle's middle at which a line enters or leaves.
func port(n, width int) int { return min(portPitch/2+n*portPitch, width/2-4) }

func (d *drawing) path(class string, arrow bool, format string, args ...any) {
	d.lines = append(d.lines, Line{class, fmt.Sprintf(format, args...), arrow})
}

// Tip returns the last of the line's classes, which decides the colour of the line and its arrow.
func (l Line) Tip() string { return l.Class[strings.LastIndexByte(l.Class, ' ')+1:] }

func (l Line) write(b *strings.Builder) {
	head := ""
	if l.Arrow {
		head = ` marker-end="url(#graft-` + l.Tip() + `)"`
	}
	fmt.Fprintf(b, `<path class="%s"%s d="%s"/>`+"\n", l.Class, head, l.Way)
}

// class returns the classes of an edge: its kind, and last the one that decides its colour.
func (e Edge) class() string {
	kind := [...]string{"replaces", "skips", "range"}[e.Kind]
	switch {
	case e.Lost:
		return "edge " + kind + " gone"
	case e.New:
		return "edge " + kind + " added"
	}
	return "edge " + kind
}

func abs(n int) int { return max(n, -n) }
