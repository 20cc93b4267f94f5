// Package markdown writes the Markdown of forges: pure functions over text. What comes from
// outside of Graft is shown as it is, and never read as markup, a mention or a command.
package markdown

import (
	"strings"
)

// A block ends with an empty line, and is "" without anything in it.

// Table has a row of cells for each of rows. A cell is Markdown on one line, as Code and Codes make.
func Table(header []string, rows [][]string) string {
	if len(rows) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("| " + strings.Join(header, " | ") + " |\n" + strings.Repeat("|---", len(header)) + "|\n")
	for _, row := range rows {
		for _, cell := range row {
			b.WriteString("| " + cell + " ")
		}
		b.WriteString("|\n")
	}
	return b.String() + "\n"
}

// List has an item for each text, which is Markdown.
func List(items []string) string {
	if len(items) == 0 {
		return ""
	}
	return "- " + strings.Join(items, "\n- ") + "\n\n"
}

// Details folds blocks below a summary.
func Details(summary, blocks string) string {
	if blocks == "" {
		return ""
	}
	return "<details><summary>" + summary + "</summary>\n\n" + blocks + "</details>\n\n"
}

// Fence shows lines as they are, but for what would end it.
func Fence(language, lines string) string {
	return "```" + language + "\n" + strings.ReplaceAll(lines, "```", "") + "```\n\n"
}

// Alert sets a line of Markdown off: NOTE or WARNING.
func Alert(kind, line string) string { return "> [!" + kind + "]\n> " + line + "\n\n" }

// Codes are texts from outside, each as Code, with commas.
func Codes(all []string) string {
	var out []string
	for _, s := range all {
		out = append(out, Code(s))
	}
	return strings.Join(out, ", ")
}

// Span is one line in backquotes, whatever it holds, for readers that show no HTML.
func Span(line string) string {
	fence := "`"
	for strings.Contains(line, fence) {
		fence += "`"
	}
	if len(fence) > 1 || line == "" {
		line = " " + line + " "
	}
	return fence + line + fence
}
