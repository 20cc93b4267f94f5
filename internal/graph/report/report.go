// Package report writes the results of package graph: findings as text, JSON and SARIF, changes as text, JSON and
// Markdown. It makes no decisions.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/olmgraft/graft/internal/graph"
)

// Schema is the version of the JSON reports.
const Schema = 1

// Style is the style of text output.
type Style struct {
	Color bool // for a terminal
}

func (s Style) paint(code, text string) string {
	if !s.Color || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

const (
	red    = "31"
	green  = "32"
	yellow = "33"
	bold   = "1"
)

// Text writes findings grouped by package and channel, one line each, then the remedies of the kinds that occur,
// and a count.
func Text(w io.Writer, found []graph.Finding, style Style) error {
	p := &printer{w: w}
	group := "\x00"
	for _, f := range found {
		if g := groupOf(f); g != group {
			group = g
			p.line("%s", style.paint(bold, visible(g)))
		}
		level := style.paint(map[graph.Level]string{graph.Error: red, graph.Warning: yellow}[f.Level], string(f.Level))
		p.line("  %s%s %s: %s", visible(place(f)), level, f.ID, visible(f.Message))
	}
	p.remedies(found, style)
	p.line("%s", Summary(found))
	return p.err
}

// Summary counts findings, as in "2 errors, 1 warning".
func Summary(found []graph.Finding) string {
	errors, warnings := counts(found)
	if errors+warnings == 0 {
		return "no findings"
	}
	return number(errors, "error") + ", " + number(warnings, "warning")
}

func counts(found []graph.Finding) (errors, warnings int) {
	for _, f := range found {
		if f.Level == graph.Error {
			errors++
		} else {
			warnings++
		}
	}
	return errors, warnings
}

func number(n int, of string) string {
	if n != 1 {
		of += "s"
	}
	return fmt.Sprintf("%d %s", n, of)
}

func groupOf(f graph.Finding) string {
	switch {
	case f.Package == "":
		return "catalog"
	case f.Channel == "":
		return "package " + f.Package
	}
	return "package " + f.Package + ", channel " + f.Channel
}

func place(f graph.Finding) string {
	switch {
	case f.File == "":
		return ""
	case f.Line == 0:
		return f.File + ": "
	}
	return fmt.Sprintf("%s:%d: ", f.File, f.Line)
}

// remedies lists the remedies, once for each kind of finding.
func (p *printer) remedies(found []graph.Finding, style Style) {
	seen := map[string]bool{}
	for _, f := range found {
		if seen[f.ID] {
			continue
		}
		if len(seen) == 0 {
			p.line("%s", style.paint(bold, "what to do"))
		}
		seen[f.ID] = true
		p.line("  %s: %s", f.ID, visible(f.Remedy))
	}
}

// JSON writes findings as one object.
func JSON(w io.Writer, found []graph.Finding) error {
	type one struct {
		graph.Finding
		Code  int    `json:"code"`
		Class string `json:"class"`
	}
	errors, warnings := counts(found)
	doc := struct {
		SchemaVersion int   `json:"schemaVersion"`
		OK            bool  `json:"ok"`
		Errors        int   `json:"errors"`
		Warnings      int   `json:"warnings"`
		Findings      []one `json:"findings"`
	}{Schema, errors == 0, errors, warnings, []one{}}
	for _, f := range found {
		doc.Findings = append(doc.Findings, one{f, int(f.Code()), f.Code().Class()})
	}
	return writeJSON(w, doc)
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// printer writes lines until a write fails.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, args ...any) { p.print(fmt.Sprintf(format+"\n", args...)) }

func (p *printer) print(text string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, text)
	}
}

// visible escapes control characters, so that text from a catalog stays on its line and does not control the
// terminal.
func visible(s string) string {
	control := func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 }
	if !strings.ContainsFunc(s, control) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if control(r) {
			fmt.Fprintf(&b, "\\u%04x", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
