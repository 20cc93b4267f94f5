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

var update = flag.Bool("update", false, "rewrite the index")

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

// index is the table in README.md.
func index(recipes []formulary.Recipe) string {
	var b strings.Builder
	b.WriteString("| recipe | | semver | basic | goodstuff | fbc |\n|---|---|---|---|---|---|\n")
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

func TestParseRefuses(t *testing.T) {
	const sound = "# T\n\n## When\n\nw\n\n## semver\n\nno\n\n## basic\n\ny\n\n```sh yq\nyq\n```\n\n## goodstuff\n\nno\n\n## fbc\n\nno\n\n## What it gets wrong\n\nx\n"
	if _, err := formulary.Parse("sound", sound); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, old, new, want string }{
		{"no title", "# T\n", "T\n", "no title"},
		{"an empty section", "\nno\n\n## basic", "\n## basic", "semver says nothing"},
		{"a section is missing", "## semver\n\nno\n\n", "", "its sections are"},
		{"sections in another order", "## basic\n\ny", "## goodstuff\n\ny", "its sections are"},
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

// No section leaves anything out: what it commands it shows, and each tool has its turn.
func TestSectionsAreComplete(t *testing.T) {
	recipes, err := formulary.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range recipes {
		for _, k := range r.Kinds {
			for _, lack := range lacks(section{k}) {
				t.Errorf("%s, %s: %s", r.Name, k.Name, lack)
			}
		}
	}
}

type section struct{ formulary.Kind }

func (s section) has(language, role string) bool { return has(s.Blocks, language, role) }

func has(blocks []formulary.Block, language, role string) bool {
	return slices.ContainsFunc(blocks, func(b formulary.Block) bool { return b.Language == language && b.Role == role })
}

// lacks is what a section leaves out.
func lacks(s section) (all []string) {
	if len(s.Blocks) == 0 {
		return nil
	}
	hold := func(is bool, format string, args ...any) {
		if !is {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	for _, want := range []string{"yq", "jq"} {
		hold(s.has("sh", want), "there is no command for %s", want)
	}
	hold(s.has("diff", "yq"), "what yq does is not shown")
	hold(s.has("sh", "graft") != strings.Contains(s.Text, "Graft has no verb for this"), "there is neither a command for graft nor word that there is none, or both")
	hold(s.has("sh", "graft") || s.has("sh", "check"), "there is neither a command for graft nor a check")
	roles := []string{"variables", "check", "yq", "jq", "graft", "shell", "naive", "refused"}
	for i, b := range s.Blocks {
		before := s.Blocks[:i]
		switch b.Language {
		case "yaml":
		case "sh":
			hold(slices.Contains(roles, b.Role), "%s is no role of a command", b.Role)
			hold(b.Role != "jq" || has(before, "sh", "yq"), "jq stands before yq")
			shown := s.has("diff", b.Role) || s.has("text", b.Role) || b.Role == "variables" || b.Role == "jq"
			judged := b.Role == "naive" && i+1 < len(s.Blocks) && has(s.Blocks[i+1:i+2], "sh", "check")
			hold(shown || judged, "what %s does is not shown", b.Role)
		case "diff", "text":
			hold(has(before, "sh", b.Role), "a %s of %s stands before its command", b.Language, b.Role)
			hold(b.Language != "diff" || b.Role != "graft" || len(b.Words) == 1 && slices.Contains([]string{"same", "reordered", "differs"}, b.Words[0]),
				"how graft's result compares with yq's is said to be %q", b.Words)
		default:
			hold(false, "a block is %s", b.Language)
		}
	}
	return all
}

// Each of them is missed.
func TestWhatIsLeftOutIsFound(t *testing.T) {
	sound := []string{"yaml a.yaml", "sh yq", "diff yq", "sh jq", "sh graft", "diff graft same", "sh naive", "sh check", "text check"}
	for _, test := range []struct{ old, new, text, want string }{
		{"", "", "", ""},
		{"sh jq", "", "", "there is no command for jq"},
		{"sh yq", "", "", "there is no command for yq"},
		{"diff yq", "", "", "what yq does is not shown"},
		{"", "", "Graft has no verb for this.", "nor word that there is none, or both"},
		{"sh graft", "", "", "nor word that there is none, or both"},
		{"sh graft", "sh sed", "", "sed is no role"},
		{"sh yq", "sh jq", "", "jq stands before yq"},
		{"diff graft same", "", "", "what graft does is not shown"},
		{"sh check", "", "", "what naive does is not shown"},
		{"diff graft same", "diff graft", "", "is said to be []"},
		{"diff graft same", "diff graft alike", "", `is said to be ["alike"]`},
		{"sh yq", "diff yq", "", "a diff of yq stands before its command"},
		{"yaml a.yaml", "text check", "", "a text of check stands before its command"},
		{"sh jq", "python jq", "", "a block is python"},
	} {
		s := section{formulary.Kind{Text: test.text}}
		for _, block := range sound {
			if block == test.old {
				block = test.new
			}
			if words := strings.Fields(block); len(words) > 0 {
				s.Blocks = append(s.Blocks, formulary.Block{Language: words[0], Role: words[1], Words: words[2:]})
			}
		}
		if got := strings.Join(lacks(s), "\n"); !strings.Contains(got, test.want) || test.want == "" && got != "" {
			t.Errorf("%q in place of %q: %q, want %q", test.new, test.old, got, test.want)
		}
	}
	alone := section{formulary.Kind{Text: "Graft has no verb for this.", Blocks: []formulary.Block{{Language: "sh", Role: "yq"}}}}
	if got := strings.Join(lacks(alone), "\n"); !strings.Contains(got, "nor a check") {
		t.Errorf("without a check: %q", got)
	}
}
