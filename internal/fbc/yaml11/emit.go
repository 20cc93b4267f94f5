package yaml11

import (
	"slices"
)

// FromJSON converts JSON to YAML as sigs.k8s.io/yaml.JSONToYAML does: block
// style, sorted keys, lists flush with their key, long lines folded at 80
// columns. That library reads JSON as YAML; what the two languages read
// differently is read as YAML here too.
func FromJSON(src []byte) ([]byte, error) {
	t, odd, err := parseJSON(src)
	if bad, breaks := survey(src); err == nil && (odd || bad >= 0 || breaks) {
		t, err = Parse(src)
	}
	if err != nil {
		return nil, err
	}
	defer t.Free()
	return t.appendYAML(make([]byte, 0, len(src)+len(src)/4+64))
}

const (
	bestIndent = 2
	bestWidth  = 80
	longestKey = 128 // bytes of a key that needs no question mark
)

// emitter writes a tree as YAML. The names of its state are libyaml's.
type emitter struct {
	t          *Tree
	out        []byte
	line       int // where the current line begins in out, less what multi-byte characters take too much
	indent     int
	whitespace bool // the last character was a blank or the like
	indention  bool // only indentation and indicators stand on this line
}

// appendYAML appends the document, all of whose keys are texts.
func (t *Tree) appendYAML(dst []byte) (out []byte, err error) {
	e := emitter{t: t, out: dst, line: len(dst), indent: -1, whitespace: true, indention: true}
	t.entries = t.entries[:0]
	defer catch(&err)
	if t.root == 0 {
		e.plain([]byte("null"), false)
	} else {
		e.value(t.root, false)
	}
	e.indent = 0
	e.newLine()
	return e.out, nil
}

func (e *emitter) column() int { return len(e.out) - e.line }

func (e *emitter) lineBreak() {
	e.out = append(e.out, '\n')
	e.line = len(e.out)
}

const spaces = "                                                                "

// newLine goes to the current indentation, on a new line unless there is
// nothing but indentation on this one.
func (e *emitter) newLine() {
	indent := max(e.indent, 0)
	col := e.column()
	if !e.indention || col > indent || col == indent && !e.whitespace {
		e.lineBreak()
		col = 0
	}
	for col < indent {
		n := min(indent-col, len(spaces))
		e.out = append(e.out, spaces[:n]...)
		col += n
	}
	e.whitespace, e.indention = true, true
}

// indicator writes -, ?, : or the opening of a scalar or flow collection.
func (e *emitter) indicator(text string, space, indention bool) {
	if space && !e.whitespace {
		e.out = append(e.out, ' ')
	}
	e.out = append(e.out, text...)
	e.whitespace = false
	e.indention = e.indention && indention
}

// value writes any value; ofKey tells that it is one of a mapping.
func (e *emitter) value(i int32, ofKey bool) {
	n := &e.t.nodes[e.t.target(i)]
	switch {
	case n.kind == scalar:
		e.scalarNode(n)
	case n.child == 0 && n.kind == sequence:
		e.indicator("[]", true, false)
	case n.child == 0:
		e.indicator("{}", true, false)
	case n.kind == sequence:
		outer := e.indent
		// A list is flush with its key, but not with a question mark's colon.
		if e.indent < 0 {
			e.indent = 0
		} else if !ofKey || e.indention {
			e.indent += bestIndent
		}
		for k := n.child; k != 0; k = e.t.nodes[k].next {
			e.newLine()
			e.indicator("-", true, true)
			e.value(k, false)
		}
		e.indent = outer
	default:
		e.mapping(n)
	}
}

func (e *emitter) mapping(n *node) {
	base := len(e.t.entries)
	for k := n.child; k != 0; {
		v := e.t.nodes[k].next
		e.t.entries = append(e.t.entries, entry{e.t.nodes[k].val, v})
		k = e.t.nodes[v].next
	}
	end := base + orderEntries(e.t.entries[base:])
	outer := e.indent
	if e.indent < 0 {
		e.indent = 0
	} else {
		e.indent += bestIndent
	}
	for k := base; k < end; k++ {
		pair := e.t.entries[k]
		e.newLine()
		if len(pair.key) <= longestKey && !hasBreak(pair.key) {
			e.text(pair.key, true)
			e.indicator(":", false, false)
		} else {
			e.indicator("?", true, true)
			e.text(pair.key, false)
			e.newLine()
			e.indicator(":", true, true)
		}
		e.value(pair.value, true)
	}
	e.indent = outer
	e.t.entries = e.t.entries[:base]
}

// orderEntries sorts by key in the order of the emitter, keeps the last of
// equal keys, and gives how many are left. Sorting by bytes first finds equal
// keys, and makes the outcome depend on nothing else: the order of the emitter
// is not a strict one.
func orderEntries(e []entry) int {
	n := sortEntries(e)
	byKey := func(a, b entry) int { return compareKeys(a.key, b.key) }
	if !slices.IsSortedFunc(e[:n], byKey) {
		slices.SortStableFunc(e[:n], byKey)
	}
	return n
}

func (e *emitter) scalarNode(n *node) {
	v, text, err := e.t.scalarValue(n)
	if err != nil {
		panic(err)
	}
	if v.typ == typeString || v.typ == typeTime {
		e.text(text, false)
		return
	}
	var buf [32]byte
	e.plain(v.spell(buf[:0]), false)
}
