package draw

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// A layout contains what the SVG draws: the same cells with the same texts, and the same lines.
func TestLayoutsAreThoseOfTheSVG(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	for range 60 {
		g := random(r)
		for i := range g.Packages {
			p := &g.Packages[i]
			drawing := string(SVG(Graph{Packages: []Package{*p}}, Options{}))
			cells, lines := 0, 0
			for n, l := range Layouts(p, Options{}) {
				cells, lines = cells+len(l.Cells), lines+len(l.Lines)
				for _, c := range l.Cells {
					if c.X < 0 || c.Y < 0 || c.X+c.Width > l.Width || c.Y+pillHeight > l.Height || c.First >= len(p.Channels[n].Nodes) {
						t.Fatalf("a cell is outside the layout: %+v of %d by %d", c, l.Width, l.Height)
					}
					if want := fmt.Sprintf(`x="%d"`, c.X+c.Width/2); !strings.Contains(drawing, want) || !strings.Contains(drawing, xmlText(c.Label)) {
						t.Fatalf("the SVG has no %q at %s", c.Label, want)
					}
				}
			}
			if n := strings.Count(drawing, `<text class="label"`); n != cells {
				t.Fatalf("%d cells, the SVG has %d", cells, n)
			}
			if n := strings.Count(drawing, `<path class="edge `); n < lines || n > lines+len(legendKinds) {
				t.Fatalf("%d lines, the SVG has %d", lines, n)
			}
		}
	}
}

// legendKinds are the lines that a legend may show.
var legendKinds = []string{"replaces", "skips", "range", "added", "gone"}

func TestWholeLayoutsFoldNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 3))
	for range 60 {
		g := random(r)
		for i := range g.Packages {
			for _, l := range Layouts(&g.Packages[i], Options{Radius: All}) {
				for _, c := range l.Cells {
					if c.Folded > 0 && !strings.Contains(c.Label, "not in this channel") {
						t.Fatalf("%d are folded: %s", c.Folded, c.Label)
					}
				}
			}
		}
	}
}
