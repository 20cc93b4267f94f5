// Package yamledit changes YAML and JSON files without touching any byte that the change does not need. It
// locates nodes with a parser, splices bytes and proves the result: the new text, parsed again, must differ from
// the old text exactly as requested. Otherwise the edit is refused. The package never re-encodes a document.
package yamledit

import (
	"bytes"
	"encoding/json"
	"sort"
	"unicode/utf8"

	"github.com/olmgraft/graft/internal/budget"
	"github.com/olmgraft/graft/internal/failure"
)

// Limits on input. A document larger than MaxDocument may be in a file, because rendered bundles can be large,
// but it cannot be edited.
const (
	MaxFile     = 48 << 20
	MaxDocument = 8 << 20
	MaxDepth    = 200
)

// File is one YAML or JSON text, split into documents that are parsed on demand.
type File struct {
	Name string
	Src  []byte
	Docs []*Doc

	lines []int // offsets at which lines begin, as editors count them
}

// Doc is one document of a file. Start and End bound its content. The separator (---) is part of the content if
// it shares its line with content.
type Doc struct {
	Index      int
	Start, End int
	JSON       bool

	file   *File
	parsed bool
	root   *Node
	err    error
}

// Open splits src into documents. It fails with template-malformed if no YAML reader accepts src. Doc.Root
// reports faults inside a document.
func Open(name string, src []byte) (*File, error) {
	f := &File{Name: name, Src: src}
	if len(src) > MaxFile {
		return nil, f.malformed(0, "reading it: %d MiB is more than a catalog template may have (%d MiB)", len(src)>>20, MaxFile>>20)
	}
	if bytes.HasPrefix(src, []byte{0xFF, 0xFE}) || bytes.HasPrefix(src, []byte{0xFE, 0xFF}) {
		return nil, f.malformed(0, "reading it: UTF-16 text").Fix("Store the file as UTF-8.")
	}
	if at := invalidUTF8(src); at >= 0 {
		return nil, f.malformed(at, "reading it: not valid UTF-8").Fix("Store the file as UTF-8.")
	}
	for _, s := range splitYAML(src) {
		f.addDocs(s)
		if len(f.Docs) > budget.EditedDocuments {
			return nil, f.malformed(0, "reading it: it has more than %d documents", budget.EditedDocuments)
		}
	}
	return f, nil
}

func (f *File) addDocs(s span) {
	if parts := splitJSON(f.Src, s); parts != nil {
		for _, p := range parts {
			f.Docs = append(f.Docs, &Doc{Index: len(f.Docs), Start: p.start, End: p.end, JSON: true, file: f})
		}
		return
	}
	f.Docs = append(f.Docs, &Doc{Index: len(f.Docs), Start: s.start, End: s.end, file: f})
}

// Raw returns the document's bytes.
func (d *Doc) Raw() []byte { return d.file.Src[d.Start:d.End] }

// Root parses the document and returns its top node, or nil if the document is empty.
func (d *Doc) Root() (*Node, error) {
	if !d.parsed {
		d.parsed = true
		d.root, d.err = d.parse()
	}
	return d.root, d.err
}

func (d *Doc) parse() (*Node, error) {
	if d.End-d.Start > MaxDocument {
		return nil, d.file.malformed(d.Start, "parsing the document: %d MiB is more than Graft edits (%d MiB)", (d.End-d.Start)>>20, MaxDocument>>20)
	}
	if d.JSON {
		return d.parseJSON()
	}
	return d.parseYAML()
}

// Position returns the line and column of a byte offset. Both count from 1, columns in characters.
func (f *File) Position(offset int) (line, col int) {
	if f.lines == nil {
		f.lines = append(f.lines, 0)
		for i, b := range f.Src {
			if b == '\n' {
				f.lines = append(f.lines, i+1)
			}
		}
	}
	line = sort.SearchInts(f.lines, offset+1)
	begin := f.lines[line-1]
	if line == 1 {
		begin = bomLen(f.Src)
	}
	if begin > offset {
		begin = offset
	}
	return line, utf8.RuneCount(f.Src[begin:offset]) + 1
}

func (f *File) malformed(offset int, format string, args ...any) *failure.Error {
	line, col := f.Position(offset)
	return failure.New(failure.TemplateMalformed, format, args...).At(f.Name, line, col)
}

func (f *File) refused(offset int, format string, args ...any) *failure.Error {
	line, col := f.Position(offset)
	return failure.New(failure.EditRefused, format, args...).At(f.Name, line, col)
}

type span struct{ start, end int }

// splitYAML splits src at document markers. YAML recognizes them only at the start of a line, whatever the
// context. A part with only comments and directives belongs to the next document; at the end it belongs to no
// document.
func splitYAML(src []byte) []span {
	var spans []span
	start, hasContent, marked := bomLen(src), false, false
	cut := func(end int) {
		if hasContent || marked {
			spans = append(spans, span{start, end})
		}
		start, hasContent, marked = end, false, false
	}
	for at := start; at < len(src) && len(spans) <= budget.EditedDocuments; { // the caller refuses more
		next := lineEnd(src, at)
		line := src[at:next]
		switch {
		case isMarker(line, "---"):
			if hasContent || marked {
				cut(at)
			}
			marked = true
			hasContent = len(trimTrivia(line[3:])) > 0
		case isMarker(line, "..."):
			if hasContent || marked {
				cut(at)
			}
			start = next
		case !hasContent && len(trimTrivia(line)) > 0 && line[0] != '%':
			hasContent = true
		}
		at = next
	}
	cut(len(src))
	return dropEmpty(src, spans)
}

// dropEmpty drops documents that consist of a marker only, as readers of catalogs do.
func dropEmpty(src []byte, spans []span) []span {
	var kept []span
	for _, s := range spans {
		empty := true
		for at := s.start; at < s.end && empty; {
			next := lineEnd(src[:s.end], at)
			line := src[at:next]
			if isMarker(line, "---") {
				line = line[3:]
			}
			empty = len(trimTrivia(line)) == 0 || line[0] == '%'
			at = next
		}
		if !empty {
			kept = append(kept, s)
		}
	}
	return kept
}

func isMarker(line []byte, marker string) bool {
	if !bytes.HasPrefix(line, []byte(marker)) {
		return false
	}
	return len(line) == 3 || line[3] == ' ' || line[3] == '\t' || line[3] == '\n' || line[3] == '\r'
}

func trimTrivia(line []byte) []byte {
	line = bytes.TrimSpace(line)
	if len(line) > 0 && line[0] == '#' {
		return nil
	}
	return line
}

// splitJSON returns the JSON values of a part that consists of JSON values only. Otherwise it returns nil.
func splitJSON(src []byte, s span) []span {
	text := src[s.start:s.end]
	if isMarker(text, "---") {
		return nil
	}
	lead := len(text) - len(bytes.TrimLeft(text, " \t\r\n"))
	if lead == len(text) || text[lead] != '{' && text[lead] != '[' {
		return nil
	}
	var parts []span
	dec := json.NewDecoder(bytes.NewReader(text))
	for {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			if len(bytes.TrimSpace(text[min(int(dec.InputOffset()), len(text)):])) > 0 {
				return nil
			}
			return parts
		}
		end := s.start + int(dec.InputOffset())
		if parts = append(parts, span{end - len(raw), end}); len(parts) > budget.EditedDocuments {
			return parts
		}
	}
}

// lineEnd returns the offset after the line that contains at, including its line break.
func lineEnd(src []byte, at int) int {
	if i := bytes.IndexByte(src[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(src)
}

func bomLen(src []byte) int {
	if bytes.HasPrefix(src, []byte("\xEF\xBB\xBF")) {
		return 3
	}
	return 0
}

func invalidUTF8(src []byte) int {
	if utf8.Valid(src) {
		return -1
	}
	for i := 0; i < len(src); {
		r, n := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}
