package draw

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// readSVG parses a drawing, checks its elements and attributes, and returns its texts.
func readSVG(t *testing.T, drawing []byte) (texts []string) {
	t.Helper()
	elements := strings.Fields("svg title desc style rect defs pattern path marker text tspan g")
	attributes := strings.Fields("xmlns class role aria-labelledby width height viewBox id x y dx rx patternUnits patternTransform d " +
		"markerWidth markerHeight refX refY orient markerUnits marker-end")
	dec := xml.NewDecoder(strings.NewReader(string(drawing)))
	dec.Strict = true
	var inside []string
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return texts
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, drawing)
		}
		switch token := token.(type) {
		case xml.StartElement:
			inside = append(inside, token.Name.Local)
			if !slices.Contains(elements, token.Name.Local) {
				t.Fatalf("element %q", token.Name.Local)
			}
			for _, a := range token.Attr {
				if !slices.Contains(attributes, a.Name.Local) {
					t.Fatalf("attribute %q of %q", a.Name.Local, token.Name.Local)
				}
			}
		case xml.EndElement:
			inside = inside[:len(inside)-1]
		case xml.CharData:
			if in := inside; len(in) > 0 && slices.Contains([]string{"text", "tspan", "title", "desc"}, in[len(in)-1]) {
				texts = append(texts, string(token))
			}
		case xml.Comment, xml.ProcInst, xml.Directive:
			t.Fatalf("%T in\n%s", token, drawing)
		}
	}
}

func TestSVGOfAnyGraph(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for range 150 {
		g, o := random(r), Options{Radius: r.IntN(4) - 1}
		readSVG(t, SVG(g, o))
		checkLayout(t, newFigure(g, o))
	}
}

func TestSVGOfNothing(t *testing.T) {
	for _, g := range []Graph{{}, {[]Package{{Name: "p"}}}, {[]Package{{Name: "p", Channels: []Channel{{Name: "c"}}}}}} {
		drawing := SVG(g, Options{})
		if readSVG(t, drawing); strings.Contains(string(drawing), `"-`) {
			t.Errorf("a negative measure in\n%s", drawing)
		}
	}
}

// checkLayout looks for flaws: pills that cover each other or lines, pills outside their lanes, tracks shared by
// two rails.
func checkLayout(t *testing.T, f *figure) {
	t.Helper()
	for _, s := range f.sections {
		for _, l := range s.lanes {
			d := &drawing{swimlane: l}
			for i, c := range l.cells {
				x, y, w := d.box(i)
				if x < 2*margin || x+w > f.width-2*margin || y < laneHeader || y+pillHeight > l.height() {
					t.Fatalf("%q is outside its lane", c.label())
				}
				if textWidth(c.shown(), labelSize) > w {
					t.Fatalf("%q is wider than its pill", c.label())
				}
				for j := range i {
					x2, y2, w2 := d.box(j)
					if x < x2+w2 && x2 < x+w && y < y2+pillHeight && y2 < y+pillHeight {
						t.Fatalf("%q and %q overlap", c.label(), l.cells[j].label())
					}
				}
			}
			for _, e := range l.wires {
				for i := range l.cells {
					if l.row[i] == l.row[e.To] && l.col[i] > l.col[e.From] && l.col[i] < l.col[e.To] {
						t.Fatalf("a wire leads through %q", l.cells[i].label())
					}
				}
			}
			checkRails(t, l)
			if drawn := len(l.wires) + railEdges(l); drawn != len(l.links) {
				t.Fatalf("%d edges are drawn of %d", drawn, len(l.links))
			}
		}
	}
}

func railEdges(l *swimlane) (n int) {
	for _, r := range l.rails {
		n += len(r.sources)
	}
	return n
}

func checkRails(t *testing.T, l *swimlane) {
	t.Helper()
	for i, a := range l.rails {
		if a.track >= l.tracks {
			t.Fatal("a rail is below the gutter")
		}
		for _, b := range l.rails[:i] {
			if a.track == b.track && a.left < b.right && b.left < a.right {
				t.Fatal("two rails share a track")
			}
		}
	}
}

func TestLayoutOfDemo(t *testing.T) {
	f := newFigure(demo(t), Options{})
	checkLayout(t, f)
	rows := map[string]string{}
	for _, l := range f.sections[0].lanes {
		var words []string
		for i := range l.cells {
			words = append(words, fmt.Sprintf("%s@%d.%d", l.cells[i].Version, l.col[i], l.row[i]))
		}
		rows[l.Name] = strings.Join(words, " ")
	}
	// The lanes share their columns: 1.2.0 comes after 1.1.1 in both, and 1.3.0 after 1.2.1. Skipped bundles are
	// below the line that leads to the head.
	for name, want := range map[string]string{
		"fast":   "1.1.0@1.0 1.2.0@3.0 1.3.0@5.0 1.3.1@6.0 1.4.0-rc.1@7.1 1.4.0@8.0",
		"old":    "0.9.0@0.0",
		"stable": "1.0.0@0.0 1.1.0@1.0 1.1.1@2.1 1.2.0@3.0 1.2.1@4.0 1.3.0@5.0",
	} {
		if rows[name] != want {
			t.Errorf("%s: got %s, want %s", name, rows[name], want)
		}
	}
}

// Lanes that order bundles differently each have their own columns.
func TestLanesThatDisagree(t *testing.T) {
	a, b := newChannel(t, "a", "1; 2 <1 *head"), newChannel(t, "b", "2; 1 <2 *head")
	f := newFigure(Graph{[]Package{{Name: "p", Channels: []Channel{a, b}}}}, Options{})
	checkLayout(t, f)
	for _, l := range f.sections[0].lanes {
		if l.col[0] != 0 || l.col[1] != 1 {
			t.Errorf("%s: columns %v", l.Name, l.col)
		}
	}
}

func TestDrawingsAreNotTooWide(t *testing.T) {
	for name, g := range map[string]Graph{"long": long(t, 150), "demo": demo(t)} {
		if f := newFigure(g, Options{}); f.width > readableWide {
			t.Errorf("%s is %d pixels wide", name, f.width)
		}
	}
	if f := newFigure(long(t, 50), Options{Radius: All}); f.width < 50*54 {
		t.Errorf("50 bundles are drawn in %d pixels", f.width)
	}
}

func TestSVGDescribesItself(t *testing.T) {
	texts := readSVG(t, SVG(demo(t), Options{}))
	for _, want := range []string{
		"Upgrade graph of pkg",
		"pkg, channel fast: 4 versions, head pkg.v1.4.0, cannot reach the head any more: pkg.v1.2.0. " +
			"pkg, channel old (deprecated): 1 version, head pkg.v0.9.0. " +
			"pkg, channel stable (default): 6 versions, head pkg.v1.3.0, new pkg.v1.2.1.",
		"pkg.v1.3.0, version 1.3.0, head, skipRange >=1.0.0 <1.3.0",
	} {
		if !slices.Contains(texts, want) {
			t.Errorf("no text %q among %q", want, texts)
		}
	}
}

// Every referenced marker and pattern exists.
func TestSVGReferences(t *testing.T) {
	drawing := string(SVG(demo(t), Options{}))
	for _, m := range regexp.MustCompile(`url\(#([^)]*)\)`).FindAllStringSubmatch(drawing, -1) {
		if !strings.Contains(drawing, `id="`+m[1]+`"`) {
			t.Errorf("no %s", m[1])
		}
	}
	for _, foreign := range []string{"http://", "https://", "<script", "javascript:", "@import", "href"} {
		if strings.Contains(strings.TrimPrefix(drawing, `<svg xmlns="http://www.w3.org/2000/svg"`), foreign) {
			t.Errorf("the drawing has %q in it", foreign)
		}
	}
}

// The contrasts that WCAG 2.2 requires at level AA: 4.5 for text, 3 for other visible parts.
func TestContrast(t *testing.T) {
	for _, pair := range []struct {
		ink, on string
		least   float64
	}{
		{"text", "page", 4.5}, {"text", "lane", 4.5}, {"text", "pill", 4.5}, {"muted", "page", 4.5}, {"muted", "lane", 4.5},
		{"muted", "pill", 4.5}, {"muted", "hatch", 3}, {"onfill", "head", 4.5}, {"onfill", "new", 4.5}, {"headmark", "lane", 4.5},
		{"newmark", "lane", 4.5}, {"lost", "lane", 4.5}, {"lost", "lostpill", 4.5}, {"deprecated", "lane", 4.5},
		{"outline", "lane", 3}, {"head", "lane", 3}, {"new", "lane", 3}, {"replaces", "lane", 3}, {"skips", "lane", 3}, {"range", "lane", 3},
		{"replaces", "page", 3}, {"skips", "page", 3}, {"range", "page", 3}, {"newmark", "page", 3}, {"lost", "page", 3},
	} {
		ink, on := palette[pair.ink], palette[pair.on]
		if c := contrast(t, ink.light, on.light); c < pair.least {
			t.Errorf("%s on %s, light: contrast %.2f", pair.ink, pair.on, c)
		}
		if c := contrast(t, ink.dark, on.dark); c < pair.least {
			t.Errorf("%s on %s, dark: contrast %.2f", pair.ink, pair.on, c)
		}
	}
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	luminance := func(colour string) (sum float64) {
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			n, err := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
			if err != nil {
				t.Fatal(err)
			}
			c := float64(n) / 255
			if c <= 0.04045 {
				sum += weight * c / 12.92
			} else {
				sum += weight * math.Pow((c+0.055)/1.055, 2.4)
			}
		}
		return sum
	}
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func TestRulesHaveTheirInk(t *testing.T) {
	used := map[string]bool{}
	for _, r := range rules {
		if _, ok := palette[r.ink]; !ok {
			t.Errorf("%s: no ink %q", r.selector, r.ink)
		}
		used[r.ink] = true
	}
	for name := range palette {
		if !used[name] {
			t.Errorf("ink %q paints nothing", name)
		}
	}
}

func FuzzXMLText(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var got struct {
			Text string `xml:",chardata"`
			Attr string `xml:"a,attr"`
		}
		doc := `<x a="` + xmlText(s) + `">` + xmlText(s) + `</x>`
		if err := xml.Unmarshal([]byte(doc), &got); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		if want := clean(s); got.Text != want || got.Attr != want {
			t.Fatalf("%q is read as %q and %q", s, got.Text, got.Attr)
		}
	})
}

func BenchmarkSVG150(b *testing.B) {
	g := long(b, 150)
	for b.Loop() {
		SVG(g, Options{})
	}
}
