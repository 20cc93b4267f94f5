//go:build mermaid

package draw

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// The diagrams are parsed by mermaid itself: MERMAID_CHECK names a folder in which
// testdata/mermaid/package.json has been installed, as .ci/run does.
func TestMermaidParsesDiagrams(t *testing.T) {
	installed := os.Getenv("MERMAID_CHECK")
	if installed == "" {
		t.Fatal("MERMAID_CHECK names no folder with mermaid; see testdata/mermaid/check.mjs")
	}
	dir := t.TempDir()
	var files []string
	var graphs []Graph
	add := func(g Graph, o Options) {
		file := filepath.Join(dir, fmt.Sprintf("%d.mmd", len(files)))
		if err := os.WriteFile(file, Mermaid(g, o), 0o600); err != nil {
			t.Fatal(err)
		}
		files, graphs = append(files, file), append(graphs, g)
	}
	add(demo(t), Options{})
	add(long(t, 400), Options{Radius: All})
	for _, name := range hostile {
		ch := newChannel(t, name, "1.0.0; 1.1.0 <1.0.0 -1.0.0 ~1.0.0 *new *head")
		ch.Nodes[0] = Node{Name: name}
		add(Graph{[]Package{{Name: name, Channels: []Channel{ch}}}}, Options{})
	}
	r := rand.New(rand.NewPCG(6, 6))
	for range 60 {
		add(random(r), Options{Radius: r.IntN(4) - 1})
	}
	for i, said := range parseWithMermaid(t, installed, files) {
		if said.Error != "" {
			source, _ := os.ReadFile(files[i])
			t.Errorf("mermaid: %s\n%s", said.Error, source)
			continue
		}
		checkWhatMermaidRead(t, said, files[i])
		if first := graphs[i].Packages[0].Channels; i > 1 && i < 2+len(hostile) {
			want := decodeMermaid(mermaidText(cell{Node: first[0].Nodes[0]}.label()))
			if got := said.Nodes[0].Text; got != want {
				t.Errorf("mermaid reads %q of %q", got, want)
			}
		}
	}
	t.Logf("mermaid parsed %d diagrams", len(files))
}

// mermaidSays is what testdata/mermaid/check.mjs prints of a diagram.
type mermaidSays struct {
	File, Error string
	Nodes       []struct {
		Text    string
		Classes []string
	}
	Edges []struct {
		From, To, Stroke, Type string
		Style                  []string
	}
	Subgraphs []string
}

// checkWhatMermaidRead compares what mermaid made of a diagram with its text.
func checkWhatMermaidRead(t *testing.T, said mermaidSays, file string) {
	t.Helper()
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	edges := checkMermaid(t, source)
	nodes := len(regexp.MustCompile(`(?m)^ +(?:n\d+|more)(?:\[|\(\[)`).FindAll(source, -1))
	subgraphs := len(regexp.MustCompile(`(?m)^ +subgraph `).FindAll(source, -1))
	if len(said.Nodes) != nodes || len(said.Edges) != edges || len(said.Subgraphs) != subgraphs {
		t.Errorf("mermaid reads %d nodes, %d edges, %d subgraphs; want %d, %d, %d of\n%s",
			len(said.Nodes), len(said.Edges), len(said.Subgraphs), nodes, edges, subgraphs, source)
	}
	for _, n := range said.Nodes {
		if len(n.Classes) != 1 {
			t.Errorf("%q has the classes %v", n.Text, n.Classes)
		}
	}
}

func parseWithMermaid(t *testing.T, installed string, files []string) (all []mermaidSays) {
	t.Helper()
	script, err := os.ReadFile(filepath.Join("testdata", "mermaid", "check.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", append([]string{"--input-type=module", "-"}, files...)...)
	cmd.Dir, cmd.Stdin, cmd.Stderr = installed, bytes.NewReader(script), os.Stderr
	out, _ := cmd.Output() // a diagram that is refused is in the output
	for line := range bytes.Lines(out) {
		var said mermaidSays
		if err := json.Unmarshal(line, &said); err != nil {
			t.Fatal(err)
		}
		all = append(all, said)
	}
	if len(all) != len(files) {
		t.Fatalf("mermaid answers for %d diagrams of %d", len(all), len(files))
	}
	return all
}
