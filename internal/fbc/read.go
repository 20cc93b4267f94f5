package fbc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/olmgraft/graft/internal/budget"
	"github.com/olmgraft/graft/internal/yamledit"
	"github.com/olmgraft/graft/internal/yamlread"
)

// Read indexes one file, which is a stream of YAML or JSON documents. It fails with template-malformed for what
// opm cannot load: text that does not parse, a document without a schema, a key in two cases. Documents in opm's
// layout take a fast path with the same result. Unlike opm, Read refuses more than half a million documents in
// one file.
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
	from    Span // place in the file at which src begins
	docs    []Doc
	before  int // documents of the file read before src
	counted int // bytes whose lines have been counted
	lines   int
	line    int  // offset of the line that counted is in
	slow    bool // skip the fast path
	part    bool // src is a part of the file, in a single format
	opened  bool // a separator came before any content
}

// looksLikeJSON decides as opm does: by the first character that is not white space, if it is near the start.
func looksLikeJSON(src []byte) bool {
	head := src[:min(len(src), 4096)]
	return bytes.HasPrefix(bytes.TrimLeftFunc(head, unicode.IsSpace), []byte("{"))
}

// doc returns an unread document with its place.
func (r *reader) doc(start, end int, f Format) Doc {
	if start < r.counted { // text that is not JSON is read again as YAML
		r.counted, r.lines, r.line = 0, 0, 0
	}
	between := r.src[r.counted:start]
	r.lines += bytes.Count(between, []byte("\n"))
	if at := bytes.LastIndexByte(between, '\n'); at >= 0 {
		r.line = r.counted + at + 1
	}
	r.counted = start
	col := start - r.line
	if r.line == 0 {
		col += r.from.col
	}
	lines := r.from.lines + r.lines
	return Doc{
		File: r.file, Line: lines + 1, Start: r.from.Start + start, End: r.from.Start + end, Format: f,
		raw: r.src[start:end:end], lines: lines, col: col,
	}
}

func (r *reader) add(d *Doc) error {
	if r.before+len(r.docs) == budget.FileDocuments {
		return d.fail(fmt.Errorf("more than %d documents in one file", budget.FileDocuments))
	}
	r.docs = append(r.docs, *d)
	return nil
}

// yamlStream reads documents separated by lines that begin with ---. Such a line always separates, even inside
// quotes. Before any content it opens a document, so two separators in a row enclose an empty document.
func (r *reader) yamlStream(pos int) error {
	for pos < len(r.src) || r.opened || r.part {
		end := separator(r.src, pos)
		if r.opened || end > pos {
			d := r.doc(pos, end, YAML)
			if err := r.yamlDoc(&d); err != nil {
				return err
			}
			if err := r.add(&d); err != nil {
				return err
			}
			r.opened = false
		} else {
			r.opened = true
		}
		if end == len(r.src) {
			return nil
		}
		var err error
		if pos, err = r.afterSeparator(end); err != nil {
			return err
		}
	}
	return nil
}

// afterSeparator returns the offset after a separator's line.
func (r *reader) afterSeparator(at int) (int, error) {
	rest, _, _ := bytes.Cut(r.src[at+len("---"):], []byte("\n"))
	if text := bytes.TrimSpace(rest); len(text) > 0 && text[0] != '#' {
		d := r.doc(at, at, YAML)
		return at, d.fail(errors.New("a line that begins with --- goes on with something else than a comment"))
	}
	return min(at+len("---")+len(rest)+1, len(r.src)), nil
}

// separator returns the offset of the next line that begins with ---.
func separator(src []byte, pos int) int {
	if bytes.HasPrefix(src[pos:], []byte("---")) {
		return pos
	}
	if i := bytes.Index(src[pos:], []byte("\n---")); i >= 0 {
		return pos + i + 1
	}
	return len(src)
}

// yamlDoc sets the fields of a document.
func (r *reader) yamlDoc(d *Doc) error {
	if !r.slow && d.indexCanonical() {
		return nil
	}
	text := normalize(d.raw)
	js, err := yamlread.ToJSON(text)
	if err != nil {
		return d.fail(err)
	}
	d.Line = d.lines + 1 + contentLine(text)
	if bytes.Contains(text, []byte("\n...")) {
		d.Ignored = d.ignored(text)
	}
	return d.index(js)
}

// contentLine returns the number of lines before the first line of content, which is neither blank nor a comment.
func contentLine(text []byte) int {
	n := 0
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' && line[0] != '%' {
			return n
		}
		n++
	}
	return 0 // no content
}

// ignored returns the line of the content after the end of the document, or 0.
func (d *Doc) ignored(text []byte) int {
	f, err := yamledit.Open(d.File, text)
	if err != nil || len(f.Docs) < 2 {
		return 0
	}
	rest := f.Docs[1]
	return d.lines + 1 + bytes.Count(text[:rest.Start], []byte("\n")) + contentLine(rest.Raw())
}

// index sets the fields of a document from its JSON.
func (d *Doc) index(js []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(js, &fields); err != nil {
		if te := (*json.UnmarshalTypeError)(nil); errors.As(err, &te) {
			err = d.at("a document must be a mapping with a schema")
		}
		return d.fail(err)
	}
	seen := make(map[string]string, len(fields))
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if err := d.take(seen, key, fields[key]); err != nil {
			return err
		}
	}
	if d.Schema == "" {
		return d.fail(d.at("a document without a schema; opm takes an empty one between two --- lines for a document as well"))
	}
	return nil
}

// take sets the field for a key, if the key has one. It refuses a key that occurs in two cases.
func (d *Doc) take(seen map[string]string, key string, value []byte) error {
	folded := foldKey(key)
	if other, twice := seen[folded]; twice && other != key {
		return d.fail(d.at(fmt.Sprintf("the keys %s and %s are the same to opm", other, key), key))
	}
	seen[folded] = key
	into, ok := d.field(folded)
	if !ok {
		return nil
	}
	*into = ""
	if value[0] != '"' {
		if into == &d.Image {
			return nil
		}
		return d.fail(d.at(key+" must be a text", key))
	}
	return json.Unmarshal(value, into)
}

// field returns the field for a folded key.
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

// foldKey maps keys that differ only in case to the same key.
func foldKey(key string) string {
	return strings.Map(func(r rune) rune {
		least := unicode.ToUpper(r)
		for f := unicode.SimpleFold(r); f != r && r >= utf8.RuneSelf; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, key)
}

// jsonStream reads JSON values one after another. Like opm, it switches to YAML if the first or second value is
// not JSON.
func (r *reader) jsonStream() error {
	for pos, count := 0, 0; ; count++ {
		start := pos + len(r.src[pos:]) - len(bytes.TrimLeft(r.src[pos:], " \t\r\n"))
		if start == len(r.src) {
			return nil
		}
		end, err := r.jsonDoc(start)
		if err == nil {
			pos = end
			continue
		}
		start, ok := afterSpace(r.src, pos)
		if count > 1 || !ok || r.part {
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

// afterSpace skips white space up to the end of the line, as opm does before it reads the rest as YAML. It gives
// up three bytes before the end.
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

// jsonDoc reads the object at start and returns the offset after it.
func (r *reader) jsonDoc(start int) (end int, err error) {
	var raw json.RawMessage
	if err := json.NewDecoder(bytes.NewReader(r.src[start:])).Decode(&raw); err != nil {
		d := r.doc(start, len(r.src), JSON)
		return 0, d.fail(d.faultIn(err))
	}
	end = start + len(raw)
	d := r.doc(start, end, JSON)
	if raw[0] != '{' {
		return 0, d.fail(d.at("JSON in which an object was expected"))
	}
	if number := mayOverflow(raw); number != nil && json.Unmarshal(raw, new(any)) != nil {
		return 0, d.fail(d.at("a number that is too large: " + string(number)))
	}
	seen := map[string]string{}
	dec := json.NewDecoder(bytes.NewReader(raw))
	_, err = dec.Token()
	for err == nil && dec.More() {
		var key json.Token
		var value json.RawMessage
		if key, err = dec.Token(); err == nil {
			err = dec.Decode(&value)
		}
		if err == nil {
			if err := d.take(seen, key.(string), value); err != nil {
				return 0, err
			}
		}
	}
	if err != nil {
		return 0, d.fail(err)
	}
	if d.Schema == "" {
		return 0, d.fail(d.at("a document without a schema"))
	}
	return end, r.add(&d)
}

// mayOverflow returns a number that float64 may not hold: one with many digits, or with an exponent of three.
func mayOverflow(raw []byte) []byte {
	digits := func(at int) int {
		n := 0
		for at+n < len(raw) && '0' <= raw[at+n] && raw[at+n] <= '9' {
			n++
		}
		return n
	}
	for i := 0; i < len(raw); i++ {
		n := digits(i)
		if n == 0 {
			continue
		}
		end := i + n
		if end < len(raw) && raw[end]|0x20 == 'e' {
			power := end + 1
			if power < len(raw) && raw[power] == '+' {
				power++
			}
			if more := digits(power); more >= 3 {
				return raw[i : power+more]
			}
		}
		if n >= 300 {
			return raw[i:end]
		}
		i = end
	}
	return nil
}

// faultIn returns a fault in a JSON document with its place.
func (d *Doc) faultIn(err error) error {
	at := len(d.raw)
	if e := (*json.SyntaxError)(nil); errors.As(err, &e) {
		at = max(int(e.Offset)-1, 0)
	}
	e := place(d.raw, at)
	e.Msg = "JSON: " + err.Error()
	if c := yamlread.Comment(d.raw, at); c != "" {
		e.Msg = "JSON has no comments, and here one begins: " + c
	}
	return e
}
