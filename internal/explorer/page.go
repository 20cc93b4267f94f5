package explorer

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html"
	"strings"

	"github.com/olmgraft/graft/internal/draw"
)

//go:embed page
var files embed.FS

// scripts lists the files of the page's program in reading order.
var scripts = []string{"data.js", "search.js", "path.js", "lanes.js", "details.js", "panel.js", "main.js"}

// Served returns the page for a server, and its version. The page contains its version and compares it with the
// one that the server sends at /events.
func Served(platforms []Platform, o Options) (page []byte, version string) {
	page = Page(platforms, o)
	version = fmt.Sprintf("%x", sha256.Sum256(page))
	return bytes.Replace(page, []byte("<body>"), []byte(`<body data-version="`+version+`">`), 1), version
}

// Page returns the HTML file.
func Page(platforms []Platform, o Options) []byte {
	s := newSet(platforms, o)
	packages := []packageData{}
	for _, name := range s.names() {
		packages = append(packages, s.pack(name))
	}
	style, script := draw.Style()+file("page.css"), program()
	connect := ""
	if o.Live {
		connect = " connect-src 'self';"
	}
	var b bytes.Buffer
	b.WriteString("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
	fmt.Fprintf(&b, `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src '%s'; style-src '%s'; img-src data:;%s base-uri 'none'; form-action 'none'">`+"\n",
		hashOf(script), hashOf(style), connect)
	b.WriteString(`<meta name="viewport" content="width=device-width, initial-scale=1">` + "\n" + `<meta name="referrer" content="no-referrer">` + "\n")
	b.WriteString(`<link rel="icon" href="data:,">` + "\n")
	fmt.Fprintf(&b, "<title>%s</title>\n<style>%s</style>\n</head>\n", html.EscapeString(titleOf(packages)), style)
	b.WriteString(file("page.html"))
	block(&b, "index", s.index(packages))
	for i, p := range packages {
		block(&b, fmt.Sprintf("package-%d", i), p)
	}
	fmt.Fprintf(&b, "<script>%s</script>\n</body>\n</html>\n", script)
	return b.Bytes()
}

// block writes data into the page. Base64 has no characters with a meaning in HTML.
func block(b *bytes.Buffer, id string, v any) {
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(encode(v))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic("compressing into memory cannot fail: " + err.Error())
	}
	fmt.Fprintf(b, "<script type=\"application/json\" id=\"%s\">%s</script>\n", id, base64.StdEncoding.EncodeToString(packed.Bytes()))
}

// program returns the page's script. None of its names is visible outside of it.
func program() string {
	var b strings.Builder
	b.WriteString("(() => {\n'use strict';\n")
	for _, name := range scripts {
		b.WriteString(file(name))
	}
	b.WriteString("})();\n")
	return b.String()
}

func file(name string) string {
	text, err := files.ReadFile("page/" + name)
	if err != nil {
		panic("a file of the page is embedded: " + err.Error())
	}
	return string(text)
}

// hashOf returns the name of a script or style in a content security policy.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
