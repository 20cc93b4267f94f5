package drawings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/draw"
)

// Mermaid parses the diagrams and understands their content.
func TestMermaidParsesDiagrams(t *testing.T) {
	sources := append(golden(t, ".mmd"), draw.Mermaid(row(400), draw.Options{Radius: draw.All}))
	for _, name := range hostile {
		sources = append(sources, draw.Mermaid(named(name), draw.Options{}))
	}
	r := rand.New(rand.NewPCG(6, 6))
	for range 60 {
		sources = append(sources, draw.Mermaid(random(r), draw.Options{Radius: r.IntN(4) - 1}))
	}
	broken := []string{"graph LR\n  n0[\"a\"\n", "graph LR\n  n0[\"a\"]\n  click n0 \"x\"\n", "---\ntitle: x\nconfig: {theme: dark}\n---\ngraph LR\n  n0[\"a\"]\n", "graph LR\n  n0[\"" + strings.Repeat("a", 50_000) + "\"]\n"}
	for _, source := range broken {
		sources = append(sources, []byte(source))
	}
	for i, got := range parseWithMermaid(t, sources) {
		isBroken := i >= len(sources)-len(broken)
		if want := read(string(sources[i])); isBroken != (got.Error != "") || !isBroken && !got.equal(want) {
			t.Errorf("mermaid: %+v\nwant: %+v\n%s", got, want, sources[i])
		}
	}
	t.Logf("mermaid parsed %d diagrams", len(sources))
}

// diagram is a parsed diagram, as check.mjs prints it.
type diagram struct {
	Error     string
	Nodes     []node
	Edges     []edge
	Subgraphs []string
}

type node struct {
	ID, Text string
	Classes  []string
}

type edge struct{ From, To, Stroke, Type string }

// equal compares in any order, because mermaid lists inner subgraphs first.
func (d diagram) equal(o diagram) bool {
	sorted := func(d diagram) string {
		slices.Sort(d.Subgraphs)
		slices.SortFunc(d.Nodes, func(a, b node) int { return strings.Compare(a.ID, b.ID) })
		return fmt.Sprintf("%q %q %q", d.Nodes, d.Edges, d.Subgraphs)
	}
	return sorted(d) == sorted(o)
}

var (
	nodeLine     = regexp.MustCompile(`(?m)^ +(n\d+|more)(?:\[|\(\[)"(.*)"(?:\]|\]\))$`)
	edgeLine     = regexp.MustCompile(`(?m)^  (n\d+) (-->|-\. [a-zA-Z]+ \.->|-- lost --x) (n\d+)$`)
	subgraphLine = regexp.MustCompile(`(?m)^ +subgraph [pc]\d+\["(.*)"\]$`)
	classLine    = regexp.MustCompile(`(?m)^  class ([a-z0-9,]+) ([a-z]+)$`)
	entity       = regexp.MustCompile(`#(\d+);`)
)

// read parses the lines of a diagram.
func read(source string) (d diagram) {
	classes := map[string][]string{}
	for _, m := range classLine.FindAllStringSubmatch(source, -1) {
		for id := range strings.SplitSeq(m[1], ",") {
			classes[id] = append(classes[id], m[2])
		}
	}
	for _, m := range nodeLine.FindAllStringSubmatch(source, -1) {
		d.Nodes = append(d.Nodes, node{m[1], decoded(m[2]), classes[m[1]]})
	}
	for _, m := range edgeLine.FindAllStringSubmatch(source, -1) {
		e := edge{m[1], m[3], "normal", "arrow_point"}
		switch m[2] {
		case "-->":
		case "-- lost --x":
			e.Type = "arrow_cross"
		default:
			e.Stroke = "dotted"
		}
		d.Edges = append(d.Edges, e)
	}
	for _, m := range subgraphLine.FindAllStringSubmatch(source, -1) {
		d.Subgraphs = append(d.Subgraphs, decoded(m[1]))
	}
	return d
}

// decoded returns a label's text without surrounding spaces. Its only markup is line breaks, which mermaid
// writes in its own form.
func decoded(label string) string {
	return entity.ReplaceAllStringFunc(strings.ReplaceAll(strings.TrimSpace(label), "<br/>", "<br>"), func(s string) string {
		r, _ := strconv.Atoi(s[1 : len(s)-1])
		return string(rune(r))
	})
}

func parseWithMermaid(t *testing.T, sources [][]byte) (all []diagram) {
	t.Helper()
	dir := install(t)
	args := []string{"check.mjs"}
	for i, source := range sources {
		args = append(args, fmt.Sprintf("%d.mmd", i))
		if err := os.WriteFile(filepath.Join(dir, args[i+1]), source, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("node", args...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, _ := cmd.Output() // the output has the error of a refused diagram
	for line := range bytes.Lines(out) {
		var d diagram
		if err := json.Unmarshal(line, &d); err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	if len(all) != len(sources) {
		t.Fatalf("mermaid answers for %d diagrams of %d", len(all), len(sources))
	}
	return all
}

// install installs mermaid with npm beside check.mjs, by package-lock.json.
func install(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("npm"); err != nil {
		t.Fatal("there is no npm: apt-get install npm")
	}
	dir := t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json", "check.mjs"} {
		text, err := os.ReadFile(name)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("npm ci: %v\n%s", err, out)
	}
	return dir
}
