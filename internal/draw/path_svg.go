package draw

import (
	"fmt"
	"strings"
)

// Measures of a drawn path, in addition to those of a drawing.
const (
	stepGap     = 84 // between bundles, for the label of the step
	pathLane    = laneHeader + badgeHeight + pillHeight + margin
	platformGap = 26 // between platforms, for the arrow of the cluster upgrade
)

// pathDrawing is a path under construction: one lane for each platform, time from left to right.
type pathDrawing struct {
	strings.Builder
	nodes []PathNode
	x, y  []int // by pill
	lanes []int // first node of each platform
	width int
}

// SVGPath draws a path as a self-contained picture for light and dark pages.
func SVGPath(nodes []PathNode) []byte {
	d := &pathDrawing{nodes: nodes, width: leastWidth}
	d.lay()
	height := margin + len(d.lanes)*(pathLane+platformGap) - platformGap + margin
	fmt.Fprintf(d, `<svg xmlns="http://www.w3.org/2000/svg" class="graft" role="img" aria-labelledby="graft-title graft-desc" width="%d" height="%d" viewBox="0 0 %d %d">`+"\n",
		d.width, height, d.width, height)
	first, last := nodes[0], nodes[len(nodes)-1]
	fmt.Fprintf(d, "<title id=\"graft-title\">%s</title>\n<desc id=\"graft-desc\">%s</desc>\n", xmlText("Path from "+named(first.Bundle)+" to "+named(last.Bundle)), xmlText(d.summary()))
	d.WriteString(svgStyle())
	fmt.Fprintf(d, `<rect class="page" x="0.5" y="0.5" width="%d" height="%d" rx="10"/>`+"\n", d.width-1, height-1)
	for i, at := range d.lanes {
		y := margin + i*(pathLane+platformGap)
		fmt.Fprintf(d, `<rect class="lane" x="%d" y="%d" width="%d" height="%d" rx="8"/><text class="channel" x="%d" y="%d">%s</text>`+"\n",
			margin, y, d.width-2*margin, pathLane, 2*margin+2, y+20, xmlText(short(named(nodes[at].Platform), svgLabel)))
	}
	for i := range nodes {
		if i > 0 {
			d.lead(i)
		}
		d.node(i)
	}
	d.WriteString("</svg>\n")
	return []byte(d.String())
}

func (d *pathDrawing) lay() {
	x := 0
	for i, n := range d.nodes {
		if i == 0 || d.nodes[i-1].Platform != n.Platform {
			x = 2*margin + 2
			d.lanes = append(d.lanes, i)
		}
		d.x = append(d.x, x)
		d.y = append(d.y, margin+(len(d.lanes)-1)*(pathLane+platformGap)+laneHeader+badgeHeight)
		x += d.space(i)
		d.width = max(d.width, x+2*margin)
		x += stepGap
	}
}

func (d *pathDrawing) label(i int) string { return short(clean(named(d.nodes[i].Bundle)), svgLabel) }

func (d *pathDrawing) badge(i int) string { return short(clean(named(d.nodes[i].Channel)), svgLabel) }

// space returns the width of a pill and of the text above it.
func (d *pathDrawing) space(i int) int {
	return max(boldWidth(d.label(i), labelSize)+2*pillPadding, boldWidth(d.badge(i), badgeSize))
}

func (d *pathDrawing) node(i int) {
	class := "plain"
	switch {
	case i == len(d.nodes)-1:
		class = "head"
	case d.nodes[i].Deprecated:
		class = "deprecated"
	}
	n, w := d.nodes[i], d.space(i)
	about := []string{named(n.Bundle), "channel " + named(n.Channel), n.Platform}
	if n.Deprecated {
		about = append(about, "deprecated")
	}
	fmt.Fprintf(d, `<g class="%s"><title>%s</title>`, class, xmlText(strings.Join(about, ", ")))
	pill := []any{d.x[i], d.y[i], w, pillHeight, pillHeight / 2}
	fmt.Fprintf(d, `<rect class="pill" x="%d" y="%d" width="%d" height="%d" rx="%d"/>`, pill...)
	if n.Deprecated {
		fmt.Fprintf(d, `<rect class="hatch" x="%d" y="%d" width="%d" height="%d" rx="%d"/>`, pill...)
	}
	fmt.Fprintf(d, `<text class="label" x="%d" y="%d">%s</text>`, d.x[i]+w/2, d.y[i]+pillHeight/2+4, xmlText(d.label(i)))
	fmt.Fprintf(d, `<text class="badge" x="%d" y="%d">%s</text></g>`+"\n", d.x[i]+w/2, d.y[i]-5, xmlText(d.badge(i)))
}

// lead draws the arrow to a node: along the lane, or from one platform down to the next.
func (d *pathDrawing) lead(i int) {
	line := Line{Class: "edge replaces", Arrow: true}
	to, y := d.x[i]-arrowLength, d.y[i]+pillHeight/2
	if d.nodes[i].Platform == d.nodes[i-1].Platform {
		from := d.x[i-1] + d.space(i-1)
		line.Way = fmt.Sprintf("M%d %dH%d", from, y, to)
		line.write(&d.Builder)
		fmt.Fprintf(d, `<text class="badge" x="%d" y="%d">%s</text>`+"\n", (from+d.x[i])/2, y-6, xmlText(short(clean(d.nodes[i].By), 12)))
		return
	}
	from := d.x[i-1] + d.space(i-1)/2
	down := d.y[i-1] + pillHeight
	turn := down + margin + platformGap/2
	x := d.x[i] + min(d.space(i)/2, 3*margin)
	line.Class = "edge range"
	if from == x {
		line.Way = fmt.Sprintf("M%d %dV%d", x, down, d.y[i]-badgeHeight-arrowLength)
	} else {
		bend := bendRadius
		if from > x {
			bend = -bendRadius
		}
		line.Way = fmt.Sprintf("M%d %dV%dQ%d %d %d %dH%dQ%d %d %d %dV%d", from, down, turn-bendRadius, from, turn, from+bend, turn,
			x-bend, x, turn, x, turn+bendRadius, d.y[i]-badgeHeight-arrowLength)
	}
	line.write(&d.Builder)
}

func (d *pathDrawing) summary() string {
	var all []string
	for i, n := range d.nodes {
		text := named(n.Bundle) + " on " + n.Platform + ", channel " + named(n.Channel)
		if i > 0 {
			text = n.By + ": " + text
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ") + "."
}
