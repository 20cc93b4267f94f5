package demo

import (
	"bytes"
	"html/template"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
)

var (
	gfm     = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))
	drawing = regexp.MustCompile("(?ms)^```mermaid\n.*?^```$")
	alert   = regexp.MustCompile(`<blockquote>\s*<p>\[!([A-Z]+)\]`)
)

// asPage returns the body of a pull request as GitHub shows it: tables, folds and alerts, with a picture in
// place of each mermaid drawing. HTML in it stays, because Graft's folds are HTML; the page allows no scripts
// and no foreign content.
func asPage(body, picture string) (template.HTML, error) {
	body = drawing.ReplaceAllLiteralString(body, "![The upgrade graph](<"+picture+">)")
	var b bytes.Buffer
	if err := gfm.Convert([]byte(body), &b); err != nil {
		return "", err
	}
	return template.HTML(alert.ReplaceAllStringFunc(b.String(), func(m string) string { //nolint:gosec // see above
		word := alert.FindStringSubmatch(m)[1]
		return `<blockquote class="alert ` + strings.ToLower(word) + `"><p><strong>` + word[:1] + strings.ToLower(word[1:]) + "</strong><br>"
	})), nil
}
