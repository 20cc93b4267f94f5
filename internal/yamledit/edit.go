package yamledit

import (
	"bytes"
	"slices"
	"sort"
)

// Edits is a set of changes to one file. Nothing happens until Apply.
type Edits struct {
	file    *File
	splices []splice
	changed map[*Node]*nodeChange
	newDocs map[int][]newDoc // by the index of the document they follow
	// replaced are the texts of documents that stand in the place of others, by index.
	replaced map[int][]byte
	gone     map[int]bool // documents, by index
	cuts     []cut
	pending  []*flowInsert
	empty    []*emptyInsert
	node     *Node // to which the splices that are being made belong
}

// emptyInsert collects what goes into a list that has no items yet.
type emptyInsert struct {
	seq    *Node
	values []Value
	likes  []*Node
}

// nodeChange is what is meant to become of one node.
type nodeChange struct {
	scalar   *string
	inserted map[int][]Value // into a sequence, before the item of that index
	fields   []Field         // added to a mapping
	filled   *Value          // in place of a null or an empty collection
	removed  map[int]bool    // children of a sequence; keys of a mapping
}

type splice struct {
	start, end int
	text       []byte
	depth      int // of the node that it belongs to
}

// Edit begins a set of changes to the file.
func (f *File) Edit() *Edits {
	return &Edits{file: f, changed: map[*Node]*nodeChange{}, newDocs: map[int][]newDoc{}}
}

// Empty reports whether no change was asked for.
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

// Insert puts an item before the sequence's item of that index (its length: at the
// end). The item is written as likes are, the nearest first, else as its siblings.
func (e *Edits) Insert(seq *Node, index int, v Value, likes ...*Node) error {
	if err := editable(seq); err != nil {
		return err
	}
	if seq.Kind != Sequence {
		return e.file.refused(seq.Start, "inserting into something that is no list")
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

// InsertIn is Insert for the list under a key of a mapping, which may be empty, null or missing:
// then it is begun after the key of that name, and looks like one of the lists.
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

// listsOf are the lists that hold the items.
func listsOf(items []*Node) []*Node {
	var lists []*Node
	for _, n := range items {
		if n.Parent != nil && n.Parent.Kind == Sequence {
			lists = append(lists, n.Parent)
		}
	}
	return lists
}

// AddField adds a key at the end of a mapping, or after the given key of it.
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

// Fill puts a value in place of a null or an empty collection, which must be the
// value of a key.
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

// depthOf is 0 for a document, and one more for each node on the way to n.
func depthOf(n *Node) int {
	depth := 0
	for ; n != nil; n = n.Parent {
		depth++
	}
	return depth
}

// editable refuses nodes that stand in more than one place.
func editable(n *Node) error {
	for p := n; p != nil; p = p.Parent {
		if p.Kind == Alias {
			return n.doc.file.refused(p.Start, "editing an alias (*%s)", p.Value).
				Fix("Write the value out in place of the alias.")
		}
		if p.Anchor != "" {
			return n.doc.file.refused(p.Start, "editing inside of the anchor &%s, which stands in several places", p.Anchor).
				Fix("Write the aliases of &%s out, and remove the anchor.", p.Anchor)
		}
	}
	return nil
}

func inFlow(n *Node) bool {
	return n.Parent != nil && n.Parent.Style == Flow
}

// nearest orders items by their distance from a place: before it first.
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

// Apply splices the changes in and proves them; see prove.
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
	// Where several nodes end, what belongs to the innermost comes first.
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
