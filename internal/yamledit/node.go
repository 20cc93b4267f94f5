package yamledit

import (
	"bytes"
	"iter"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
)

// Kind is the kind of a node.
type Kind uint8

// The kinds of nodes.
const (
	Scalar Kind = iota
	Mapping
	Sequence
	Alias
)

// Style is how a node is written. Collections are Block or Flow, scalars the rest.
type Style uint8

// The styles of nodes. JSON collections are Flow and its strings DoubleQuoted.
const (
	Block Style = iota
	Flow
	Plain
	SingleQuoted
	DoubleQuoted
	Literal
	Folded
)

// Node is one value with its place in the text. Start and End bound its own text,
// without anchor, tag, comments and line break.
type Node struct {
	Kind     Kind
	Style    Style
	Tag      string // as resolved: !!str, !!null, ...
	Value    string // of a scalar; the anchor's name of an alias
	Anchor   string
	Start    int
	End      int
	Parent   *Node
	Children []*Node // items, or keys and values in turn

	doc    *Doc
	target *Node // of an alias
	marks  int   // the length of anchor and tag, before Start
}

// begin is where anchor and tag of a node begin; Start without any.
func (n *Node) begin() int { return n.Start - n.marks }

// CommentBehind is the comment on the line on which a node ends, with the space before it; ""
// where there is none.
func (n *Node) CommentBehind() string {
	if n == nil {
		return ""
	}
	rest := n.doc.file.Src[n.End:contentLineEnd(n.doc.file.Src, n.End)]
	if text := bytes.TrimLeft(rest, " \t"); len(text) == len(rest) || len(text) == 0 || text[0] != '#' {
		return ""
	}
	return string(rest)
}

// FoldValue is the value of a key that is looked for without regard to case; nil without it.
func (n *Node) FoldValue(key string) *Node {
	_, v := n.Fold(key)
	return v
}

// FoldText is the text of a key that is looked for without regard to case; "" without it.
func (n *Node) FoldText(key string) string {
	return n.FoldValue(key).Text()
}

// Position is the line and column at which the node starts.
func (n *Node) Position() (line, col int) { return n.doc.file.Position(n.Start) }

// Malformed is a template-malformed failure at the node.
func (n *Node) Malformed(format string, args ...any) *failure.Error {
	return n.doc.file.malformed(n.Start, format, args...)
}

// Failure is a failure of any code at the node.
func (n *Node) Failure(code failure.Code, format string, args ...any) *failure.Error {
	return n.At(failure.New(code, format, args...))
}

// At gives a failure the place of the node.
func (n *Node) At(err *failure.Error) *failure.Error {
	line, col := n.Position()
	return err.At(n.doc.file.Name, line, col)
}

// Resolve follows an alias to its node; any other node is its own.
func (n *Node) Resolve() *Node {
	for i := 0; n != nil && n.Kind == Alias && i < MaxDepth; i++ {
		n = n.target
	}
	return n
}

// Get returns the value of a key, compared to the letter, nil if there is none.
func (n *Node) Get(key string) *Node {
	_, v := n.find(func(k string) bool { return k == key })
	return v
}

// Fold returns key node and value of a key compared without regard to case, as
// encoding/json does.
func (n *Node) Fold(key string) (keyNode, value *Node) {
	return n.find(func(k string) bool { return strings.EqualFold(k, key) })
}

func (n *Node) find(match func(string) bool) (keyNode, value *Node) {
	n = n.Resolve()
	if n == nil || n.Kind != Mapping {
		return nil, nil
	}
	for key, value := range n.Fields() {
		if k := key.Resolve(); k != nil && k.Kind == Scalar && match(k.Value) {
			return key, value.Resolve()
		}
	}
	return n.findMerged(match)
}

// findMerged looks among what a merge key (<<) brings in. What it finds stands elsewhere
// too, under an anchor, and so cannot be edited.
func (n *Node) findMerged(match func(string) bool) (keyNode, value *Node) {
	for key, from := range n.Fields() {
		if key.Value != "<<" || key.Style != Plain {
			continue
		}
		merged := []*Node{from.Resolve()}
		if merged[0] != nil && merged[0].Kind == Sequence {
			merged = merged[0].Children
		}
		for _, m := range merged {
			if keyNode, value = m.find(match); keyNode != nil {
				return keyNode, value
			}
		}
	}
	return nil, nil
}

// Text is the string of a scalar node; "" for anything else and for null.
func (n *Node) Text() string {
	n = n.Resolve()
	if n == nil || n.Kind != Scalar || n.Tag == "!!null" {
		return ""
	}
	return n.Value
}

// Items are the items of a sequence, aliases not followed.
func (n *Node) Items() []*Node {
	n = n.Resolve()
	if n == nil || n.Kind != Sequence {
		return nil
	}
	return n.Children
}

// IsNull reports whether nothing stands there: no node, or a null.
func (n *Node) IsNull() bool {
	n = n.Resolve()
	return n == nil || n.Kind == Scalar && n.Tag == "!!null"
}

// Fields gives the keys and values of a mapping in their order, aliases not followed.
func (n *Node) Fields() iter.Seq2[*Node, *Node] {
	return func(yield func(key, value *Node) bool) {
		m := n.Resolve()
		if m == nil || m.Kind != Mapping {
			return
		}
		for i := 0; i+1 < len(m.Children); i += 2 {
			if !yield(m.Children[i], m.Children[i+1]) {
				return
			}
		}
	}
}

// Keys are the keys of a mapping in their order, as they are written.
func (n *Node) Keys() (keys []string) {
	for key := range n.Fields() {
		keys = append(keys, key.Resolve().Value)
	}
	return keys
}

// Strings are the texts of a sequence's scalar items.
func (n *Node) Strings() []string {
	var out []string
	for _, item := range n.Items() {
		out = append(out, item.Text())
	}
	return out
}

// indent is the number of bytes before the node on its line.
func (n *Node) indent() int {
	start := lineStart(n.doc.file.Src, n.Start)
	if start == 0 {
		start = bomLen(n.doc.file.Src)
	}
	return n.Start - start
}

func lineStart(src []byte, at int) int { return bytes.LastIndexByte(src[:at], '\n') + 1 }
