package documents

import (
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/yamledit"
)

// OneDocument reports documents after the first: opm reads one from a template.
func OneDocument(d *kind.Description, s *kind.Source) {
	for _, doc := range s.File.Docs[min(1, len(s.File.Docs)):] {
		root, err := doc.Root()
		if err != nil {
			d.Problem(failure.Of(err))
			continue
		}
		if root != nil {
			d.Problem(root.Malformed("reading the template: opm reads its first document and ignores this one"))
		}
	}
}

// Wrapped are documents that are items of the list under entries.
type Wrapped struct {
	Set
	list  *yamledit.Node
	edits *yamledit.Edits
}

// Wrap reads the documents of a template that lists them under entries.
func Wrap(s *kind.Source) *Wrapped {
	_, list := s.Root().Fold("entries")
	w := &Wrapped{list: list, edits: s.File.Edit()}
	for i, item := range list.Items() {
		if n := item.Resolve(); n != nil && n.Kind == yamledit.Mapping {
			w.Docs = append(w.Docs, FromNode(n, s.Name, i, w.edits))
		}
	}
	return w
}

// Edits are the edits to the template's file.
func (w *Wrapped) Edits() *yamledit.Edits { return w.edits }

// Check reports what is wrong with the list itself.
func (w *Wrapped) Check(d *kind.Description) {
	if w.list == nil || w.list.IsNull() {
		return
	}
	if w.list.Kind != yamledit.Sequence {
		d.Problem(w.list.Malformed("reading the template: entries is no list"))
	}
	for _, item := range w.list.Items() {
		if n := item.Resolve(); n == nil || n.Kind != yamledit.Mapping {
			d.Problem(item.Malformed("reading the template: an item of entries is no document"))
		}
	}
}

// AddChannel implements Adder: after the last channel, else after the package.
func (w *Wrapped) AddChannel(v yamledit.Value, siblings []Document) error {
	index := len(w.list.Items())
	if len(siblings) > 0 {
		index = siblings[len(siblings)-1].Index + 1
	} else if p := w.Of(fbc.SchemaPackage); len(p) > 0 {
		index = p[len(p)-1].Index + 1
	}
	return w.add(index, v, siblings)
}

// AddBundle implements Adder.
func (w *Wrapped) AddBundle(v yamledit.Value, siblings []Document, before *Document) error {
	index := len(w.list.Items())
	if len(siblings) > 0 {
		index = siblings[len(siblings)-1].Index + 1
	}
	if before != nil {
		index = before.Index
	}
	return w.add(index, v, siblings)
}

func (w *Wrapped) add(index int, v yamledit.Value, siblings []Document) error {
	if w.list.IsNull() {
		return failure.New(failure.EditRefused, "adding a document to a template that has none").
			Fix("Write the olm.package document under entries first, or begin with --create.")
	}
	return w.edits.Insert(w.list, index, v, likes(siblings, index)...)
}

// likes are the siblings' nodes, the nearest to an index first.
func likes(siblings []Document, index int) []*yamledit.Node {
	at := len(siblings)
	for i, d := range siblings {
		if d.Index >= index {
			at = i
			break
		}
	}
	var out []*yamledit.Node
	for d := 0; d < 8; d++ {
		for _, i := range []int{at - 1 - d, at + d} {
			if i >= 0 && i < len(siblings) && siblings[i].Node != nil {
				out = append(out, siblings[i].Node)
			}
		}
	}
	return out
}
