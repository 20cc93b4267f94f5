package yamledit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/olmgraft/graft/internal/budget"
	"github.com/olmgraft/graft/internal/yamlread"
)

// parseYAML reads the document with yaml.v3 and finds each node's bytes from the line and column that yaml.v3
// reports.
func (d *Doc) parseYAML() (root *Node, err error) {
	src := d.Raw()
	if yamlread.Marks(src) > budget.EditedValues {
		return nil, d.file.malformed(d.Start, "parsing the document: it has more than %d items and keys", budget.EditedValues)
	}
	var y yaml.Node
	if err := yaml.Unmarshal(src, &y); err != nil {
		return nil, d.syntaxError(err)
	}
	if y.Kind != yaml.DocumentNode || len(y.Content) == 0 {
		return nil, nil
	}
	b := treeBuilder{doc: d, src: src, lines: yamlLines(src), anchors: map[*yaml.Node]*Node{}, weights: map[*Node]int{}}
	return b.build(y.Content[0], nil, 0)
}

// syntaxError describes a syntax error and its place. It prefers the message of yamlread, which reports columns
// and explains common mistakes. yamlread may accept what yaml.v3 refuses; then only the line is known.
func (d *Doc) syntaxError(err error) error {
	msg, offset := strings.TrimPrefix(err.Error(), "yaml: "), d.Start
	if comment, at := yamlread.InJSON(d.Raw()); comment != "" {
		return d.file.malformed(d.Start+at, "parsing it as JSON, which has no comments: here one begins: %s", comment)
	}
	var fault *yamlread.Error
	if _, again := yamlread.ToJSON(d.Raw()); errors.As(again, &fault) {
		return d.file.malformed(d.Start+offsetOf(d.Raw(), fault.Line, fault.Col), "parsing it as YAML: %s", fault.Msg)
	}
	if m := yamlErrorLine.FindStringSubmatch(err.Error()); m != nil {
		msg = err.Error()[len(m[0]):]
		line, _ := strconv.Atoi(m[1])
		if lines := yamlLines(d.Raw()); line >= 1 && line <= len(lines) {
			offset = d.Start + lines[line-1]
		}
	}
	return d.file.malformed(offset, "parsing it as YAML: %s", msg)
}

// offsetOf returns the offset of a line and a column, both counted from 1.
func offsetOf(src []byte, line, col int) int {
	at := 0
	for ; line > 1; line-- {
		at += bytes.IndexByte(src[at:], '\n') + 1
	}
	return at + col - 1
}

var yamlErrorLine = regexp.MustCompile(`^yaml: (?:unmarshal errors:\s+)?line (\d+): `)

// yamlLines returns the offsets at which yaml.v3 starts a new line. It also breaks lines at CR, NEL, LS and PS,
// and ignores a leading BOM.
func yamlLines(src []byte) []int {
	lines := []int{bomLen(src)}
	for i := 0; i < len(src); i++ {
		switch src[i] {
		case '\n':
			lines = append(lines, i+1)
		case '\r':
			if i+1 >= len(src) || src[i+1] != '\n' {
				lines = append(lines, i+1)
			}
		case 0xC2: // NEL
			if i+1 < len(src) && src[i+1] == 0x85 {
				lines = append(lines, i+2)
			}
		case 0xE2: // LS, PS
			if i+2 < len(src) && src[i+1] == 0x80 && (src[i+2] == 0xA8 || src[i+2] == 0xA9) {
				lines = append(lines, i+3)
			}
		}
	}
	return lines
}

type treeBuilder struct {
	doc     *Doc
	src     []byte
	lines   []int
	anchors map[*yaml.Node]*Node
	weights map[*Node]int // expanded size of each complete anchored node
	weight  int           // nodes so far, with aliases expanded
	last    struct{ line, col, at int }
}

// maxExpanded bounds the size of a document with its aliases expanded, as every reader expands them. Without the
// bound a few lines of nested aliases could exhaust memory.
const maxExpanded = 1 << 20

func (b *treeBuilder) build(y *yaml.Node, parent *Node, depth int) (*Node, error) {
	at, ok := b.offset(y.Line, y.Column)
	if !ok {
		return nil, b.doc.file.malformed(b.doc.Start, "locating line %d, column %d of the document", y.Line, y.Column)
	}
	if depth > MaxDepth {
		return nil, b.doc.file.malformed(b.doc.Start+at, "parsing it: nested deeper than %d levels", MaxDepth)
	}
	n := &Node{Tag: y.ShortTag(), Value: y.Value, Anchor: y.Anchor, Parent: parent, doc: b.doc}
	if y.Kind != yaml.AliasNode {
		// yaml.v3 drops the tag !, which makes a string of any scalar in opm's library.
		from := at
		at = skipProperties(b.src, at, y.Anchor != "" || y.Style&yaml.TaggedStyle != 0 || at < len(b.src) && b.src[at] == '!')
		n.marks = at - from
		if y.Kind == yaml.ScalarNode && nonSpecific(b.src[from:at], y.Value == "") {
			n.Tag = "!!str"
		}
	}
	n.Start = b.doc.Start + at
	if y.Anchor != "" {
		b.anchors[y] = n
		defer func(before int) { b.weights[n] = b.weight - before }(b.weight)
	}
	b.weight++
	var err error
	switch y.Kind {
	case yaml.AliasNode:
		n.Kind, n.target = Alias, b.anchors[y.Alias]
		n.End = n.Start + 1 + len(y.Value)
		err = b.expand(n)
	case yaml.ScalarNode:
		n.Kind, n.Style = Scalar, scalarStyle(y.Style)
		n.End, err = b.scalarEnd(n, at)
	default:
		n.Kind, n.Style = Mapping, Block
		if y.Kind == yaml.SequenceNode {
			n.Kind = Sequence
		}
		err = b.buildChildren(n, y, at, depth)
	}
	return n, err
}

func (b *treeBuilder) buildChildren(n *Node, y *yaml.Node, at, depth int) error {
	last := at
	n.Children = make([]*Node, 0, len(y.Content))
	for _, c := range y.Content {
		child, err := b.build(c, n, depth+1)
		if err != nil {
			return err
		}
		if child.Start < b.doc.Start+last {
			return b.doc.file.malformed(child.Start, "locating a node: its place overlaps with the one before it")
		}
		last = child.End - b.doc.Start
		n.Children = append(n.Children, child)
	}
	n.End = b.doc.Start + last
	open := byte('{')
	if n.Kind == Sequence {
		open = '['
	}
	if at >= len(b.src) || b.src[at] != open || y.Style&yaml.FlowStyle == 0 {
		return nil
	}
	n.Style = Flow
	end := skipTrivia(b.src, max(last, at+1))
	for end < len(b.src) && (b.src[end] == ',' || b.src[end] == ':' || b.src[end] == '?') {
		end = skipTrivia(b.src, end+1)
	}
	if end >= len(b.src) || b.src[end] != open+2 {
		return b.doc.file.malformed(n.Start, "locating the end of a collection in braces or brackets")
	}
	n.End = b.doc.Start + end + 1
	return nil
}

func (b *treeBuilder) expand(alias *Node) error {
	weight, complete := b.weights[alias.target]
	if !complete {
		return alias.Malformed("expanding *%s: it is inside of its own anchor", alias.Value)
	}
	if b.weight += weight; b.weight > maxExpanded {
		return alias.Malformed("expanding *%s: aliases grow to more than %d nodes", alias.Value, maxExpanded)
	}
	return nil
}

func (b *treeBuilder) offset(line, col int) (int, bool) {
	if line < 1 || line > len(b.lines) {
		return len(b.src), line == len(b.lines)+1
	}
	at, from := b.lines[line-1], 1
	if line == b.last.line && col >= b.last.col {
		at, from = b.last.at, b.last.col // nodes come in order, even on one long line
	}
	defer func() { b.last.line, b.last.col, b.last.at = line, col, at }()
	for i := from; i < col && at < len(b.src); i++ {
		if b.src[at] < utf8.RuneSelf {
			at++
			continue
		}
		_, size := utf8.DecodeRune(b.src[at:])
		at += size
	}
	return at, at <= len(b.src)
}

// scalarEnd returns the end of a scalar's text. at is the start of the scalar in the document.
func (b *treeBuilder) scalarEnd(n *Node, at int) (int, error) {
	var end int
	ok := true
	switch n.Style {
	case SingleQuoted, DoubleQuoted:
		end, ok = quotedEnd(b.src, at)
	case Literal, Folded:
		end = blockScalarEnd(b.src, at, parentIndent(n))
	default:
		end, ok = plainEnd(b.src, at, n.Value)
	}
	if !ok {
		return 0, b.doc.file.malformed(n.Start, "locating the end of %q", n.Value)
	}
	return b.doc.Start + end, nil
}

func scalarStyle(s yaml.Style) Style {
	switch {
	case s&yaml.DoubleQuotedStyle != 0:
		return DoubleQuoted
	case s&yaml.SingleQuotedStyle != 0:
		return SingleQuoted
	case s&yaml.LiteralStyle != 0:
		return Literal
	case s&yaml.FoldedStyle != 0:
		return Folded
	}
	return Plain
}

// parseJSON reads a JSON value and takes positions from encoding/json.
func (d *Doc) parseJSON() (*Node, error) {
	if yamlread.Marks(d.Raw()) > budget.EditedValues {
		return nil, d.file.malformed(d.Start, "parsing the document: it has more than %d items and keys", budget.EditedValues)
	}
	b := jsonBuilder{doc: d, dec: json.NewDecoder(bytes.NewReader(d.Raw()))}
	b.dec.UseNumber()
	n, err := b.value(nil, 0)
	if err == nil || errors.Is(err, io.EOF) {
		return n, nil
	}
	if _, ok := err.(interface{ Place() string }); ok {
		return nil, err
	}
	return nil, d.file.malformed(d.Start+int(b.dec.InputOffset()), "parsing it as JSON: %w", err)
}

type jsonBuilder struct {
	doc *Doc
	dec *json.Decoder
}

func (b *jsonBuilder) value(parent *Node, depth int) (*Node, error) {
	before := int(b.dec.InputOffset())
	tok, err := b.dec.Token()
	if err != nil {
		return nil, err
	}
	n := &Node{Parent: parent, doc: b.doc, Start: b.doc.Start + jsonStart(b.doc.Raw(), before)}
	if depth > MaxDepth {
		return nil, b.doc.file.malformed(n.Start, "parsing it: nested deeper than %d levels", MaxDepth)
	}
	switch t := tok.(type) {
	case json.Delim:
		n.Style, n.Kind, n.Tag = Flow, Mapping, "!!map"
		if t == '[' {
			n.Kind, n.Tag = Sequence, "!!seq"
		}
		for b.dec.More() {
			child, err := b.value(n, depth+1)
			if err != nil {
				return nil, err
			}
			n.Children = append(n.Children, child)
		}
		if _, err := b.dec.Token(); err != nil {
			return nil, err
		}
	case string:
		n.Style, n.Tag, n.Value = DoubleQuoted, "!!str", t
	case json.Number:
		n.Style, n.Tag, n.Value = Plain, "!!float", t.String()
		if _, err := t.Int64(); err == nil {
			n.Tag = "!!int"
		}
	case bool:
		n.Style, n.Tag, n.Value = Plain, "!!bool", fmt.Sprint(t)
	default:
		n.Style, n.Tag, n.Value = Plain, "!!null", "null"
	}
	n.End = b.doc.Start + int(b.dec.InputOffset())
	return n, nil
}

func jsonStart(src []byte, at int) int {
	for at < len(src) && strings.IndexByte(" \t\r\n,:", src[at]) >= 0 {
		at++
	}
	return at
}
