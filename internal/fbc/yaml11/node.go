package yaml11

import "iter"

// Node is a value of a tree without tags and aliases.
type Node struct {
	t *Tree
	i int32
}

// Root gives the value of the document. It is false for an empty document, and
// for one with tags or aliases, which only AppendJSON understands.
func (t *Tree) Root() (Node, bool) {
	return Node{t, t.root}, t.root != 0 && !t.aliases && !t.tagged
}

// Text gives the value of a text, false for anything else.
func (n Node) Text() (text []byte, ok bool) {
	node := &n.t.nodes[n.i]
	return node.val, node.kind == scalar && (!node.implicit || !n.t.json && IsText(node.val))
}

// IsMapping tells whether the value has keys, all of them texts.
func (n Node) IsMapping() bool {
	if n.t.nodes[n.i].kind != mapping {
		return false
	}
	for k := n.t.nodes[n.i].child; k != 0; {
		if _, ok := (Node{n.t, k}).Text(); !ok || n.t.isMerge(k) {
			return false
		}
		k = n.t.nodes[n.t.nodes[k].next].next
	}
	return true
}

// Pairs gives the keys and values of a mapping as they stand there.
func (n Node) Pairs() iter.Seq2[[]byte, Node] {
	return func(yield func([]byte, Node) bool) {
		for k := n.t.nodes[n.i].child; k != 0; {
			v := n.t.nodes[k].next
			if !yield(n.t.nodes[k].val, Node{n.t, v}) {
				return
			}
			k = n.t.nodes[v].next
		}
	}
}

// Items gives the values of a list, and false for anything else.
func (n Node) Items() (iter.Seq[Node], bool) {
	return func(yield func(Node) bool) {
		for k := n.t.nodes[n.i].child; k != 0; k = n.t.nodes[k].next {
			if !yield(Node{n.t, k}) {
				return
			}
		}
	}, n.t.nodes[n.i].kind == sequence
}

// AppendJSON appends the value as Tree.AppendJSON does.
func (n Node) AppendJSON(dst []byte, mode Mode) ([]byte, error) {
	w := jsonWriter{out: dst, mode: mode, sought: -1}
	return n.t.writeJSON(&w, n.i)
}

// AppendText appends a text as a JSON string.
func AppendText(dst []byte, text string) []byte { return appendString(dst, []byte(text), false) }
