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

// Style is the notation of a node: Block or Flow for collections, the other styles for scalars.
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

// Node is one value with its place in the text. Start and End bound its own text, without anchor, tag, comments
// and line break.
type Node struct {
	Kind     Kind
	Style    Style
	Tag      string // as resolved: !!str, !!null, ...
	Value    string // a scalar's text; an alias's anchor name
	Anchor   string
	Start    int
	End      int
	Parent   *Node
	Children []*Node // items, or alternating keys and values

	doc    *Doc
	target *Node // of an alias
	marks  int   // length of the anchor and tag before Start
}

// begin returns the offset of the node's anchor or tag, or Start if it has neither.
func (n *Node) begin() int { return n.Start - n.marks }

// CommentBehind returns the comment on the line on which a node ends, including the space before it, or "".
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

// FoldValue returns the value of a key, ignoring case, or nil.
func (n *Node) FoldValue(key string) *Node {
	_, v := n.Fold(key)
	return v
}

// FoldText returns the text of a key's value, ignoring case, or "".
func (n *Node) FoldText(key string) string {
	return n.FoldValue(key).Text()
}

// Position returns the line and column at which the node starts.
func (n *Node) Position() (line, col int) { return n.doc.file.Position(n.Start) }

// Malformed returns a template-malformed failure at the node's place.
func (n *Node) Malformed(format string, args ...any) *failure.Error {
	return n.doc.file.malformed(n.Start, format, args...)
}

// Failure returns a failure with the given code at the node's place.
func (n *Node) Failure(code failure.Code, format string, args ...any) *failure.Error {
	return n.At(failure.New(code, format, args...))
}

// At sets a failure's place to the node's.
func (n *Node) At(err *failure.Error) *failure.Error {
	line, col := n.Position()
	return err.At(n.doc.file.Name, line, col)
}

// Resolve returns the node that an alias refers to. It returns any other node itself.
func (n *Node) Resolve() *Node {
	for i := 0; n != nil && n.Kind == Alias && i < MaxDepth; i++ {
		n = n.target
	}
	return n
}

// Get returns the value of the key with exactly this spelling, or nil.
func (n *Node) Get(key string) *Node {
	_, v := n.find(func(k string) bool { return k == key })
	return v
}

// Fold returns the key node and value of a key. Like encoding/json, it ignores case.
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

// findMerged searches the mappings that a merge key (<<) includes. These belong to an anchor, so the result
// cannot be edited.
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

// Text returns a scalar's string. It returns "" for null and for all other nodes.
func (n *Node) Text() string {
	n = n.Resolve()
	if n == nil || n.Kind != Scalar || n.Tag == "!!null" {
		return ""
	}
	return n.Value
}

// Items returns the items of a sequence without resolving aliases.
func (n *Node) Items() []*Node {
	n = n.Resolve()
	if n == nil || n.Kind != Sequence {
		return nil
	}
	return n.Children
}

// IsNull reports whether the node is missing or null.
func (n *Node) IsNull() bool {
	n = n.Resolve()
	return n == nil || n.Kind == Scalar && n.Tag == "!!null"
}

// Fields returns the keys and values of a mapping in order, without resolving aliases.
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

// Keys returns the keys of a mapping in order, as written.
func (n *Node) Keys() (keys []string) {
	for key := range n.Fields() {
		keys = append(keys, key.Resolve().Value)
	}
	return keys
}

// Strings returns the texts of a sequence's items; items that are not scalars yield "".
func (n *Node) Strings() []string {
	var out []string
	for _, item := range n.Items() {
		out = append(out, item.Text())
	}
	return out
}

// indent returns the number of bytes before the node on its line.
func (n *Node) indent() int {
	start := lineStart(n.doc.file.Src, n.Start)
	if start == 0 {
		start = bomLen(n.doc.file.Src)
	}
	return n.Start - start
}

func lineStart(src []byte, at int) int { return bytes.LastIndexByte(src[:at], '\n') + 1 }
