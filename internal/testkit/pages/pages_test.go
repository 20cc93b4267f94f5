package pages

import (
	"reflect"
	"testing"
)

func TestSplit(t *testing.T) {
	for line, want := range map[string][][]string{
		`graft verify a.yaml`:                                   {{"graft", "verify", "a.yaml"}},
		`graft edges --replaces '' "a b" # why`:                 {{"graft", "edges", "--replaces", "", "a b"}},
		`graft graph a > b.svg 2> log`:                          {{"graft", "graph", "a"}},
		`graft man | man -l -`:                                  {{"graft", "man"}, {"man", "-l", "-"}},
		`cd x && A=b go test -run 'A|B' .`:                      {{"cd", "x"}, {"go", "test", "-run", "A|B", "."}},
		`go run ./cmd/graft detect a`:                           {{"graft", "detect", "a"}},
		`go run ./cmd/graft-demo`:                               {{"graft-demo"}},
		`go run ./bench -opm opm`:                               {{"go", "run", "./bench", "-opm", "opm"}},
		`graft catalogsource convert --to new|legacy FILE...|-`: {{"graft", "catalogsource", "convert", "--to", "new|legacy", "FILE...|-"}},
	} {
		if got := Split(line); !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %q, want %q", line, got, want)
		}
	}
}

func TestParse(t *testing.T) {
	p := Parse("x.md", []byte("A `span`.\n\nOn a cluster:\n\n    kubectl apply \\\n      -k x\n    some output\n\n```\n$ graft version\ngraft dev\n```\n\n```yaml\ngraft: no\n```\n\n| id | x |\n|---|---|\n| `one` | y |\n"))
	if want := []Span{{1, "span"}, {20, "one"}}; !reflect.DeepEqual(p.Spans, want) {
		t.Errorf("spans %v", p.Spans)
	}
	if want := []Command{{"x.md", 5, []string{"kubectl", "apply", "-k", "x"}, ".", "On a cluster:"}, {"x.md", 10, []string{"graft", "version"}, ".", "some output"}}; len(p.Commands) != 2 || !reflect.DeepEqual(p.Commands[0], want[0]) || p.Commands[1].Line != 10 {
		t.Errorf("commands %+v", p.Commands)
	}
	if want := [][]string{{"id", "one"}}; !reflect.DeepEqual(p.Tables, want) {
		t.Errorf("tables %v", p.Tables)
	}
}
