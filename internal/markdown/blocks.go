// Package markdown writes Markdown for forges with pure functions over text. It shows foreign text unchanged, and
// never lets it act as markup, a mention or a command.
package markdown

import (
	"strings"
)

// Every block ends with an empty line. A block without content is "".

// Table writes a table with one row for each element of rows. A cell is one line of Markdown, such as the result
// of Code or Codes.
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

// List writes a list. Each item is Markdown.
func List(items []string) string {
	if len(items) == 0 {
		return ""
	}
	return "- " + strings.Join(items, "\n- ") + "\n\n"
}

// Details writes blocks folded below a summary.
func Details(summary, blocks string) string {
	if blocks == "" {
		return ""
	}
	return "<details><summary>" + summary + "</summary>\n\n" + blocks + "</details>\n\n"
}

// Fence writes lines as a code block. It removes text that would end the block.
func Fence(language, lines string) string {
	return "```" + language + "\n" + strings.ReplaceAll(lines, "```", "") + "```\n\n"
}

// Alert highlights a line of Markdown as NOTE or WARNING.
func Alert(kind, line string) string { return "> [!" + kind + "]\n> " + line + "\n\n" }

// Codes applies Code to each foreign text and joins them with commas.
func Codes(all []string) string {
	var out []string
	for _, s := range all {
		out = append(out, Code(s))
	}
	return strings.Join(out, ", ")
}

// Span writes any line in backquotes, for readers that do not show HTML.
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
