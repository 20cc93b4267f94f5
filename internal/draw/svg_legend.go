package draw

import (
	"fmt"
	"strings"
)

const legendHeight = 22

// legendItem explains one feature of the drawing.
type legendItem struct {
	class string // of a bundle or edge
	text  string
	hatch bool
}

func (i legendItem) edge() bool { return strings.HasPrefix(i.class, "edge") }

func (i legendItem) width() int { return 36 + textWidth(i.text, 11) + 18 }

type legendRow []legendItem

// newLegend explains the features of the drawing in rows as wide as the drawing.
func (f *figure) newLegend() (rows []legendRow) {
	width := 0
	for _, item := range f.items() {
		if len(rows) == 0 || width+item.width() > f.width-2*margin {
			rows = append(rows, nil)
			width = 0
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], item)
		width += item.width()
	}
	return rows
}

func (f *figure) items() (items []legendItem) {
	has := map[string]bool{}
	for _, s := range f.sections {
		for _, l := range s.lanes {
			for _, c := range l.cells {
				has[c.class()] = true
				has["hatch"] = has["hatch"] || c.Deprecated
			}
			for _, e := range l.links {
				class := strings.Fields(e.class())
				has[class[1]] = true
				has[class[len(class)-1]] = true
			}
		}
	}
	for _, i := range []struct{ has, class, text string }{
		{"new", "new", "new"}, {"head", "head", "head of its channel"}, {"skipped", "skipped", "skipped"},
		{"hatch", "deprecated", "deprecated"}, {"outside", "outside", "not in this channel"}, {"lost", "lost", "removed or stranded"},
		{"replaces", "edge replaces", "replaces"}, {"skips", "edge skips", "skips"}, {"range", "edge range", "skipRange"},
		{"added", "edge replaces added", "new edge"}, {"gone", "edge replaces gone", "lost path"},
	} {
		if has[i.has] {
			items = append(items, legendItem{i.class, i.text, i.has == "hatch"})
		}
	}
	return items
}

func (f *figure) writeLegend(b *strings.Builder) {
	y := f.height - margin/2 - len(f.legend)*legendHeight
	for _, row := range f.legend {
		x := margin + 2
		for _, item := range row {
			if item.edge() {
				fmt.Fprintf(b, `<path class="%s" d="M%d %dH%d"/>`, item.class, x, y+8, x+28)
			} else {
				fmt.Fprintf(b, `<g class="%s"><rect class="pill" x="%d" y="%d" width="28" height="14" rx="7"/>`, item.class, x, y+1)
				if item.hatch {
					fmt.Fprintf(b, `<rect class="hatch" x="%d" y="%d" width="28" height="14" rx="7"/>`, x, y+1)
				}
				b.WriteString("</g>")
			}
			fmt.Fprintf(b, `<text class="key" x="%d" y="%d">%s</text>`+"\n", x+36, y+12, item.text)
			x += item.width()
		}
		y += legendHeight
	}
}
