package fbc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/yamledit"
	"github.com/olmgraft/graft/internal/yamlread"
)

// The functions in this file find the place of a value in a document. They parse the document again, so use them
// only for documents with a fault and for short ones.

// root returns the top node of the document, or nil if the document has none or does not parse.
func (d *Doc) root() (*yamledit.File, *yamledit.Node) {
	text := d.raw
	if d.Format == YAML {
		text = normalize(text)
	}
	f, err := yamledit.Open(d.File, text)
	if err != nil {
		return nil, nil
	}
	for _, part := range f.Docs {
		if root, err := part.Root(); err == nil && root != nil {
			return f, root.Resolve()
		}
	}
	return nil, nil
}

// at returns a fault with a message at the value that a path leads to. The path consists of keys, whose case is
// ignored, and indexes. A missing value has the place of its nearest existing parent.
func (d *Doc) at(msg string, path ...any) *yamlread.Error {
	value := d.find(path)
	value.Msg = msg
	return value
}

// Lines finds lines in a document, which it parses once.
type Lines struct {
	doc    *Doc
	root   *yamledit.Node // nil if the document does not parse
	breaks []int          // offsets of the line feeds
	parsed bool
}

// Lines returns the lines of the document. It parses nothing until the first question.
func (d *Doc) Lines() *Lines { return &Lines{doc: d} }

// Of returns the line, counted from the document's first, of the key or item that a path leads to. If it is
// missing, Of returns the line of its nearest existing parent.
func (l *Lines) Of(path ...any) int {
	if !l.parsed {
		l.parsed = true
		var f *yamledit.File
		if f, l.root = l.doc.root(); l.root != nil {
			for i, c := range f.Src {
				if c == '\n' {
					l.breaks = append(l.breaks, i)
				}
			}
		}
	}
	if l.root == nil {
		return 0
	}
	key, _ := follow(l.root, path)
	before, _ := slices.BinarySearch(l.breaks, key.Start)
	return max(l.doc.lines+1+before-l.doc.Line, 0)
}

// find returns the place of the value that a path leads to, or of its nearest existing parent.
func (d *Doc) find(path []any) *yamlread.Error {
	f, n := d.root()
	if n == nil {
		return &yamlread.Error{Line: d.Line - d.lines, Col: 1}
	}
	_, value := follow(n, path)
	return place(f.Src, value.Start)
}

// follow returns the last existing key or item of a path, and its value.
func follow(root *yamledit.Node, path []any) (key, value *yamledit.Node) {
	key, value = root, root
	for _, step := range path {
		k, v := child(value, step)
		if v == nil {
			break
		}
		key, value = k, v
	}
	return key, value
}

func place(src []byte, offset int) *yamlread.Error {
	before := src[:min(offset, len(src))]
	return &yamlread.Error{Line: 1 + bytes.Count(before, []byte("\n")), Col: len(before) - bytes.LastIndexByte(before, '\n')}
}

// child returns a key, ignoring case, and its value, or an item of a list. It returns nil if there is none.
func child(n *yamledit.Node, step any) (key, value *yamledit.Node) {
	n = n.Resolve()
	if want, ok := step.(string); ok {
		if n.Kind != yamledit.Mapping {
			return nil, nil
		}
		for key, value := range n.Fields() {
			if key.Value == want {
				return key, value
			}
		}
		return n.Fold(want)
	}
	if i := step.(int); n.Kind == yamledit.Sequence && i < len(n.Children) {
		return n.Children[i], n.Children[i]
	}
	return nil, nil
}

// EntryLines returns the line in the file of each entry of a channel or deprecation.
func (d *Doc) EntryLines() []int {
	var offsets []int
	text := d.raw
	if d.canonical {
		l := lines{text: d.raw, sought: "entries"}
		l.walk()
		for _, it := range l.items {
			offsets = append(offsets, it.start)
		}
	} else if f, n := d.root(); n != nil {
		text = f.Src
		if _, list := child(n, "entries"); list != nil && list.Resolve().Kind == yamledit.Sequence {
			for _, item := range list.Resolve().Children {
				offsets = append(offsets, item.Start)
			}
		}
	}
	at, line := 0, d.lines+1
	found := make([]int, len(offsets))
	for i, o := range offsets {
		if o < at { // an alias comes after the node that it refers to
			at, line = 0, d.lines+1
		}
		line += bytes.Count(text[at:o], []byte("\n"))
		at = o
		found[i] = line
	}
	return found
}

// mistyped returns a failure at the value that does not fit its type.
func (d *Doc) mistyped(doc []byte, err error) error {
	te := (*json.UnmarshalTypeError)(nil)
	if !errors.As(err, &te) {
		return d.fail(err)
	}
	kinds := map[string]string{"string": "a text", "bool": "a boolean", "number": "a number", "array": "a list", "object": "a mapping"}
	got, _, _ := strings.Cut(te.Value, " ")
	fault := d.at(fmt.Sprintf("%s cannot be %s", te.Field, kinds[got]), pathTo(doc, te.Offset)...)
	if at := startOfLine(d.raw, fault.Line) + fault.Col - 1; at < len(d.raw) && bytes.HasPrefix(d.raw[at:], []byte("//")) {
		fault.Msg += ": " + NoComment
	}
	return d.fail(fault)
}

// NoComment explains a text that begins with //, which its author took for a comment.
const NoComment = "// begins no comment, as # does in YAML"

// startOfLine returns the offset of a line, counted from 1. The text must have that line.
func startOfLine(text []byte, line int) int {
	at := 0
	for ; line > 1; line-- {
		at += bytes.IndexByte(text[at:], '\n') + 1
	}
	return at
}

// pathTo returns the keys and indexes that lead to the value at an offset of a JSON document. The offset lies in
// the value or is that of its last byte.
func pathTo(doc []byte, offset int64) []any {
	type open struct {
		list  bool
		index int
		key   string
		isKey bool // the next token is a key
	}
	var path []open
	dec := json.NewDecoder(bytes.NewReader(doc))
	for {
		tok, err := dec.Token()
		if err != nil {
			break
		}
		top := len(path) - 1
		if name, ok := tok.(string); ok && top >= 0 && path[top].isKey {
			path[top].key, path[top].isKey = name, false
			continue
		}
		if delim, ok := tok.(json.Delim); ok && (delim == '}' || delim == ']') {
			path = path[:top]
			continue
		}
		if top >= 0 {
			path[top].index++
		}
		if dec.InputOffset() >= offset {
			break
		}
		if top >= 0 {
			path[top].isKey = !path[top].list
		}
		if delim, ok := tok.(json.Delim); ok {
			path = append(path, open{list: delim == '[', isKey: delim == '{'})
		}
	}
	var steps []any
	for _, p := range path {
		if p.list {
			steps = append(steps, p.index-1)
		} else if p.key != "" {
			steps = append(steps, p.key)
		}
	}
	return steps
}
