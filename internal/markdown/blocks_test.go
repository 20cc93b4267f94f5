package markdown_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/markdown"
)

func TestBlocks(t *testing.T) {
	for want, got := range map[string]string{
		"| a | b |\n|---|---|\n| <code>x\\|y</code> |  |\n\n": markdown.Table([]string{"a", "b"}, [][]string{{markdown.Code("x|y"), ""}}),
		"- a\n- b\n\n": markdown.List([]string{"a", "b"}),
		"<details><summary>s</summary>\n\n- a\n\n</details>\n\n": markdown.Details("s", markdown.List([]string{"a"})),
		"```mermaid\ngraph\n```\n\n":                             markdown.Fence("mermaid", "graph\n```"),
		"> [!NOTE]\n> text\n\n":                                  markdown.Alert("NOTE", "text"),
		"<code>a</code>, <code>&lt;b&gt;</code>":                 markdown.Codes([]string{"a", "<b>"}),
		"`a`":                                                    markdown.Span("a"),
		"`` a`b ``":                                              markdown.Span("a`b"),
		"`  `":                                                   markdown.Span(""),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := markdown.Table([]string{"a"}, nil) + markdown.List(nil) + markdown.Details("s", ""); got != "" {
		t.Errorf("%q of nothing", got)
	}
}

var backquotes = regexp.MustCompile("`+")

// FuzzBlocks checks that foreign text cannot end the block that contains it.
func FuzzBlocks(f *testing.F) {
	for _, s := range []string{"a|b", "\\|", "`", "``` `", "````", "a\n| b", "</code>", "\n```\n", "~~~"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		table := markdown.Table([]string{"a", "b"}, [][]string{{markdown.Code(s), markdown.Code(s)}})
		if n := strings.Count(table, "\n"); n != 4 {
			t.Fatalf("%q has %d lines", table, n)
		}
		row := strings.Split(table, "\n")[2]
		bars := 0
		for i := range len(row) {
			if row[i] == '|' && (i == 0 || row[i-1] != '\\') {
				bars++
			}
		}
		if bars != 3 {
			t.Fatalf("%q has %d bars", row, bars)
		}
		if fence := markdown.Fence("", s+"\n"); strings.Count(fence, "```") != 2 {
			t.Fatalf("%q ends early", fence)
		}
		// A code span ends at the next run of exactly as many backquotes as its start.
		if line := strings.Join(strings.Fields(s), " "); line != "" {
			span := markdown.Span(line)
			runs := backquotes.FindAllString(span, -1)
			for _, run := range runs[1 : len(runs)-1] {
				if run == runs[0] {
					t.Fatalf("%q ends early", span)
				}
			}
		}
	})
}

// Folded keeps the summaries of details, also of nested ones and of those with code.
func TestFolded(t *testing.T) {
	body := "a\n\n" + markdown.Details("one", markdown.List([]string{"x"})+markdown.Details("inner", markdown.Fence("", "<details>\n"))) + markdown.Details("two", markdown.Fence("", "</details>\n")) + "b\n"
	if got := markdown.ForTerminal(markdown.Folded(body)); got != "a\n\n▸ one\n▸ two\n\nb\n" {
		t.Errorf("got\n%s", got)
	}
	if got := markdown.Folded("no details\n"); got != "no details\n" {
		t.Errorf("got %q", got)
	}
}
