package yamledit

import (
	"bytes"
	"slices"
	"strings"
)

// writer writes new content in the style of the nodes that the document already has.
type writer struct {
	src       []byte
	json      bool
	eol       string
	seqOffset int // how far a list's dashes are indented from their key
	step      int // how far a nested mapping's keys are indented from their key
}

// insertBlockItem adds an item's lines below the previous item and the comments in it. A new first item goes
// above the comments directly before the current first item.
func (e *Edits) insertBlockItem(seq *Node, index int, v Value, likes []*Node) error {
	w := e.writer(seq)
	col := seq.indent()
	if index > 0 {
		prev := seq.Children[index-1]
		at := belowComments(w.src[:seq.doc.End], contentLineEnd(w.src, prev.End), col)
		e.splice(at, at, strings.Repeat(w.eol, 1+e.blankBetween(seq))+w.item(v, col, likes, seq))
		return nil
	}
	dash := lineStart(w.src, seq.Start)
	if len(bytes.TrimSpace(w.src[dash:seq.Start])) > 0 || dash < seq.doc.Start {
		return e.file.refused(seq.Start, "inserting before the first item of a list that begins in the middle of a line")
	}
	at := aboveComments(w.src, dash, seq.doc.Start, col)
	if seq.Parent == nil && at <= seq.doc.Start {
		at = dash
	}
	e.splice(at, at, w.item(v, col, likes, seq)+strings.Repeat(w.eol, 1+e.blankBetween(seq)))
	return nil
}

// addBlockField adds the key's lines after the line on which the value with the given index ends.
func (e *Edits) addBlockField(m *Node, valueIndex int, f Field, likes []*Node) error {
	w := e.writer(m)
	at := contentLineEnd(w.src, max(m.Children[valueIndex].End, m.Children[valueIndex-1].End))
	col := m.indent()
	blank := 0
	if valueIndex > 1 {
		blank = e.leastBlank(m.Children[valueIndex-2:valueIndex-1], m.Children[valueIndex-1:valueIndex])
	}
	if len(likes) == 0 {
		likes = []*Node{m}
	}
	lines := w.fieldLines(f, col, likes)
	e.splice(at, at, strings.Repeat(w.eol, 1+blank)+strings.Join(lines, w.eol))
	return nil
}

// fill writes the value of a key that has none. In block style, lines below the key replace an empty [] or {}. In
// flow style, fill writes in place.
func (e *Edits) fill(n *Node, v Value, likes []*Node) error {
	w := e.writer(n)
	if inFlow(n) || n.doc.JSON {
		e.splice(n.Start, n.End, w.flow(v, w.lineIndent(n.Start), likes, layoutOf(n.doc, likes)))
		return nil
	}
	if n.Parent == nil || n.Parent.Kind != Mapping {
		return e.file.refused(n.Start, "filling an empty value that no key holds")
	}
	key := keyOf(n)
	if v.kind == Scalar {
		start := n.Start
		if start > 0 && w.src[start-1] == ':' {
			e.splice(start, n.End, " "+v.scalar(styleOf(likes), false, false))
		} else {
			e.splice(start, n.End, v.scalar(styleOf(likes), false, false))
		}
		return nil
	}
	lines := w.valueLines(v, key.indent(), likes)
	start := n.Start
	for start > key.End && (w.src[start-1] == ' ' || w.src[start-1] == '\t') {
		start--
	}
	if start < n.End {
		e.splice(start, n.End, "")
	}
	at := contentLineEnd(w.src, n.End)
	e.splice(at, at, w.eol+strings.Join(lines, w.eol))
	return nil
}

func keyOf(value *Node) *Node {
	for key, v := range value.Parent.Fields() {
		if v == value {
			return key
		}
	}
	return value
}

func (e *Edits) writer(n *Node) *writer {
	w := &writer{src: e.file.Src, json: n.doc.JSON, eol: eolNear(e.file.Src, n.Start), seqOffset: -1, step: -1}
	if root, _ := n.doc.Root(); root != nil {
		w.learn(root, new(int))
	}
	if w.seqOffset < 0 {
		w.seqOffset = 0
	}
	if w.step < 0 {
		w.step = 2
	}
	return w
}

// learn takes over the first indents that the document uses. It looks at a few hundred nodes only, so that large
// files cost no more.
func (w *writer) learn(n *Node, seen *int) {
	if *seen++; *seen > 400 || n.Kind != Mapping && n.Kind != Sequence || n.Style != Block {
		return
	}
	for i, c := range n.Children {
		if n.Kind == Mapping && i%2 == 1 && c.Style == Block && len(c.Children) > 0 {
			offset := c.indent() - n.indent()
			if c.Kind == Sequence && w.seqOffset < 0 {
				w.seqOffset = offset
			}
			if c.Kind == Mapping && w.step < 0 && offset > 0 {
				w.step = offset
			}
		}
		w.learn(c, seen)
	}
}

// item writes "- ..." at the column, without the last line break.
func (w *writer) item(v Value, col int, likes []*Node, seq *Node) string {
	gap := " "
	if len(seq.Children) > 0 {
		gap = w.dashGap(seq)
	}
	return strings.Join(w.itemLines(v, col, gap, likes), w.eol)
}

// dashGap returns the white space between a sibling's dash and its content.
func (w *writer) dashGap(seq *Node) string {
	first := seq.Children[0]
	if seq.Start+1 <= first.Start && first.Start <= len(w.src) {
		if gap := w.src[seq.Start+1 : first.Start]; len(gap) > 0 && len(bytes.Trim(gap, " ")) == 0 {
			return string(gap)
		}
	}
	return " "
}

func (w *writer) itemLines(v Value, col int, gap string, likes []*Node) []string {
	indent := strings.Repeat(" ", col)
	if v.kind == Scalar {
		return []string{indent + "-" + gap + v.scalar(styleOf(likes), false, w.json) + v.behind}
	}
	if like := firstOf(likes, v.kind); like != nil && like.Style == Flow {
		return []string{indent + "-" + gap + w.flow(v, indent, likes, layoutOf(like.doc, likes))}
	}
	if len(v.items)+len(v.fields) == 0 {
		return []string{indent + "-" + gap + w.flow(v, indent, nil, layout{})}
	}
	inner := col + 1 + len(gap)
	var lines []string
	if v.kind == Mapping {
		lines = w.mapLines(v, inner, likes)
	} else {
		lines = w.seqLines(v, inner, nil)
	}
	lines[0] = indent + "-" + gap + lines[0][inner:]
	return lines
}

func (w *writer) seqLines(v Value, col int, likes []*Node) []string {
	gap, items := " ", []*Node(nil)
	for _, like := range likes {
		if like.Kind == Scalar {
			items = append(items, like)
		}
		if like.Kind == Sequence && len(like.Children) > 0 {
			if like.Style == Block {
				gap = w.dashGap(like)
			}
			items = append(items, like.Children...)
		}
	}
	var lines []string
	for _, item := range v.items {
		lines = append(lines, w.itemLines(item, col, gap, items)...)
	}
	return lines
}

func (w *writer) mapLines(v Value, col int, likes []*Node) []string {
	var lines []string
	for _, f := range orderFields(v.fields, likes) {
		lines = append(lines, w.fieldLines(f, col, likes)...)
	}
	return lines
}

// fieldLines writes "key: value" with its indent. likes are mappings whose style it follows.
func (w *writer) fieldLines(f Field, col int, likes []*Node) []string {
	key := strings.Repeat(" ", col) + w.keyText(f.Key, likes, false) + ":"
	values := valuesOf(f.Key, likes)
	if len(values) == 0 && f.Like != nil {
		values = []*Node{f.Like}
	}
	if len(values) == 0 {
		values = quotedOnly(likes)
	}
	if f.Value.kind == Scalar {
		return []string{key + " " + f.Value.scalar(styleOf(values), false, w.json) + f.Value.behind}
	}
	like := firstOf(values, f.Value.kind)
	if f.Value.kind == Sequence && len(f.Value.items) == 0 {
		return []string{key + " []"}
	}
	if f.Value.kind == Mapping && len(f.Value.fields) == 0 {
		return []string{key + " {}"}
	}
	if like != nil && like.Style == Flow && len(like.Children) > 0 {
		return []string{key + " " + w.flow(f.Value, strings.Repeat(" ", col), values, layoutOf(like.doc, values))}
	}
	return append([]string{key}, w.valueLines(f.Value, col, values)...)
}

// valueLines writes a list or mapping below a key whose indent is keyCol.
func (w *writer) valueLines(v Value, keyCol int, likes []*Node) []string {
	offset := w.step
	if v.kind == Sequence {
		offset = w.seqOffset
	}
	if like := firstOf(likes, v.kind); like != nil && like.Style == Block && like.Parent != nil && like.Parent.Kind == Mapping {
		if d := like.indent() - keyOf(like).indent(); d >= 0 {
			offset = d
		}
	}
	if v.kind == Sequence {
		return w.seqLines(v, keyCol+offset, likes)
	}
	return w.mapLines(v, keyCol+offset, likes)
}

// keyText writes a key as one of the likes writes the same key. If no like has the key, it uses the quotes of the
// likes' other keys.
func (w *writer) keyText(key string, likes []*Node, flow bool) string {
	style, known := Plain, false
	for _, like := range likes {
		for k := range like.Fields() {
			if k.Kind != Scalar {
				continue
			}
			if k.Value == key {
				return scalarText(key, k.Style, flow, w.json)
			}
			if !known {
				style, known = k.Style, true
			}
		}
	}
	return scalarText(key, style, flow, w.json)
}

// orderFields sorts the keys as the like that shares the most keys does. A key that this like lacks follows the
// same key as before.
func orderFields(fields []Field, likes []*Node) []Field {
	var best map[string]int
	for _, like := range likes {
		order := map[string]int{}
		for i, key := range like.Keys() {
			if slices.ContainsFunc(fields, func(f Field) bool { return f.Key == key }) {
				order[key] = i
			}
		}
		if len(order) > len(best) {
			best = order
		}
	}
	rank, last := map[string]int{}, -1
	for _, f := range fields {
		if r, ok := best[f.Key]; ok {
			last = r
		}
		rank[f.Key] = last
	}
	return slices.SortedStableFunc(slices.Values(fields), func(a, b Field) int { return rank[a.Key] - rank[b.Key] })
}

func valuesOf(key string, likes []*Node) []*Node {
	var out []*Node
	for _, like := range likes {
		if v := like.Get(key); v != nil {
			out = append(out, v)
		}
	}
	return out
}

// quotedOnly returns the strings of the likes if all are quoted, so that a new key is quoted too. Otherwise it
// returns nil.
func quotedOnly(likes []*Node) []*Node {
	var quoted []*Node
	for _, like := range likes {
		for _, v := range like.Fields() {
			if v.Kind == Scalar && v.Style == Plain {
				return nil
			}
			if v.Kind == Scalar {
				quoted = append(quoted, v)
			}
		}
	}
	return quoted
}

func firstOf(likes []*Node, kind Kind) *Node {
	for _, like := range likes {
		if like.Kind == kind && len(like.Children) > 0 {
			return like
		}
	}
	return nil
}

// styleOf returns the style of the first scalar that is a string on one line.
func styleOf(likes []*Node) Style {
	for _, like := range likes {
		if like.Kind == Scalar && like.Tag == "!!str" && like.Style >= Plain && like.Style <= DoubleQuoted {
			return like.Style
		}
	}
	return Plain
}
