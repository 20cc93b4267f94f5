package yamledit

import (
	"bytes"
	"slices"
)

// prove parses the changed documents again. They must differ from the old ones only where a change was requested.
// Every byte outside the splices must be unchanged, and the splices may remove only the values that change.
func (e *Edits) prove(out []byte) error {
	if err := e.proveBytes(out); err != nil {
		return err
	}
	after, err := Open(e.file.Name, out)
	if err != nil {
		return e.file.refused(0, "proving the edit: the result cannot be read: %w", err)
	}
	touched := map[*Doc]bool{}
	for n := range e.changed {
		touched[n.doc] = true
	}
	at := 0
	next := func() *Doc {
		at++
		if at > len(after.Docs) {
			return nil
		}
		return after.Docs[at-1]
	}
	for i := -1; i < len(e.file.Docs); i++ {
		if i >= 0 && !e.gone[i] {
			var err error
			if d := next(); e.replaced[i] == nil {
				err = e.proveDoc(e.file.Docs[i], d, touched[e.file.Docs[i]])
			} else {
				err = e.proveReplaced(i, e.file.Docs[i], d)
			}
			if err != nil {
				return err
			}
		}
		for _, v := range e.newDocs[i] {
			d := next()
			if d == nil {
				return e.file.refused(0, "proving the edit: a new document is missing")
			}
			if !v.matches(d) {
				return e.file.refused(0, "proving the edit: a new document differs from the intended one")
			}
		}
	}
	if at != len(after.Docs) {
		return e.file.refused(0, "proving the edit: the number of documents changed")
	}
	return nil
}

func (e *Edits) proveBytes(out []byte) error {
	old, now := 0, 0
	for _, s := range e.splices {
		keep := s.start - old
		if !bytes.Equal(e.file.Src[old:s.start], out[now:now+keep]) {
			return e.file.refused(old, "proving the edit: bytes outside of the change differ")
		}
		if !e.mayGo(s) {
			return e.file.refused(s.start, "proving the edit: more is gone than the value that was to change")
		}
		old, now = s.end, now+keep+len(s.text)
	}
	if !bytes.Equal(e.file.Src[old:], out[now:]) {
		return e.file.refused(old, "proving the edit: bytes outside of the change differ")
	}
	return nil
}

// mayGo reports whether a splice removes only the text of a value that was to change, and the blanks before it.
func (e *Edits) mayGo(s splice) bool {
	for n, c := range e.changed {
		if (c.scalar != nil || c.filled != nil) && s.end == n.End && s.start <= n.Start &&
			len(bytes.Trim(e.file.Src[s.start:n.Start], " \t")) == 0 {
			return true
		}
	}
	for i := range e.replaced {
		if start, end := e.file.Docs[i].body(); s.start == start && s.end == end {
			return true
		}
	}
	return s.start == s.end || e.isCut(s)
}

func (e *Edits) proveDoc(before, after *Doc, touched bool) error {
	if after == nil || before.JSON != after.JSON {
		return e.file.refused(before.Start, "proving the edit: the document is gone")
	}
	if !touched {
		if !bytes.Equal(before.content(), after.content()) {
			return e.file.refused(before.Start, "proving the edit: another document changed")
		}
		return nil
	}
	b, err := before.Root()
	if err != nil {
		return err
	}
	a, err := after.Root()
	if err != nil {
		return e.file.refused(before.Start, "proving the edit: the result cannot be parsed: %w", err)
	}
	if !e.same(b, a) {
		return e.file.refused(e.firstSplice(before), "proving the edit: the result differs from the intended one")
	}
	return nil
}

// proveReplaced refuses an edit if a replaced document does not have the requested text.
func (e *Edits) proveReplaced(i int, before, after *Doc) error {
	start, end := before.body()
	want := slices.Concat(before.file.Src[before.Start:start], e.replaced[i], before.file.Src[end:before.End])
	if after == nil || !bytes.Equal(bytes.TrimSpace(after.Raw()), bytes.TrimSpace(want)) {
		return e.file.refused(before.Start, "proving the edit: a document is not the one that was to replace it")
	}
	return nil
}

func (e *Edits) firstSplice(d *Doc) int {
	for _, s := range e.splices {
		if s.start >= d.Start {
			return min(s.start, len(e.file.Src))
		}
	}
	return d.Start
}

// same reports whether a equals b with exactly the requested changes.
func (e *Edits) same(b, a *Node) bool {
	if b == nil || a == nil {
		return b == a
	}
	c := e.changed[b]
	if c != nil && c.filled != nil {
		return c.filled.matches(a)
	}
	if c != nil && c.scalar != nil {
		return a.Kind == Scalar && a.Tag == "!!str" && a.Value == *c.scalar
	}
	if b.Kind != a.Kind || b.Style != a.Style || b.Anchor != a.Anchor || b.Tag != a.Tag || b.Value != a.Value {
		return false
	}
	switch b.Kind {
	case Sequence:
		return e.sameItems(b, a, c)
	case Mapping:
		return e.sameFields(b, a, c)
	}
	return true
}

func (e *Edits) sameItems(b, a *Node, c *nodeChange) bool {
	at := 0
	for i := 0; i <= len(b.Children); i++ {
		if c != nil {
			for _, v := range c.inserted[i] {
				if at >= len(a.Children) || !v.matches(a.Children[at]) {
					return false
				}
				at++
			}
		}
		if i < len(b.Children) && (c == nil || !c.removed[i]) {
			if at >= len(a.Children) || !e.same(b.Children[i], a.Children[at]) {
				return false
			}
			at++
		}
	}
	return at == len(a.Children)
}

func (e *Edits) sameFields(b, a *Node, c *nodeChange) bool {
	added, removed := 0, 0
	if c != nil {
		added, removed = len(c.fields), len(c.removed)
		for _, f := range c.fields {
			if b.Get(f.Key) != nil || !f.Value.matches(a.Get(f.Key)) {
				return false
			}
		}
	}
	if len(a.Children) != len(b.Children)+2*(added-removed) {
		return false
	}
	at := 0
	for i := 0; i+1 < len(b.Children); i += 2 {
		if c != nil && c.removed[i] {
			continue
		}
		for added > 0 && at+1 < len(a.Children) && isAdded(c, a.Children[at]) {
			at += 2
		}
		if at+1 >= len(a.Children) || !e.same(b.Children[i], a.Children[at]) || !e.same(b.Children[i+1], a.Children[at+1]) {
			return false
		}
		at += 2
	}
	return true
}

func isAdded(c *nodeChange, key *Node) bool {
	for _, f := range c.fields {
		if key.Kind == Scalar && key.Value == f.Key {
			return true
		}
	}
	return false
}
