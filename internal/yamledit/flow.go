package yamledit

import (
	"bytes"
	"strings"
)

// flow writes a value in flow style or as JSON. base is the indent of the line on which the value begins.
func (w *writer) flow(v Value, base string, likes []*Node, l layout) string {
	open, close := "[", "]"
	var parts []string
	switch v.kind {
	case Scalar:
		return v.scalar(styleOf(likes), true, w.json)
	case Sequence:
		var items []*Node
		for _, like := range likes {
			if like.Kind == Sequence {
				items = append(items, like.Children...)
			}
		}
		if like := firstOf(likes, Sequence); like != nil && like.Style == Flow {
			l.lines = bytes.IndexByte(w.src[like.Start:like.Children[0].Start], '\n') >= 0
		}
		for _, item := range v.items {
			parts = append(parts, w.flow(item, base+l.unit, items, l))
		}
		if !l.lines {
			l.pad = ""
		}
	case Mapping:
		open, close = "{", "}"
		for _, f := range orderFields(v.fields, likes) {
			parts = append(parts, w.flowField(f, base+l.unit, likes, l))
		}
	}
	if len(parts) == 0 {
		return open + close
	}
	if !l.lines {
		return open + l.pad + strings.Join(parts, l.comma) + l.pad + close
	}
	sep := w.eol + base + l.unit
	return open + sep + strings.Join(parts, ","+sep) + w.eol + base + close
}

func (w *writer) flowField(f Field, base string, likes []*Node, l layout) string {
	values := valuesOf(f.Key, likes)
	if len(values) == 0 && f.Like != nil {
		values = []*Node{f.Like}
	}
	return w.keyText(f.Key, likes, true) + l.colon + w.flow(f.Value, base, values, l)
}

// closingIndent returns the indent of the line on which a node ends.
func (w *writer) closingIndent(n *Node) string {
	if n.Kind == Scalar || n.End == n.Start {
		return w.lineIndent(n.Start)
	}
	return w.lineIndent(n.End - 1)
}

// flowInsert is text to insert between the elements of a flow collection. Texts for the same place are written
// together, so that they share one set of commas.
type flowInsert struct {
	n            *Node
	index, width int // index is the next element's; width is the number of children per element
	texts        []string
	layout       layout
}

func (e *Edits) pend(n *Node, index, width int, text string, l layout) {
	for _, p := range e.pending {
		if p.n == n && p.index == index {
			p.texts = append(p.texts, text)
			return
		}
	}
	e.pending = append(e.pending, &flowInsert{n, index, width, []string{text}, l})
}

func (e *Edits) spliceFlow() {
	for _, p := range e.pending {
		e.node = p.n
		if onOwnLines(e.file.Src, p.n, p.width) {
			e.spliceOwnLines(p)
		} else {
			e.spliceOnLine(p)
		}
	}
	e.pending = nil
}

// spliceOnLine writes the elements on the line of their siblings.
func (e *Edits) spliceOnLine(p *flowInsert) {
	sep := p.layout.comma
	if i := commaAfter(p.n); i >= 0 {
		sep = "," + string(blanksAfter(e.file.Src, i+1))
	}
	text := strings.Join(p.texts, sep)
	if p.index == 0 {
		at := p.n.Children[0].begin()
		e.splice(at, at, text+sep)
		return
	}
	at := p.n.Children[p.index*p.width-1].End
	e.splice(at, at, sep+text)
}

// spliceOwnLines writes each element on a line of its own. A comment after the previous element stays with that
// element: the comma goes before the comment, the new lines after it.
func (e *Edits) spliceOwnLines(p *flowInsert) {
	src, w := e.file.Src, e.writer(p.n)
	if p.index == 0 {
		first := p.n.Children[0]
		sep := "," + w.eol + w.lineIndent(first.Start)
		e.splice(first.begin(), first.begin(), strings.Join(p.texts, sep)+sep)
		return
	}
	prev := p.n.Children[p.index*p.width-1]
	begin := w.eol + w.lineIndent(p.n.Children[(p.index-1)*p.width].Start)
	text := begin + strings.Join(p.texts, ","+begin)
	comma := skipTrivia(src, prev.End)
	has := comma < p.n.End && src[comma] == ','
	if has {
		text += ","
	} else {
		e.splice(prev.End, prev.End, ",")
		comma = prev.End
	}
	at := contentLineEnd(src, comma)
	if rest := restOfLine(src, comma, at); len(rest) == 0 || rest[0] == '#' {
		e.splice(at, at, text)
		return
	}
	// A bracket or the next element is on the same line.
	if has {
		comma++
	}
	e.splice(comma, comma, text)
}

func restOfLine(src []byte, from, to int) []byte {
	rest := bytes.TrimSpace(src[min(from, to):to])
	return bytes.TrimSpace(bytes.TrimPrefix(rest, []byte(",")))
}

func blanksAfter(src []byte, at int) []byte {
	end := at
	for end < len(src) && src[end] == ' ' {
		end++
	}
	return src[at:end]
}

// onOwnLines reports whether each element begins on its own line. It looks for a line break between the first two
// elements, or before the only one.
func onOwnLines(src []byte, n *Node, width int) bool {
	if len(n.Children) > width {
		return bytes.IndexByte(src[n.Children[width-1].End:n.Children[width].Start], '\n') >= 0
	}
	return bytes.IndexByte(src[n.Start:n.Children[0].Start], '\n') >= 0
}
