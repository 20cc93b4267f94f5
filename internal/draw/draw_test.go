package draw

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s differs; run the test with -update and look at the change\n%s", path, got)
	}
}

// newChannel builds a channel from a short notation of catalog entries, oldest first:
//
//	entry < replaced -skipped ~takenByRange *mark ...; entry ...
//
// A + or ! after <, - or ~ marks the edge as new or lost. Names are pkg.vVERSION.
func newChannel(t testing.TB, name, text string) Channel {
	t.Helper()
	ch := Channel{Name: name}
	at := map[string]int{}
	var entries [][]string
	for entry := range strings.SplitSeq(text, ";") {
		words := strings.Fields(entry)
		v := words[0]
		at[v] = len(ch.Nodes)
		entries = append(entries, words)
		ch.Nodes = append(ch.Nodes, Node{Name: "pkg.v" + v, Version: v, Image: "example.com/pkg:v" + v})
	}
	kinds := map[byte]Kind{'<': Replaces, '-': Skips, '~': SkipRange}
	for i, words := range entries {
		n := &ch.Nodes[i]
		for _, word := range words[1:] {
			if word[0] == '*' {
				marks := map[string]*bool{"head": &n.Head, "skipped": &n.Skipped, "deprecated": &n.Deprecated, "outside": &n.Outside,
					"missing": &n.Missing, "new": &n.New, "removed": &n.Removed, "stranded": &n.Stranded}
				*marks[word[1:]] = true
				continue
			}
			e := Edge{To: i, Kind: kinds[word[0]]}
			word = word[1:]
			e.New, word = strings.HasPrefix(word, "+"), strings.TrimPrefix(word, "+")
			e.Lost, word = strings.HasPrefix(word, "!"), strings.TrimPrefix(word, "!")
			from, known := at[word]
			if !known {
				t.Fatalf("no entry %q", word)
			}
			e.From = from
			ch.Edges = append(ch.Edges, e)
		}
	}
	return ch
}

// demo contains one of everything.
func demo(t testing.TB) Graph {
	stable := newChannel(t, "stable", `1.0.0 *deprecated; 1.1.0 <1.0.0; 1.1.1 <1.1.0 *skipped; 1.2.0 <1.1.0 -1.1.1; 1.2.1 <+1.2.0 *new;
		1.3.0 <+1.2.1 ~1.0.0 ~1.1.0 ~1.1.1 ~1.2.0 ~+1.2.1 *head`)
	stable.Default = true
	stable.Nodes[5].SkipRange = ">=1.0.0 <1.3.0"
	fast := newChannel(t, "fast", `1.1.0 *outside; 1.2.0 <1.1.0; 1.3.0 *removed *outside <!1.2.0 *missing; 1.3.1 <1.3.0; 1.4.0-rc.1 <1.3.1 *skipped; 1.4.0 <1.3.1 -1.4.0-rc.1 *head`)
	fast.Nodes[1].Stranded = true
	old := newChannel(t, "old", "0.9.0 *head *deprecated")
	old.Deprecated = true
	return Graph{[]Package{{Name: "pkg", Channels: []Channel{fast, old, stable}}}}
}

// long returns a channel of n entries. Each replaces the previous one and has a range that covers all previous
// ones.
func long(t testing.TB, n int) Graph {
	var entries []string
	for i := range n {
		entry := fmt.Sprintf("1.%d.%d", i/10, i%10)
		if i > 0 {
			entry += fmt.Sprintf(" <1.%d.%d", (i-1)/10, (i-1)%10)
		}
		for j := range i {
			entry += fmt.Sprintf(" ~1.%d.%d", j/10, j%10)
		}
		if i == n-1 {
			entry += " *head"
		}
		entries = append(entries, entry)
	}
	return Graph{[]Package{{Name: "pkg", Channels: []Channel{newChannel(t, "stable", strings.Join(entries, ";"))}}}}
}

// hostile are names that try to break out of their context.
var hostile = []string{
	"", " ", "end", "subgraph x", "a\"]\nclick n0 \"javascript:alert(1)\"", "`md`", "\"`**x**`\"", "%%{init: {'theme':'x'}}%%",
	"---\ntitle: x\n---", "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "]]>", "-->", "<!--", "&lt;b&gt;", "#quot;", "#35;",
	"style:x\"#y", "classDef:a#b;c", "\\", "\\\"", "\\N\\G\\L", "\r\n\t", "\x00\x1b[31m", "\u202eevil\u2066", "\ufeff", "\xff\xfe", "名前.v1.0.0",
	"e\u0301tcd", "ﬂ°°60¶ß", "a;b", "a|b", "{{x}}", "$$x^2$$", "1. list", "- item", "http://example.com/x", "fa:fa-car", "A---oB", "n0@{ shape: x }",
	"constructor", "__proto__", "url(javascript:x)", "</style><script>", "</title>", strings.Repeat("long-", 400), strings.Repeat("\"", 200), "🙂",
}

// random returns a graph of any shape with hostile names.
func random(r *rand.Rand) Graph {
	text := func() string { return hostile[r.IntN(len(hostile))] }
	flip := func() bool { return r.IntN(5) == 0 }
	rarely := func() bool { return r.IntN(25) == 0 }
	var g Graph
	for range 1 + r.IntN(3) {
		p := Package{Name: text(), Deprecated: flip()}
		for range r.IntN(4) {
			ch := Channel{Name: text(), Default: flip(), Deprecated: flip(), New: flip()}
			size := 1 + r.IntN(1+r.IntN(60))
			for i := range r.IntN(size) {
				name, version := text(), text()
				if r.IntN(4) > 0 {
					version = fmt.Sprintf("1.%d.0", i)
					name = "pkg.v" + version
				}
				ch.Nodes = append(ch.Nodes, Node{name, version, text(), text(), r.IntN(size) == 0, flip(), flip(), flip(), flip(), rarely(), rarely(), rarely()})
			}
			for to := range ch.Nodes {
				for range r.IntN(5) {
					from := r.IntN(len(ch.Nodes))
					if to > 0 && r.IntN(3) > 0 {
						from = to - 1
					}
					e := Edge{from, to, Kind(r.IntN(3)), rarely(), rarely()}
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

func TestPictures(t *testing.T) {
	for name, g := range map[string]struct {
		graph   Graph
		options Options
	}{
		"demo": {demo(t), Options{}},
		"long": {long(t, 40), Options{Around: "pkg.v1.2.5", Radius: 2}},
	} {
		golden(t, name+".mmd", Mermaid(g.graph, g.options))
		golden(t, name+".dot", Dot(g.graph, g.options))
		golden(t, name+".svg", SVG(g.graph, g.options))
	}
	golden(t, "demo.json", JSON(demo(t)))
}

func TestTheSamePictureTwice(t *testing.T) {
	for seed := range uint64(50) {
		draw := func() string {
			g := random(rand.New(rand.NewPCG(seed, 1)))
			return string(slices.Concat(Mermaid(g, Options{}), Dot(g, Options{}), SVG(g, Options{}), JSON(g), Cincinnati(g.Packages[0], "")))
		}
		if once, again := draw(), draw(); once != again {
			t.Fatalf("seed %d: two different pictures", seed)
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	g := demo(t)
	for _, test := range []struct {
		options Options
		refused bool
	}{
		{Options{}, false},
		{Options{Radius: All}, false},
		{Options{Radius: 3, Around: "pkg.v1.2.1"}, false},
		{Options{Around: "pkg.v9.9.9"}, true},
		{Options{Radius: -2}, true},
	} {
		if err := test.options.Check(g); failure.Is(err, failure.Usage) != test.refused {
			t.Errorf("%+v: %v", test.options, err)
		}
	}
}
