package documents

import (
	"slices"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/yamledit"
)

// File is a template with its documents in one file: as items of a list, as documents of the file, or both.
type File struct {
	Set
	source   *kind.Source
	wrapped  bool
	list     *yamledit.Node // the list around them; nil if there is none
	edits    *yamledit.Edits
	problems []*failure.Error
}

// Wrapped reads the documents of a template that lists them under entries.
func Wrapped(s *kind.Source) *File {
	f := &File{source: s, wrapped: true, list: s.Root().FoldValue("entries"), edits: s.File.Edit()}
	if !f.list.IsNull() && f.list.Kind != yamledit.Sequence {
		f.problems = append(f.problems, f.list.Malformed("reading the template: entries is not a list"))
	}
	for i, item := range f.list.Items() {
		f.add(item, f.list, i, "reading the template: an item of entries is no document")
	}
	return f
}

// Stream reads the documents of a file. Documents with the schema wrapper list further documents under entries.
func Stream(s *kind.Source, wrapper string) *File {
	f := &File{source: s, edits: s.File.Edit()}
	for i, doc := range s.File.Docs {
		switch root, err := doc.Root(); {
		case err != nil:
			f.problems = append(f.problems, failure.Of(err))
		case root.FoldText("schema") == wrapper && wrapper != "":
			list := root.FoldValue("entries")
			for j, item := range list.Items() {
				f.add(item, list, j, "reading a document: an item of entries is no document")
			}
		case root != nil:
			f.add(root, nil, i, "reading a document that is no mapping")
		}
	}
	return f
}

func (f *File) add(n, list *yamledit.Node, index int, otherwise string) {
	if doc := n.Resolve(); doc != nil && doc.Kind == yamledit.Mapping {
		d := FromNode(doc, f.source.Name, index, f.edits)
		d.list = list
		f.Docs = append(f.Docs, d)
		return
	}
	f.problems = append(f.problems, n.Malformed("%s", otherwise))
}

// Describe describes the documents and their problems. keys are the keys of the template around them.
func (f *File) Describe(keys ...string) kind.Description {
	d := kind.Description{}
	if f.wrapped {
		CheckTop(&d, f.source.Root(), keys)
		OneDocument(&d, f.source)
	} else {
		d.Form = "stream"
	}
	d.Problems = append(d.Problems, f.problems...)
	f.Set.Describe(&d)
	return d
}

// OneDocument reports documents after the first, because opm reads only the first of a template.
func OneDocument(d *kind.Description, s *kind.Source) {
	for _, doc := range s.File.Docs[min(1, len(s.File.Docs)):] {
		if root, err := doc.Root(); err != nil {
			d.Problem(failure.Of(err))
		} else if root != nil {
			d.Problem(root.Malformed("reading the template: opm reads its first document and ignores this one"))
		}
	}
}

// Insert inserts the bundle into the documents. adder may be the file itself.
func (f *File) Insert(r kind.Request, adder Adder) (*kind.Outcome, error) {
	o := &kind.Outcome{}
	if err := f.Set.Insert(r, f.source.Name, adder, o); err != nil {
		return nil, err
	}
	return o, f.Edited(o)
}

// Edits returns the edits of the file. Edited adds the result to an outcome.
func (f *File) Edits() *yamledit.Edits { return f.edits }

// Edited adds the edited file to an outcome.
func (f *File) Edited(o *kind.Outcome) error {
	return o.Edited(f.source.Path, f.source.File, f.edits)
}

// AddChannel implements Adder. It adds the channel after the last one, or after the package.
func (f *File) AddChannel(v yamledit.Value, siblings []Document) error {
	after := siblings
	if len(after) == 0 {
		after = f.Of(fbc.SchemaPackage)
	}
	list, index := f.behind(after)
	return f.insert(list, index, v, siblings)
}

// AddBundle implements Adder.
func (f *File) AddBundle(v yamledit.Value, siblings []Document, before *Document) error {
	list, index := f.behind(siblings)
	if before != nil && (before.list != nil || before.Index > 0) {
		list, index = before.list, before.Index
	}
	return f.insert(list, index, v, siblings)
}

// behind returns the place after documents, or the end if there are none.
func (f *File) behind(docs []Document) (list *yamledit.Node, index int) {
	if len(docs) == 0 && f.wrapped {
		return f.list, len(f.list.Items())
	}
	if len(docs) == 0 {
		docs = f.Docs
	}
	last := docs[len(docs)-1]
	return last.list, last.Index + 1
}

func (f *File) insert(list *yamledit.Node, index int, v yamledit.Value, siblings []Document) error {
	siblings = slices.DeleteFunc(slices.Clone(siblings), func(d Document) bool { return d.list != list })
	switch likes := Likes(siblings, index); {
	case list == nil && !f.wrapped:
		return f.edits.InsertDoc(index-1, v, likes...)
	case list.IsNull():
		return failure.New(failure.EditRefused, "adding a document to a template that has none").
			Fix("First write the olm.package document under entries, or create the template with --create.")
	default:
		return f.edits.Insert(list, index, v, likes...)
	}
}

// Likes returns the siblings' nodes, the nearest to an index first.
func Likes(siblings []Document, index int) []*yamledit.Node {
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

// ReplaceBundle implements Adder.
func (f *File) ReplaceBundle(d *Document) error { return RefuseRendered(d) }
