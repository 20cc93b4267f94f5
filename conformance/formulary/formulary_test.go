// Package formulary runs the recipes of the formulary with their programs: yq, which this module's go.mod
// names, and Debian's jq. The tests beside the pages need no program.
package formulary

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/olmgraft/graft/formulary"
)

// pages is the folder of the recipes.
const pages = "../../formulary"

var update = flag.Bool("update", false, "rewrite what the recipes print")

// TestRecipes runs every command of every recipe and compares the output below it.
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
				t.Fatalf("%s.md is stale: go test . -update, in conformance/formulary, rewrites it", r.Name)
			}
			if err := os.WriteFile(filepath.Join(pages, r.Name+".md"), []byte(now), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// README.md names the version of yq that runs the recipes.
func TestVersionOfYQ(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(pages, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	said := regexp.MustCompile(`\byq (v[0-9.]*[0-9])\b`).FindStringSubmatch(string(text))
	out, err := exec.Command(tool(t, "yq"), "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	if is := strings.TrimSpace(string(out)); said == nil || !strings.HasSuffix(is, " version "+said[1]) {
		t.Errorf("README.md says %q, and this is %s", said, is)
	}
}

// The side effects of yq that README.md describes, with a command that changes nothing.
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
