package yamledit

import (
	"bytes"
	"slices"
	"sort"
)

// Edits is a set of changes to one file. Only Apply carries them out.
type Edits struct {
	file    *File
	splices []splice
	changed map[*Node]*nodeChange
	newDocs map[int][]newDoc // by the index of the document before them
	// replaced holds the new texts of replaced documents, by index.
	replaced map[int][]byte
	gone     map[int]bool // removed documents, by index
	cuts     []cut
	pending  []*flowInsert
	empty    []*emptyInsert
	node     *Node // the node of the splices being made
}

// emptyInsert collects the values for a list that has no items yet.
type emptyInsert struct {
	seq    *Node
	values []Value
	likes  []*Node
}

// nodeChange describes the requested change of one node.
type nodeChange struct {
	scalar   *string
	inserted map[int][]Value // into a sequence, before the item with that index
	fields   []Field         // added to a mapping
	filled   *Value          // in place of a null or an empty collection
	removed  map[int]bool    // children of a sequence; keys of a mapping
}

type splice struct {
	start, end int
	text       []byte
	depth      int // of the node
}

// Edit returns an empty set of changes to the file.
func (f *File) Edit() *Edits {
	return &Edits{file: f, changed: map[*Node]*nodeChange{}, newDocs: map[int][]newDoc{}}
}

// Empty reports whether no change was requested.
func (e *Edits) Empty() bool {
	return len(e.splices)+len(e.pending)+len(e.empty)+len(e.changed)+len(e.gone) == 0
}

// SetText replaces the text of a scalar and keeps its quotes.
func (e *Edits) SetText(n *Node, text string) error {
	if err := editable(n); err != nil {
		return err
	}
	if n.Kind != Scalar || n.Style == Literal || n.Style == Folded || bytes.ContainsAny(e.file.Src[n.Start:n.End], "\r\n") {
		return e.file.refused(n.Start, "replacing a value that is not on one line")
	}
	out := scalarText(text, n.Style, inFlow(n), n.doc.JSON)
	e.change(n).scalar = &text
	e.splice(n.Start, n.End, out)
	return nil
}

// Insert adds an item before the sequence's item with the given index; the sequence's length adds it at the end.
// The item follows the style of likes, the first like first, then of its siblings.
func (e *Edits) Insert(seq *Node, index int, v Value, likes ...*Node) error {
	if err := editable(seq); err != nil {
		return err
	}
	if seq.Kind != Sequence {
		return e.file.refused(seq.Start, "inserting into something that is not a list")
	}
	if len(seq.Children) == 0 {
		return e.insertEmpty(seq, v, likes)
	}
	likes = append(likes, nearest(seq.Children, index)...)
	c := e.change(seq)
	if c.inserted == nil {
		c.inserted = map[int][]Value{}
	}
	c.inserted[index] = append(c.inserted[index], v)
	if seq.Style == Block {
		return e.insertBlockItem(seq, index, v, likes)
	}
	w, l := e.writer(seq), layoutOf(seq.doc, likes)
	e.pend(seq, index, 1, w.flow(v, w.closingIndent(seq.Children[max(index-1, 0)]), likes, l), l)
	return nil
}

// InsertIn inserts into the list under a key of a mapping. If the list is missing, null or empty, InsertIn
// creates it after the key named by after, in the style of lists.
func (e *Edits) InsertIn(m *Node, key, after string, index int, v Value, lists ...*Node) error {
	_, list := m.Fold(key)
	switch {
	case list == nil:
		return e.AddField(m, after, Field{Key: key, Value: List(v), Like: slices.Concat(lists, []*Node{nil})[0]})
	case list.IsNull() || len(list.Children) == 0:
		return e.Fill(list, List(v), lists...)
	}
	return e.Insert(list, index, v)
}

func (e *Edits) insertEmpty(seq *Node, v Value, likes []*Node) error {
	for _, one := range e.empty {
		if one.seq == seq {
			one.values = append(one.values, v)
			return nil
		}
	}
	e.empty = append(e.empty, &emptyInsert{seq, []Value{v}, likes})
	return nil
}

// listsOf returns the lists that contain the items.
func listsOf(items []*Node) []*Node {
	var lists []*Node
	for _, n := range items {
		if n.Parent != nil && n.Parent.Kind == Sequence {
			lists = append(lists, n.Parent)
		}
	}
	return lists
}

// AddField adds a key to a mapping, after the given key or at the end.
func (e *Edits) AddField(m *Node, after string, f Field, likes ...*Node) error {
	if err := editable(m); err != nil {
		return err
	}
	if m.Kind != Mapping {
		return e.file.refused(m.Start, "adding a key to something that is no mapping")
	}
	if len(m.Children) == 0 {
		return e.Fill(m, Map(f), likes...)
	}
	at := len(m.Children) - 1
	for i := 0; i+1 < len(m.Children); i += 2 {
		if m.Children[i].Value == after {
			at = i + 1
		}
	}
	c := e.change(m)
	c.fields = append(c.fields, f)
	if m.Style == Block {
		return e.addBlockField(m, at, f, likes)
	}
	w, l := e.writer(m), layoutOf(m.doc, append([]*Node{m}, likes...))
	e.pend(m, (at+1)/2, 2, w.flowField(f, w.lineIndent(m.Children[0].Start), append(likes, m), l), l)
	return nil
}

// Fill replaces a null or an empty collection by a value. The node must be the value of a key.
func (e *Edits) Fill(n *Node, v Value, likes ...*Node) error {
	if err := editable(n); err != nil {
		return err
	}
	if !n.IsNull() && (n.Kind == Scalar || len(n.Children) > 0) {
		return e.file.refused(n.Start, "filling something that is not empty")
	}
	if bytes.IndexByte(e.file.Src[n.Start:n.End], '#') >= 0 {
		return e.file.refused(n.Start, "filling an empty list that holds a comment")
	}
	e.change(n).filled = &v
	return e.fill(n, v, likes)
}

func (e *Edits) change(n *Node) *nodeChange {
	e.node = n
	c := e.changed[n]
	if c == nil {
		c = &nodeChange{}
		e.changed[n] = c
	}
	return c
}

func (e *Edits) splice(start, end int, text string) {
	e.splices = append(e.splices, splice{start, end, []byte(text), depthOf(e.node)})
}

// depthOf returns the number of nodes from the root to n; 0 means the document itself.
func depthOf(n *Node) int {
	depth := 0
	for ; n != nil; n = n.Parent {
		depth++
	}
	return depth
}

// editable refuses nodes that aliases repeat in other places.
func editable(n *Node) error {
	for p := n; p != nil; p = p.Parent {
		if p.Kind == Alias {
			return n.doc.file.refused(p.Start, "editing an alias (*%s)", p.Value).
				Fix("Write the value instead of the alias.")
		}
		if p.Anchor != "" {
			return n.doc.file.refused(p.Start, "editing inside of the anchor &%s, which several places use", p.Anchor).
				Fix("Write the aliases of &%s out, and remove the anchor.", p.Anchor)
		}
	}
	return nil
}

func inFlow(n *Node) bool {
	return n.Parent != nil && n.Parent.Style == Flow
}

// nearest sorts items by their distance from an index. At equal distance the item before it comes first.
func nearest(items []*Node, index int) []*Node {
	out := make([]*Node, 0, min(len(items), 16))
	for d := 1; len(out) < 16 && d <= len(items); d++ {
		if i := index - d; i >= 0 && i < len(items) {
			out = append(out, items[i])
		}
		if i := index + d - 1; i < len(items) {
			out = append(out, items[i])
		}
	}
	return out
}

// Apply carries out the changes and proves the result; see prove.
func (e *Edits) Apply() ([]byte, error) {
	src := e.file.Src
	for _, one := range e.empty {
		if err := e.Fill(one.seq, List(one.values...), listsOf(one.likes)...); err != nil {
			return nil, err
		}
	}
	e.spliceFlow()
	if err := e.spliceRemoved(); err != nil {
		return nil, err
	}
	e.moveUp()
	// At an offset where several nodes end, the splices of the innermost node come first.
	sort.SliceStable(e.splices, func(i, j int) bool {
		a, b := e.splices[i], e.splices[j]
		return a.start < b.start || a.start == b.start && a.depth > b.depth
	})
	size := len(src)
	for _, s := range e.splices {
		size += len(s.text)
	}
	out, at := make([]byte, 0, size), 0
	for _, s := range e.splices {
		if s.start < at {
			return nil, e.file.refused(s.start, "two changes overlap here")
		}
		out = append(append(out, src[at:s.start]...), s.text...)
		at = s.end
	}
	out = append(out, src[at:]...)
	if err := e.prove(out); err != nil {
		return nil, err
	}
	return out, nil
}
