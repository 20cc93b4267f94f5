package fbc

import (
	"bytes"
	"regexp"
	"unicode/utf8"

	"github.com/olmgraft/graft/internal/fbc/canonical"
)

// lineWidth is the column after which opm folds a text at the next space.
const lineWidth = 80

// Exact reports whether the source already has opm's bytes for the document's format, so that Blob would return
// the same body. It is cheaper than Blob for YAML bundles, because it checks their manifests line by line.
func (d *Doc) Exact() bool {
	if !d.canonical || d.Schema != SchemaBundle || rareEscape.Match(d.raw) {
		b, err := d.Blob(d.Format)
		return err == nil && bytes.Equal(b.Body, d.raw)
	}
	l := lines{text: d.raw, sought: "properties", strict: true}
	if !canonical.BasicPlane(d.raw) || !l.walk() || !l.objectsAreJSON() && d.CheckObjects() != nil {
		return false
	}
	// The rest of the bundle is small enough to encode it.
	rest := *d
	var ok bool
	if rest.raw, ok = l.light("  value: {}\n"); !ok {
		return false
	}
	b, err := rest.Bundle()
	if err != nil {
		return false
	}
	written, err := Marshal(b)
	if err != nil {
		return false
	}
	body, err := Encode(YAML, written)
	return err == nil && bytes.Equal(body, rest.raw)
}

// rareEscape matches escapes that only the library writes.
var rareEscape = regexp.MustCompile(`\\(?:[LNPr]|uFEFF)`)

// exactKey reports whether a key is written as opm writes it and sorts after the previous key.
func (l *lines) exactKey(raw, key []byte) bool {
	top := &l.open[len(l.open)-1]
	if top.last != nil && canonical.CompareKeys(top.last, key) >= 0 {
		return false
	}
	top.last = key
	if raw[0] == '"' || raw[0] == '\'' {
		return canonical.WrittenQuoted(raw, top.indent, l.column(), true)
	}
	return canonical.WrittenPlain(key)
}

// column returns the number of characters before the current position on its line.
func (l *lines) column() int {
	start := bytes.LastIndexByte(l.text[:l.pos], '\n') + 1
	return utf8.RuneCount(l.text[start:l.pos])
}

// exactPlain checks one line, from start to end, of the unquoted text at the current position. first marks its
// first line; more reports that it continues at next.
func (l *lines) exactPlain(start, end int, first, more bool, next int) bool {
	text := l.text[l.pos:end]
	if first && !more && !canonical.WrittenPlain(text) {
		return false
	}
	if first && (bytes.HasPrefix(text, []byte("---")) || bytes.HasPrefix(text, []byte("..."))) {
		return false
	}
	if more && next-end-1 != l.top().indent+2 {
		return false
	}
	return exactLine(l.text[start:end], l.pos-start, more)
}

// exactLine checks one line of an unquoted text that begins at an offset of the line. Such a text continues on
// another line only if this line is wide enough. It must not contain an earlier space at which opm would have
// folded it.
func exactLine(line []byte, from int, more bool) bool {
	if more && utf8.RuneCount(line) <= lineWidth {
		return false
	}
	for i := max(from, lineWidth+1); i < len(line); i++ {
		at := bytes.IndexByte(line[i:], ' ')
		if at < 0 {
			return true
		}
		i += at
		if line[i-1] != ' ' && line[i+1] != ' ' && utf8.RuneCount(line[:i]) > lineWidth {
			return false
		}
	}
	return true
}

// exactLiteral checks a literal block by its header and its lines.
func exactLiteral(header string, body []byte, indent int) bool {
	blank := 0 // blank lines at the end
	for n := len(body); n > 1 && body[n-1] == '\n' && body[n-2] == '\n'; n-- {
		blank++
	}
	first := leading(body)
	hint := body[0] == '\n' || first > indent
	switch {
	case bytes.Contains(body, []byte(" \n")), hint != (len(header) > 1 && header[1] == '2'):
		return false
	case body[0] == '\n' && len(bytes.TrimLeft(body, "\n")) == 0:
		return header == "|2+"
	case blank > 0:
		return header[len(header)-1] == '+'
	case header[len(header)-1] == '-':
		return bytes.Count(body, []byte("\n")) > 1
	}
	return header[len(header)-1] != '+'
}
