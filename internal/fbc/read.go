package fbc

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/olmgraft/graft/internal/fbc/yaml11"
)

// Read indexes one file, a stream of YAML or JSON documents. What opm cannot
// load is template-malformed: text that does not parse, a document without a
// schema, a key in two cases. Documents in the layout that opm writes take a
// fast path; the result is the same. More than half a million documents in one
// file are refused, though opm would try.
func Read(file string, src []byte) ([]Doc, error) {
	r := reader{file: file, src: src}
	var err error
	if looksLikeJSON(src) {
		err = r.jsonStream()
	} else {
		err = r.yamlStream(0)
	}
	if err != nil {
		return nil, err
	}
	return r.docs, nil
}

type reader struct {
	file    string
	src     []byte
	docs    []Doc
	counted int // bytes whose lines are counted
	lines   int
	slow    bool // the fast path is not to be taken
	members []yaml11.Member
	scratch []byte // for documents that are converted only to see that they can be
}

// looksLikeJSON decides as opm does: by the first character, if it comes early.
func looksLikeJSON(src []byte) bool {
	head := src[:min(len(src), 4096)]
	return bytes.HasPrefix(bytes.TrimLeftFunc(head, unicode.IsSpace), []byte("{"))
}

// doc begins a document at an offset.
func (r *reader) doc(start, end int, f Format) Doc {
	if start < r.counted { // what was no JSON is read again as YAML
		r.counted, r.lines = 0, 0
	}
	r.lines += bytes.Count(r.src[r.counted:start], []byte("\n"))
	r.counted = start
	return Doc{
		File: r.file, Line: r.lines + 1, Start: start, End: end, Format: f,
		raw: r.src[start:end:end], lines: r.lines, col: start - 1 - bytes.LastIndexByte(r.src[:start], '\n'),
	}
}

const maxDocs = 500_000

func (r *reader) add(d *Doc) error {
	if len(r.docs) == maxDocs {
		return d.fail(fmt.Errorf("more than %d documents in one file", maxDocs))
	}
	r.docs = append(r.docs, *d)
	return nil
}

// yamlStream reads documents that lines beginning with --- separate. Such a
// line separates wherever it stands, inside quotes as well. Before any content
// it opens a document, so that two of them in a row enclose an empty one.
func (r *reader) yamlStream(pos int) error {
	for opened := false; pos < len(r.src) || opened; {
		end := separator(r.src, pos)
		if opened || end > pos {
			d := r.doc(pos, end, YAML)
			if err := r.yamlDoc(&d); err != nil {
				return err
			}
			if err := r.add(&d); err != nil {
				return err
			}
			opened = false
		} else {
			opened = true
		}
		if end == len(r.src) {
			return nil
		}
		rest, _, _ := bytes.Cut(r.src[end+len("---"):], []byte("\n"))
		if text := bytes.TrimSpace(rest); len(text) > 0 && text[0] != '#' {
			d := r.doc(end, end, YAML)
			return d.fail(errors.New("a line that begins with --- goes on with something else than a comment"))
		}
		pos = min(end+len("---")+len(rest)+1, len(r.src))
	}
	return nil
}

// separator gives the offset of the next line that begins with ---.
func separator(src []byte, pos int) int {
	if bytes.HasPrefix(src[pos:], []byte("---")) {
		return pos
	}
	if i := bytes.Index(src[pos:], []byte("\n---")); i >= 0 {
		return pos + i + 1
	}
	return len(src)
}

// yamlDoc fills in the fields of a document.
func (r *reader) yamlDoc(d *Doc) error {
	if !r.slow && d.indexCanonical() {
		return nil
	}
	text := normalize(d.raw)
	t, err := yaml11.Parse(text)
	if err != nil {
		return d.fail(err)
	}
	defer t.Free()
	d.Line = d.lines + yaml11.Fault(text, t.Top(), "").Line
	if rest := t.Rest(); rest >= 0 {
		d.Ignored = d.lines + yaml11.Fault(text, rest, "").Line
	}
	if err := d.index(t, text); err != nil {
		return err
	}
	// What has no form in JSON, opm cannot load.
	if r.scratch, err = t.AppendJSON(r.scratch[:0], yaml11.Loaded); err != nil {
		return d.fail(err)
	}
	return nil
}

// index fills in the fields of a document from its tree.
func (d *Doc) index(t *yaml11.Tree, text []byte) error {
	fields, ok, err := t.Fields()
	if err != nil {
		return d.fail(err)
	}
	if !ok {
		return d.fail(yaml11.Fault(text, 0, "a document must be a mapping with a schema"))
	}
	seen := make(map[string][]byte, len(fields))
	for _, f := range fields {
		key := foldKey(f.Key)
		if other, twice := seen[key]; twice {
			return d.fail(yaml11.Fault(text, f.Offset, fmt.Sprintf("the keys %s and %s are the same to opm", other, f.Key)))
		}
		seen[key] = f.Key
		into, ok := d.field(key)
		if !ok {
			continue
		}
		if f.IsText {
			*into = string(f.Text)
		} else if into != &d.Image {
			return d.fail(yaml11.Fault(text, f.Offset, fmt.Sprintf("%s must be a text", f.Key)))
		}
	}
	if d.Schema == "" {
		return d.fail(yaml11.Fault(text, t.Top(), "a document without a schema; opm takes an empty one between two --- lines for a document as well"))
	}
	return nil
}

// field gives the field for a folded key.
func (d *Doc) field(key string) (*string, bool) {
	switch key {
	case "SCHEMA":
		return &d.Schema, true
	case "PACKAGE":
		return &d.Package, true
	case "NAME":
		return &d.Name, true
	case "IMAGE":
		return &d.Image, true
	}
	return nil, false
}

// foldKey makes keys equal that differ in case only.
func foldKey(key []byte) string {
	return strings.Map(func(r rune) rune {
		least := unicode.ToUpper(r)
		for f := unicode.SimpleFold(r); f != r && r >= utf8.RuneSelf; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, string(key))
}

// jsonStream reads JSON values one after the other. Like opm it goes over to
// YAML where the first or second is not JSON.
func (r *reader) jsonStream() error {
	for pos, count := 0, 0; ; count++ {
		start := yaml11.SkipSpace(r.src, pos)
		if start == len(r.src) {
			return nil
		}
		end, err := r.jsonDoc(start)
		if err == nil {
			pos = end
			continue
		}
		start, ok := afterSpace(r.src, pos)
		if count > 1 || !ok {
			return err
		}
		known := len(r.docs)
		yamlErr := r.yamlStream(start)
		if yamlErr != nil && len(r.docs) == known {
			return err
		}
		return yamlErr
	}
}

// afterSpace passes space up to the end of the line, as opm does before it
// takes what follows for YAML; it gives up three bytes before the end.
func afterSpace(src []byte, pos int) (int, bool) {
	for len(src)-pos >= 4 {
		c, n := utf8.DecodeRune(src[pos:])
		switch {
		case c == utf8.RuneError:
			return 0, false
		case !unicode.IsSpace(c):
			return pos, true
		case c == '\n':
			return pos + 1, true
		}
		pos += n
	}
	return 0, false
}

// jsonDoc reads the object at start and gives the offset after it. Its values
// are passed over, which finds out that they are JSON.
func (r *reader) jsonDoc(start int) (end int, err error) {
	r.members, end, err = yaml11.Members(r.members[:0], r.src, start)
	if err != nil {
		return 0, (&Doc{File: r.file}).fail(err)
	}
	d := r.doc(start, end, JSON)
	seen := make(map[string][]byte, len(r.members))
	for _, m := range r.members {
		key := foldKey(m.Key)
		if other, twice := seen[key]; twice && !bytes.Equal(other, m.Key) {
			return 0, d.fail(yaml11.Fault(d.raw, m.Start-start, fmt.Sprintf("the keys %s and %s are the same to opm", other, m.Key)))
		}
		seen[key] = m.Key
		into, ok := d.field(key)
		if !ok {
			continue
		}
		text, isText := yaml11.JSONString(r.src[m.Start:m.End])
		*into = string(text)
		if !isText && into != &d.Image {
			return 0, d.fail(yaml11.Fault(d.raw, m.Start-start, fmt.Sprintf("%s must be a text", m.Key)))
		}
	}
	if d.Schema == "" {
		return 0, d.fail(yaml11.Fault(d.raw, 0, "a document without a schema"))
	}
	return end, r.add(&d)
}
