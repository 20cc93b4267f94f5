// Package drawings reads Graft's drawings with the programs that draw them: Debian's graphviz, and mermaid's
// parser, which npm installs.
package drawings

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/draw"
)

// hostile are names that try to break out of their context.
var hostile = []string{
	"", " ", "end", "subgraph x", "a\"]\nclick n0 \"javascript:alert(1)\"", "`md`", "\"`**x**`\"", "%%{init: {'theme':'x'}}%%",
	"---\ntitle: x\n---", "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "]]>", "-->", "<!--", "&lt;b&gt;", "#quot;", "#35;",
	"style:x\"#y", "classDef:a#b;c", "\\", "\\\"", "\\N\\G\\L", "\r\n\t", "\x00\x1b[31m", "\u202eevil\u2066", "\ufeff", "\xff\xfe", "名前.v1.0.0",
	"e\u0301tcd", "ﬂ°°60¶ß", "a;b", "a|b", "{{x}}", "$$x^2$$", "1. list", "- item", "http://example.com/x", "fa:fa-car", "A---oB", "n0@{ shape: x }",
	"constructor", "__proto__", "url(javascript:x)", "</style><script>", "</title>", strings.Repeat("long-", 400), strings.Repeat("\"", 200), "🙂",
}

// named returns a graph whose package, channel and oldest bundle have the name.
func named(name string) draw.Graph {
	return draw.Graph{Packages: []draw.Package{{Name: name, Channels: []draw.Channel{{
		Name: name, Nodes: []draw.Node{{Name: name}, {Name: "op.v1.1.0", Version: "1.1.0", New: true, Head: true}},
		Edges: []draw.Edge{{To: 1, Kind: draw.Replaces, New: true}, {To: 1, Kind: draw.Skips, Lost: true}, {To: 1, Kind: draw.SkipRange}},
	}}}}}
}

// row returns a channel of n bundles, each of which replaces the one before it and skips all earlier ones by a
// range.
func row(n int) draw.Graph {
	ch := draw.Channel{Name: "stable", Default: true}
	for i := range n {
		version := fmt.Sprintf("1.%d.0", i)
		ch.Nodes = append(ch.Nodes, draw.Node{Name: "op.v" + version, Version: version, Head: i == n-1})
		if i > 0 {
			ch.Edges = append(ch.Edges, draw.Edge{From: i - 1, To: i, Kind: draw.Replaces})
		}
		for from := range i {
			ch.Edges = append(ch.Edges, draw.Edge{From: from, To: i, Kind: draw.SkipRange})
		}
	}
	return draw.Graph{Packages: []draw.Package{{Name: "op", Channels: []draw.Channel{ch}}}}
}

// random returns a graph of any shape with hostile names.
func random(r *rand.Rand) draw.Graph {
	text := func() string { return hostile[r.IntN(len(hostile))] }
	one := func(of int) bool { return r.IntN(of) == 0 }
	var g draw.Graph
	for range 1 + r.IntN(3) {
		p := draw.Package{Name: text(), Deprecated: one(5)}
		for range r.IntN(4) {
			ch := draw.Channel{Name: text(), Default: one(5), Deprecated: one(5), New: one(5)}
			for i := range r.IntN(1 + r.IntN(60)) {
				n := draw.Node{
					Name: text(), Version: text(), Image: text(), SkipRange: text(), Head: one(9), Skipped: one(5), Deprecated: one(5),
					Outside: one(5), Missing: one(5), New: one(25), Removed: one(25), Stranded: one(25),
				}
				if !one(4) {
					n.Version = fmt.Sprintf("1.%d.0", i)
					n.Name = "op.v" + n.Version
				}
				ch.Nodes = append(ch.Nodes, n)
			}
			for to := range ch.Nodes {
				for range r.IntN(5) {
					e := draw.Edge{From: max(to-1, 0), To: to, Kind: draw.Kind(r.IntN(3)), New: one(25), Lost: one(25)}
					if one(3) {
						e.From = r.IntN(len(ch.Nodes))
					}
					if !slices.Contains(ch.Edges, e) {
						ch.Edges = append(ch.Edges, e)
					}
				}
			}
			p.Channels = append(p.Channels, ch)
		}
		g.Packages = append(g.Packages, p)
	}
	return g
}

// golden returns the drawings in the test data of internal/draw, by extension.
func golden(t *testing.T, ext string) (all [][]byte) {
	t.Helper()
	files, err := filepath.Glob("../../internal/draw/testdata/*" + ext)
	if err != nil || len(files) == 0 {
		t.Fatalf("internal/draw keeps no drawing %s: %v", ext, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text)
	}
	return all
}
