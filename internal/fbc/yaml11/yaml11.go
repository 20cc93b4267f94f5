// Package yaml11 converts between YAML and JSON the way opm's libraries do: a
// YAML 1.1 reader that knows the older booleans, octal numbers and merge keys,
// and a writer whose output is theirs byte for byte. Text goes through one
// compact tree, without maps or reflection, since thousands of bundles of
// several hundred KiB pass here.
//
// What it accepts is what opm accepts, with three exceptions, all of input that
// nobody writes but to do harm: documents of more than two million values,
// values nested more than 10,000 deep, and aliases that multiply the document
// beyond 64 MiB.
package yaml11

import (
	"bytes"
	"fmt"
	"sync"
)

// Error is a fault in a text. Line and Col start at 1; Col counts bytes.
type Error struct {
	Line, Col int
	Msg       string
}

func (e *Error) Error() string { return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Col, e.Msg) }

// Tree is a parsed document. It refers to the text that it was parsed from.
type Tree struct {
	src    []byte
	nodes  []node
	extras []extra
	root   int32
	end    int // where the document ends in src

	aliases bool // there are aliases
	tagged  bool // there are tags
	json    bool // the text was JSON: numbers are JSON's

	p       parser
	store   store
	entries []entry // of the mappings being written
}

// store holds the texts of scalars that are not a part of the source as they
// stand there.
type store struct{ chunk []byte }

// keep copies a text into the store.
func (s *store) keep(text []byte) []byte {
	if cap(s.chunk)-len(s.chunk) < len(text) {
		s.chunk = make([]byte, 0, max(1<<12, len(text), min(2*cap(s.chunk), 1<<20)))
	}
	at := len(s.chunk)
	s.chunk = append(s.chunk, text...)
	return s.chunk[at:len(s.chunk):len(s.chunk)]
}

var trees = sync.Pool{New: func() any { return new(Tree) }}

// newTree gives an empty tree for src, with the memory of one that was freed.
func newTree(src []byte) *Tree {
	t := trees.Get().(*Tree)
	t.src, t.root, t.end = src, 0, 0
	t.nodes = append(t.nodes[:0], node{})
	t.extras = append(t.extras[:0], extra{})
	t.aliases, t.tagged, t.json = false, false, false
	t.store.chunk = t.store.chunk[:0]
	return t
}

// Free lets another document use the memory of the tree, which must not be
// used any more. Calling it is optional.
func (t *Tree) Free() {
	// A tree that is too large is left to the garbage collector.
	if cap(t.nodes) > 1<<16 || cap(t.store.chunk) > 1<<22 || cap(t.p.tmp) > 1<<22 {
		return
	}
	t.src = nil
	trees.Put(t)
}

// Parse parses the first YAML document of a text. Whatever follows it is not
// looked at, as opm does not: see Rest.
func Parse(src []byte) (t *Tree, err error) {
	t = newTree(src)
	defer catch(&err)
	p := &t.p
	p.t, p.store, p.anchors, p.tags = t, &t.store, nil, nil
	p.reset(src)
	p.document()
	if err := t.check(); err != nil {
		return nil, err
	}
	return t, nil
}

// Rest gives the offset of the first content after the document, which opm
// silently ignores, or -1.
func (t *Tree) Rest() int {
	rest := t.src[min(t.end, len(t.src)):]
	for len(rest) > 0 {
		line, after, _ := bytes.Cut(rest, []byte("\n"))
		text := bytes.TrimLeft(line, " \t\r")
		if len(text) > 0 && text[0] != '#' && string(bytes.TrimSpace(text)) != "..." {
			return len(t.src) - len(rest) + len(line) - len(text)
		}
		rest = after
	}
	return -1
}

// ToJSON converts the first YAML document of a text to compact JSON with sorted
// keys, as sigs.k8s.io/yaml.YAMLToJSON does.
func ToJSON(src []byte) ([]byte, error) {
	t, err := Parse(src)
	if err != nil {
		return nil, err
	}
	defer t.Free()
	return t.AppendJSON(make([]byte, 0, len(src)+len(src)/8+64), Plain)
}

// fault builds an Error at a byte offset of src.
func fault(src []byte, pos int, format string, args ...any) *Error {
	pos = min(max(pos, 0), len(src))
	before := src[:pos]
	return &Error{
		Line: 1 + bytes.Count(before, []byte("\n")),
		Col:  pos - bytes.LastIndexByte(before, '\n'),
		Msg:  fmt.Sprintf(format, args...),
	}
}

// fail ends the parsing; catch takes the error.
func (s *scanner) fail(pos int, format string, args ...any) {
	panic(fault(s.src, pos, format, args...))
}

func (s *scanner) lineOf(pos int) int { return 1 + bytes.Count(s.src[:pos], []byte("\n")) }

func catch(err *error) {
	if v := recover(); v != nil {
		e, ok := v.(*Error)
		if !ok {
			panic(v)
		}
		*err = e
	}
}
