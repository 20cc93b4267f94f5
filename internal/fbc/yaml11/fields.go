package yaml11

// Field is one key of the mapping at the top of a document.
type Field struct {
	Key    []byte
	Text   []byte // the value, where it is a text
	IsText bool
	Offset int // of the value in the text that was parsed
	value  int32
}

// Fields gives the keys of the top mapping, sorted, the last one of those that
// stand there twice. ok is false when the document is something else than a
// mapping; a document without content has no fields.
func (t *Tree) Fields() (fields []Field, ok bool, err error) {
	if t.root == 0 {
		return nil, true, nil
	}
	root := &t.nodes[t.target(t.root)]
	if root.kind != mapping {
		v, _, err := t.scalarValue(root)
		return nil, err == nil && root.kind == scalar && v.typ == typeNull, err
	}
	defer catch(&err)
	t.entries = t.entries[:0]
	t.collect(t.target(t.root))
	for _, e := range t.entries[:sortEntries(t.entries)] {
		f := Field{Key: e.key, Offset: int(t.nodes[e.value].pos), value: t.target(e.value)}
		if n := &t.nodes[f.value]; n.kind == scalar {
			v, text, err := t.scalarValue(n)
			if err != nil {
				return nil, true, err
			}
			f.Text, f.IsText = text, v.typ == typeString || v.typ == typeTime
		}
		fields = append(fields, f)
	}
	t.entries = t.entries[:0]
	return fields, true, nil
}

// Top is the offset of the document's content.
func (t *Tree) Top() int {
	if t.root == 0 {
		return t.end
	}
	return int(t.nodes[t.root].pos)
}

// Items gives the offsets of the items of a list, none for anything else.
func (t *Tree) Items(f Field) []int {
	if t.nodes[f.value].kind != sequence {
		return nil
	}
	var offsets []int
	for i := t.nodes[f.value].child; i != 0; i = t.nodes[i].next {
		offsets = append(offsets, int(t.nodes[i].pos))
	}
	return offsets
}

// IsText tells whether a text without quotes stands for itself, not for a
// number, a boolean or the like.
func IsText(text []byte) bool {
	t := resolve(text).typ
	return t == typeString || t == typeTime
}

// Fault gives the place of an offset in a text.
func Fault(src []byte, offset int, msg string) *Error { return fault(src, offset, "%s", msg) }
