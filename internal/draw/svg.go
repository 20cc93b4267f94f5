package draw

import (
	"fmt"
	"strings"
)

const (
	svgLabel     = 28   // characters
	readableWide = 1280 // pixels; wider drawings are folded, unless the options set a radius
	mostRoom     = 14   // bundles in a lane
	alignedRoom  = 10   // minimum room for lanes with common columns
	fewestRoom   = 5
	leastWidth   = 520
	packageTitle = 34
)

// SVG draws a graph as a self-contained picture for light and dark pages: channels as lanes, time from left to
// right. It folds long channels to a readable width, unless the options set a radius.
func SVG(g Graph, o Options) []byte {
	f := newFigure(g, o)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" class="graft" role="img" aria-labelledby="graft-title graft-desc" width="%d" height="%d" viewBox="0 0 %d %d">`+"\n",
		f.width, f.height, f.width, f.height)
	fmt.Fprintf(&b, "<title id=\"graft-title\">%s</title>\n<desc id=\"graft-desc\">%s</desc>\n", xmlText(g.title()), xmlText(f.summary()))
	b.WriteString(svgStyle())
	fmt.Fprintf(&b, `<rect class="page" x="0.5" y="0.5" width="%d" height="%d" rx="10"/>`+"\n", f.width-1, f.height-1)
	for _, s := range f.sections {
		s.write(&b, f)
	}
	f.writeLegend(&b)
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

// figure is a whole drawing.
type figure struct {
	graph         Graph
	sections      []section
	width, height int
	legend        []legendRow
}

// section is a package with its lanes.
type section struct {
	pkg   *Package
	lanes []*swimlane
	y     int
}

func newFigure(g Graph, o Options) *figure {
	f := &figure{graph: g, width: leastWidth, height: margin}
	for p := range g.Packages {
		s := newSection(&g.Packages[p], o)
		s.y = f.height
		f.height += packageTitle
		for _, l := range s.lanes {
			f.height += l.height() + laneGap
		}
		f.width = max(f.width, s.width())
		f.sections = append(f.sections, s)
	}
	f.legend = f.newLegend()
	f.height += len(f.legend)*legendHeight + margin
	return f
}

// newSection gives a bundle the same column in all lanes if the result is not too wide. Otherwise each lane has
// its own columns and is folded until it is narrow enough.
func newSection(p *Package, o Options) section {
	s := section{pkg: p}
	if o.Radius != 0 {
		if !s.aligned(o, anyRoom) {
			s.ragged(o, anyRoom)
		}
		return s
	}
	for room := mostRoom; room >= alignedRoom; room-- {
		if s.aligned(o, room) && s.width() <= readableWide {
			return s
		}
	}
	s.ragged(o, mostRoom)
	return s
}

// aligned lays out the lanes with common columns. It returns false if that is impossible.
func (s *section) aligned(o Options, room int) bool {
	s.lanes = nil
	for i := range s.pkg.Channels {
		s.lanes = append(s.lanes, &swimlane{lane: s.pkg.Channels[i].lane(o, room)})
	}
	if !alignColumns(s.lanes) {
		return false
	}
	placeColumns(s.lanes...)
	return true
}

// ragged lays out each lane on its own, with as much room as fits.
func (s *section) ragged(o Options, most int) {
	s.lanes = nil
	for i := range s.pkg.Channels {
		l := s.alone(i, o, most)
		for room := most - 1; most < anyRoom && room >= fewestRoom && l.end() > readableWide-2*margin; room-- {
			l = s.alone(i, o, room)
		}
		s.lanes = append(s.lanes, l)
	}
}

func (s *section) alone(channel int, o Options, room int) *swimlane {
	l := &swimlane{lane: s.pkg.Channels[channel].lane(o, room)}
	for i := range l.cells {
		l.col = append(l.col, i)
	}
	placeColumns(l)
	return l
}

// width returns the width that the section needs.
func (s section) width() int {
	width := max(leastWidth, textWidth(s.name(), 17)+textWidth(s.facts(), 12)+5*margin)
	for _, l := range s.lanes {
		width = max(width, l.titleWidth()+4*margin, l.end()+2*margin)
	}
	return width
}

func (s section) name() string { return short(clean(named(s.pkg.Name)), 2*svgLabel) }

// summary describes the drawing in sentences.
func (f *figure) summary() string {
	var all []string
	for _, s := range f.sections {
		for _, l := range s.lanes {
			text := fmt.Sprintf("%s, channel %s: %s", s.pkg.Name, l.title(), plural(l.count, "version"))
			if heads := l.named(func(n Node) bool { return n.Head }); heads != "" {
				text += ", head " + heads
			}
			if added := l.named(func(n Node) bool { return n.New }); added != "" {
				text += ", new " + added
			}
			if left := l.named(func(n Node) bool { return n.Stranded }); left != "" {
				text += ", cannot reach the head any more: " + left
			}
			all = append(all, text+".")
		}
	}
	return strings.Join(all, " ")
}

// named lists the bundles of a channel that satisfy so, up to a useful number.
func (ch *Channel) named(so func(Node) bool) string {
	var names []string
	for _, n := range ch.Nodes {
		if so(n) {
			names = append(names, n.Name)
		}
	}
	if more := len(names) - maxFocus; more > 0 {
		names = append(names[:maxFocus:maxFocus], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// facts returns the text next to a package's name.
func (s section) facts() string {
	bundles := map[string]bool{}
	for _, l := range s.lanes {
		for _, n := range l.Nodes {
			if !n.Outside && !n.Removed {
				bundles[n.Name] = true
			}
		}
	}
	facts := plural(len(s.lanes), "channel") + ", " + plural(len(bundles), "version")
	if s.pkg.Deprecated {
		facts += ", deprecated"
	}
	return facts
}

func (s section) write(b *strings.Builder, f *figure) {
	fmt.Fprintf(b, `<text x="%d" y="%d"><tspan class="name">%s</tspan><tspan class="facts" dx="12">%s</tspan></text>`+"\n",
		margin+2, s.y+18, xmlText(s.name()), xmlText(s.facts()))
	y := s.y + packageTitle
	for _, l := range s.lanes {
		l.write(b, y, f.width)
		y += l.height() + laneGap
	}
}

// firstRow returns the top of the first row within its lane.

func (l *swimlane) firstRow() int {
	y := laneHeader
	if len(l.badges) > 0 && l.badges[0] {
		y += badgeHeight
	}
	return y
}

func (l *swimlane) gutter() int {
	switch {
	case l.tracks > 0:
		return 2*gutterMargin + (l.tracks-1)*trackPitch
	case l.rows > 1:
		return rowGap
	}
	return 0
}

// rowY returns the top of a row within its lane.
func (l *swimlane) rowY(row int) int {
	y := l.firstRow()
	if row == 0 {
		return y
	}
	y += pillHeight + l.gutter()
	for r := 1; r < row; r++ {
		y += pillHeight + rowGap
		if l.badges[r] {
			y += badgeHeight
		}
	}
	return y
}

func (l *swimlane) height() int {
	y := l.rowY(l.rows-1) + pillHeight + margin
	if l.rows == 1 {
		return y + max(0, l.gutter()-margin/2)
	}
	if l.badges[l.rows-1] {
		y += badgeHeight
	}
	return y
}

func (l *swimlane) name() string { return short(clean(named(l.Name)), svgLabel) }

func (l *swimlane) titleWidth() int {
	width := boldWidth(l.name(), 13) + textWidth(plural(l.count, "version"), 11) + 2*margin
	for _, chip := range l.marks() {
		width += chipWidth(chip) + 6
	}
	return width
}
