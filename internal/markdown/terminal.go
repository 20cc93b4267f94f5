package markdown

import (
	"html"
	"regexp"
	"strings"
	"unicode/utf8"
)

var (
	hiddenComment = regexp.MustCompile(`(?s)<!--.*?-->\n*`)
	mermaidBlock  = regexp.MustCompile("(?s)\n\n```mermaid\n.*?\n```")
	alertLine     = regexp.MustCompile(`(?m)^> \[!([A-Z]+)\]\n> `)
	foldedPart    = regexp.MustCompile(`<details><summary>(.*?)</summary>`)
	bareMarkup    = regexp.MustCompile("</?code>|</details>\n*|```\n?|\\*\\*")
	escapedByte   = regexp.MustCompile(`\\([!-/:-@\[-` + "`" + `{-~])`)
	blankLines    = regexp.MustCompile(`\n{3,}`)
)

// ForTerminal converts Markdown written by this package for a terminal: without markup, with tables in columns
// and a short text in place of the graph's picture.
func ForTerminal(body string) string {
	body = hiddenComment.ReplaceAllString(body, "")
	body = mermaidBlock.ReplaceAllString(body, " (a picture)")
	body = alertLine.ReplaceAllString(body, "$1: ")
	body = foldedPart.ReplaceAllString(body, "▸ $1")
	body = bareMarkup.ReplaceAllString(body, "")
	var out []string
	lines := strings.Split(html.UnescapeString(body), "\n")
	for i := 0; i < len(lines); i++ {
		var table [][]string
		for ; i < len(lines) && strings.HasPrefix(lines[i], "| "); i++ {
			table = append(table, cells(lines[i]))
			if i+1 < len(lines) && strings.HasPrefix(lines[i+1], "|--") {
				i++
			}
		}
		out = append(out, columns(table)...)
		if i < len(lines) {
			out = append(out, escapedByte.ReplaceAllString(lines[i], "$1"))
		}
	}
	return strings.TrimSpace(blankLines.ReplaceAllString(strings.Join(out, "\n"), "\n\n")) + "\n"
}

// Folded removes the content of details blocks and keeps their summaries, adjacent ones without empty lines
// between them.
func Folded(body string) string {
	var out []string
	var at place
	for line := range strings.Lines(body) {
		was := at.details
		if at = at.after(line); was > 0 {
			continue
		}
		if at.details > 0 && len(out) > 1 && out[len(out)-1] == "\n" && strings.HasPrefix(out[len(out)-2], "<details>") {
			out = out[:len(out)-1]
		}
		out = append(out, line)
	}
	return strings.Join(out, "")
}

func cells(row string) []string {
	all := strings.Split(strings.Trim(row, "|"), "|")
	for i := range all {
		all[i] = escapedByte.ReplaceAllString(strings.TrimSpace(all[i]), "$1")
	}
	return all
}

// columns pads the cells of a table to the width of their column.
func columns(table [][]string) (lines []string) {
	var widths []int
	for _, row := range table {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range table {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell + strings.Repeat(" ", widths[i]+2-utf8.RuneCountInString(cell)))
		}
		lines = append(lines, strings.TrimRight(line.String(), " "))
	}
	return lines
}
