package draw

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
)

// A label contains letters, digits, a few marks and numeric entities; line breaks are Graft's. Every other line
// of a diagram matches one of these patterns.
var (
	mermaidLabelText = `(?:[\p{L}\p{Nd} .\-_+/(),…·]|#\d+;)*(?:<br/>[a-z, ]+)?`
	mermaidLine      = regexp.MustCompile(`^(?:` + strings.Join([]string{
		`graph LR`, `  accTitle: [A-Za-z0-9 .\-_,?]+`,
		`  subgraph p\d+\["` + mermaidLabelText + `"\]`, `    subgraph c\d+\["` + mermaidLabelText + `"\]`, `      direction LR`, `  (?:  )?end`,
		`      n\d+(?:\["` + mermaidLabelText + `"\]|\(\["` + mermaidLabelText + `"\]\))`, `  more\["` + mermaidLabelText + `"\]`,
		`  n\d+ (?:-->|-\. skips \.->|-\. skipRange \.->|-- lost --x) n\d+`,
		`  classDef [a-z]+ [a-z\-:#0-9, ]+`, `  class [a-z0-9,]+ [a-z]+`, `  linkStyle [0-9,]+ [a-z\-:#0-9, ]+`,
	}, "|") + `)$`)
	mermaidEntity = regexp.MustCompile(`#(\d+);`)
)

// decodeMermaid returns the text that Mermaid shows for a label.
func decodeMermaid(label string) string {
	return mermaidEntity.ReplaceAllStringFunc(label, func(s string) string {
		r, _ := strconv.Atoi(s[1 : len(s)-1])
		return string(rune(r))
	})
}

// checkMermaid checks a diagram against its grammar and GitHub's limits, and returns the number of its edges.
func checkMermaid(t *testing.T, diagram []byte) (edges int) {
	t.Helper()
	for line := range strings.Lines(string(diagram)) {
		line = strings.TrimSuffix(line, "\n")
		if !mermaidLine.MatchString(line) {
			t.Fatalf("line %q in\n%s", line, diagram)
		}
		if strings.Contains(line, " n") && strings.HasPrefix(line, "  n") && !strings.HasPrefix(line, "   ") {
			edges++
		}
	}
	if n := len(utf16.Encode([]rune(string(diagram)))); n > 50_000 || edges > 500 {
		t.Fatalf("%d characters and %d edges", n, edges)
	}
	return edges
}

func TestMermaidOfAnyGraph(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 500 {
		g := random(r)
		checkMermaid(t, Mermaid(g, Options{Radius: r.IntN(4) - 1}))
	}
}

func TestMermaidLimits(t *testing.T) {
	wide := func(channels, entries int, name string) Graph {
		g := long(t, entries)
		one := g.Packages[0].Channels[0]
		for i := range one.Nodes {
			one.Nodes[i].Name += name
		}
		for i := range channels - 1 {
			one.Name = fmt.Sprintf("channel-%d%s", i, name)
			g.Packages[0].Channels = append(g.Packages[0].Channels, one)
		}
		return g
	}
	for name, test := range map[string]struct {
		graph   Graph
		options Options
		has     []string
	}{
		"600 entries in a row":          {wide(1, 600, ""), Options{Radius: All}, []string{"older versions", "v1.59.9<br/>head"}},
		"a radius that is too large":    {wide(1, 600, ""), Options{Around: "pkg.v1.30.0", Radius: 290}, []string{`"v1.30.0"`, "v1.59.9<br/>head"}},
		"long names":                    {wide(20, 40, strings.Repeat("\"x", 100)), Options{Radius: All}, []string{"older versions"}},
		"more channels than can be":     {wide(400, 12, ""), Options{}, []string{"more channels", `"channel-1"`}},
		"and each of them has a change": {wide(400, 12, "-"), Options{Around: "pkg.v1.0.1-"}, []string{"more channels", `"pkg.v1.0.1-"`}},
	} {
		t.Run(name, func(t *testing.T) {
			diagram := Mermaid(test.graph, test.options)
			edges := checkMermaid(t, diagram)
			for _, want := range test.has {
				if !strings.Contains(string(diagram), want) {
					t.Errorf("no %s in\n%s", want, diagram)
				}
			}
			if len(diagram) < 5_000 && edges < 50 {
				t.Errorf("only %d bytes and %d edges are drawn", len(diagram), edges)
			}
		})
	}
}

// Changes are left out last.
func TestMermaidKeepsWhatChanged(t *testing.T) {
	g := long(t, 12)
	plain := g.Packages[0].Channels[0]
	changed := newChannel(t, "changed", "1.0.0; 1.1.0 <+1.0.0 *new *head")
	g.Packages[0].Channels = nil
	for i := range 400 {
		plain.Name = fmt.Sprintf("channel-%d", i)
		g.Packages[0].Channels = append(g.Packages[0].Channels, plain)
	}
	g.Packages[0].Channels = append(g.Packages[0].Channels, changed)
	diagram := string(Mermaid(g, Options{}))
	if checkMermaid(t, []byte(diagram)); !strings.Contains(diagram, `["changed"]`) || !strings.Contains(diagram, "v1.1.0<br/>new, head") {
		t.Errorf("the change is not shown:\n%s", diagram)
	}
}

func FuzzMermaidText(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	whole := regexp.MustCompile("^" + mermaidLabelText + "$")
	f.Fuzz(func(t *testing.T, s string) {
		label := mermaidText(s)
		if !whole.MatchString(label) {
			t.Fatalf("%q becomes %q", s, label)
		}
		if got := decodeMermaid(label); got != strings.ReplaceAll(short(clean(s), mermaidLabel), "ﬂ", "fl") {
			t.Fatalf("%q becomes %q, which is read as %q", s, label, got)
		}
	})
}
