package formulary_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/olmgraft/graft/formulary"
)

var update = flag.Bool("update", false, "rewrite what the recipes print, and the index")

// TestRecipes runs every command of every recipe and holds what stands below it.
func TestRecipes(t *testing.T) {
	recipes, err := formulary.All()
	if err != nil {
		t.Fatal(err)
	}
	k := newTools(t)
	for _, r := range recipes {
		t.Run(r.Name, func(t *testing.T) {
			now := r.Page
			for _, kind := range slices.Backward(r.Kinds) {
				c := &runner{tools: k, kind: kind}
				t.Run(kind.Name, func(t *testing.T) { now = c.run(t, now) })
			}
			if now == r.Page {
				return
			}
			if !*update {
				t.Fatalf("%s.md is stale: go test ./formulary -update rewrites it", r.Name)
			}
			if err := os.WriteFile(r.Name+".md", []byte(now), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// Every page is a recipe of the index, and the index is made of them.
func TestIndex(t *testing.T) {
	recipes, err := formulary.All()
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	if len(pages) != len(recipes)+1 {
		t.Errorf("%d pages and %d recipes: a page is not in the list", len(pages)-1, len(recipes))
	}
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), "<!-- recipes -->\n")
	_, after, closed := strings.Cut(rest, "<!-- /recipes -->")
	if !ok || !closed {
		t.Fatal("README.md has no place for the recipes")
	}
	want := before + "<!-- recipes -->\n\n" + index(recipes) + "\n<!-- /recipes -->" + after
	if *update {
		if err := os.WriteFile("README.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(text) != want {
		t.Error("README.md is stale: go test ./formulary -update rewrites it")
	}
}

func TestParseRefuses(t *testing.T) {
	const sound = "# T\n\n## When\n\nw\n\n## semver\n\nno\n\n## basic\n\ny\n\n```sh yq\nyq\n```\n\n## fbc\n\nno\n\n## What it gets wrong\n\nx\n"
	if _, err := formulary.Parse("sound", sound); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, old, new, want string }{
		{"no title", "# T\n", "T\n", "no title"},
		{"an empty section", "\nno\n\n## basic", "\n## basic", "semver says nothing"},
		{"a section is missing", "## semver\n\nno\n\n", "", "its sections are"},
		{"sections in another order", "## basic\n\ny", "## fbc\n\ny", "its sections are"},
		{"a block without a role", "```sh yq\n", "```sh\n", "no role"},
		{"a block that is not closed", "yq\n```\n", "yq\n", "not closed"},
		{"a command where none is run", "\nw\n", "\nw\n\n```sh yq\nyq\n```\n", "has a command"},
	} {
		t.Run(test.name, func(t *testing.T) {
			page := strings.Replace(sound, test.old, test.new, 1)
			if _, err := formulary.Parse("r", page); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

// What README.md says that yq does to a file besides, with a command that changes
// nothing.
func TestWhatYQDoesBesides(t *testing.T) {
	k := newTools(t)
	for _, test := range []struct{ name, flags, in, out string }{
		{"blank lines go", "", "a: 1\n\nb: 2\n\n# c\n\nd: 3\n", "a: 1\nb: 2\n# c\nd: 3\n"},
		{"lists are indented", "", "a:\n- b:\n  - c\n", "a:\n  - b:\n      - c\n"},
		{"or not at all", "-c", "a:\n  - b:\n      - c\n", "a:\n- b:\n  - c\n"},
		{"the spaces before a comment go", "", "a: 1   # one\n", "a: 1 # one\n"},
		{"line ends become those of Unix", "", "a: 1\r\nb: 2\r\n", "a: 1\nb: 2\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, map[string]string{"a.yaml": test.in})
			c := &runner{tools: k}
			if said := c.sh(t, dir, "yq -i "+test.flags+" . a.yaml"); said != "exit 0\n" {
				t.Fatal(said)
			}
			if got := read(t, dir)["a.yaml"]; got != test.out {
				t.Errorf("%q became %q, want %q", test.in, got, test.out)
			}
		})
	}
}

// index is the table in README.md.
func index(recipes []formulary.Recipe) string {
	var b strings.Builder
	b.WriteString("| recipe | | semver | basic | fbc |\n|---|---|---|---|---|\n")
	for _, r := range recipes {
		fmt.Fprintf(&b, "| [%s](%s.md) | %s |", r.Name, r.Name, r.Title)
		for _, k := range r.Kinds {
			mark := " no "
			if len(k.Blocks) > 0 {
				mark = " yes "
			}
			b.WriteString(mark + "|")
		}
		b.WriteString("\n")
	}
	return b.String()
}
