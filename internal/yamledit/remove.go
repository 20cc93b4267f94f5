package yamledit

import (
	"bytes"
	"maps"
	"slices"
)

// cut is a range of text to remove, and the nodes to remove with it.
type cut struct {
	start, end int
	nodes      []*Node
}

// Remove removes an item from its list. A comment after the item goes with it; a comment above it stays.
func (e *Edits) Remove(item *Node) error {
	if item.Parent == nil || item.Parent.Kind != Sequence {
		return e.file.refused(item.Start, "removing something that is no item of a list")
	}
	return e.remove(item.Parent, slices.Index(item.Parent.Children, item))
}

// RemoveField removes a key and its value from a mapping.
func (e *Edits) RemoveField(m *Node, key string) error {
	node, _ := m.Fold(key)
	if m.Kind != Mapping || node == nil {
		return e.file.refused(m.Start, "removing the key %s from something that does not have it", key)
	}
	return e.remove(m, slices.Index(m.Children, node))
}

func (e *Edits) remove(n *Node, child int) error {
	if err := editable(n.Children[child]); err != nil {
		return err
	}
	c := e.change(n)
	if c.removed == nil {
		c.removed = map[int]bool{}
	}
	c.removed[child] = true
	return nil
}

// RemoveDoc removes a document from the file, with the comments above it.
func (e *Edits) RemoveDoc(index int) error {
	if e.gone == nil {
		e.gone = map[int]bool{}
	}
	e.gone[index] = true
	if len(e.gone) == len(e.file.Docs) {
		return e.file.refused(0, "removing the only document of a file").Fix("Remove the file.")
	}
	return nil
}

// spliceRemoved cuts all removed nodes. It cuts neighbours together, so that one separator remains between their
// surviving siblings.
func (e *Edits) spliceRemoved() error {
	for n, c := range e.changed {
		width := 1
		if n.Kind == Mapping {
			width = 2
		}
		for _, run := range runs(c.removed, width) {
			if err := e.cutRun(n, run[0], run[1], width); err != nil {
				return err
			}
		}
	}
	docs := e.file.Docs
	for _, run := range runs(e.gone, 1) {
		first, last := docs[run[0]], docs[run[1]]
		switch {
		case run[1]+1 < len(docs):
			e.cut(first.Start, docs[run[1]+1].Start, nil)
		default:
			e.cut(docs[run[0]-1].End, last.End, nil)
		}
	}
	e.cutLineBreak()
	return nil
}

// cutLineBreak removes the last line break if the file had none at its end and lost its last lines.
func (e *Edits) cutLineBreak() {
	src := e.file.Src
	start := len(src)
	if start == 0 || src[start-1] == '\n' {
		return
	}
	first := -1
	for found := true; found; {
		i := slices.IndexFunc(e.cuts, func(c cut) bool { return c.end == start && c.start < start })
		if found = i >= 0; found {
			first, start = i, e.cuts[i].start
		}
	}
	if first < 0 {
		return
	}
	c := &e.cuts[first]
	i := slices.IndexFunc(e.splices, func(s splice) bool { return s.start == c.start && s.end == c.end })
	c.start = len(bytes.TrimSuffix(bytes.TrimSuffix(src[:start], []byte("\n")), []byte("\r")))
	e.splices[i].start = c.start
}

// moveUp moves insertions after cut lines to the end of the line above them.
func (e *Edits) moveUp() {
	src := e.file.Src
	for i, s := range e.splices {
		if s.start != s.end {
			continue
		}
		for again := true; again; {
			at := s.start
			again = slices.ContainsFunc(e.cuts, func(c cut) bool {
				if c.start == 0 || src[c.start-1] != '\n' || at <= c.start || at >= c.end || len(bytes.Trim(src[at:c.end], "\r\n")) > 0 {
					return false
				}
				s.start = len(bytes.TrimSuffix(src[:c.start-1], []byte("\r")))
				return true
			})
			again = again && s.start < at
		}
		e.splices[i].start, e.splices[i].end = s.start, s.start
	}
}

// runs returns the first and last index of each run of neighbours. Neighbours' indices differ by width.
func runs(set map[int]bool, width int) (all [][2]int) {
	for _, i := range slices.Sorted(maps.Keys(set)) {
		if n := len(all); n > 0 && all[n-1][1] == i-width {
			all[n-1][1] = i
		} else {
			all = append(all, [2]int{i, i})
		}
	}
	return all
}

// cutRun cuts neighbouring elements of a collection. first and last are the indices of the first child of the
// first and of the last element.
func (e *Edits) cutRun(n *Node, first, last, width int) error {
	e.node = n
	all := n.Children
	end := last + width - 1 // last removed child
	nodes := all[first : end+1]
	rest := len(all) > end+1
	if first == 0 && !rest {
		return e.file.refused(n.Start, "removing all that a list or mapping holds")
	}
	switch {
	case n.Style == Flow && rest:
		e.cut(all[first].begin(), all[end+1].begin(), nodes)
	case n.Style == Flow:
		e.cut(all[first-1].End, all[end].End, nodes)
	case width == 2 && first == 0 && !blankBefore(e.file.Src, all[0].begin()):
		e.cut(all[0].begin(), all[end+1].begin(), nodes) // the dash of an item stays
	default:
		return e.cutLines(n, nodes, rest)
	}
	return nil
}

// cutLines cuts whole lines of a block. It also cuts a blank line that would be doubled or would remain after the
// last item.
func (e *Edits) cutLines(n *Node, nodes []*Node, rest bool) error {
	src := e.file.Src
	at := nodes[0].begin()
	if n.Kind == Sequence {
		at = dashBefore(src, at)
	}
	if at < n.Start {
		return e.file.refused(n.Start, "removing an item whose dash cannot be found")
	}
	start, end := lineStart(src, at), lineEnd(src, max(nodes[len(nodes)-1].End-1, at))
	if !blankBefore(src, at) {
		return e.file.refused(at, "removing an item that shares its line with others")
	}
	blank := func(from, to int) bool { return from < to && len(bytes.TrimSpace(src[from:to])) == 0 }
	before := lineStart(src, max(start-1, 0))
	if next := lineEnd(src, end); rest && blank(end, next) && blank(before, start) {
		if nodes[0] == n.Children[0] {
			end = next
		} else {
			start = before
		}
	}
	for !rest && blank(lineStart(src, max(start-1, 0)), start) {
		start = lineStart(src, start-1)
	}
	e.cut(start, end, nodes)
	return nil
}

// dashBefore returns the offset of an item's dash. If a comment follows the dash, the dash is on an earlier line.
func dashBefore(src []byte, at int) int {
	if dash := bytes.LastIndexByte(src[lineStart(src, at):at], '-'); dash >= 0 {
		return lineStart(src, at) + dash
	}
	for start := lineStart(src, at); start > 0; {
		end := start
		start = lineStart(src, end-1)
		text := bytes.TrimLeft(src[start:end], " \t\uFEFF")
		if len(text) > 0 && text[0] == '-' {
			return end - len(text)
		}
		if text = bytes.TrimSpace(text); len(text) > 0 && text[0] != '#' {
			break
		}
	}
	return -1
}

// blankBefore reports whether only blanks precede an offset on its line.
func blankBefore(src []byte, at int) bool {
	return len(bytes.Trim(src[lineStart(src, at):at], " \t\uFEFF")) == 0
}

func (e *Edits) cut(start, end int, nodes []*Node) {
	e.cuts = append(e.cuts, cut{start, end, nodes})
	e.splice(start, end, "")
}

// isCut reports whether a splice removes only requested nodes, the punctuation around them and comments on their
// lines. A removed document may lose all of its text.
func (e *Edits) isCut(s splice) bool {
	i := slices.IndexFunc(e.cuts, func(c cut) bool { return c.start == s.start && c.end == s.end })
	if i < 0 || len(s.text) > 0 {
		return false
	}
	c := e.cuts[i]
	if c.nodes == nil {
		return true
	}
	left := bytes.Clone(e.file.Src[c.start:c.end])
	for _, n := range c.nodes {
		for at := max(n.begin(), c.start); at < min(n.End, c.end); at++ {
			left[at-c.start] = ' '
		}
	}
	for line := range bytes.Lines(left) {
		text, _, _ := bytes.Cut(line, []byte("#"))
		if len(bytes.Trim(text, " \t\r\n-,:?\"'")) > 0 {
			return false
		}
	}
	return true
}
