package raw

import (
	"bytes"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/template/documents"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/yamledit"
)

// An adder inserts new documents where the layout of the catalog has similar ones.
type adder struct {
	c *catalog
	r kind.Request
	o *kind.Outcome
}

// AddChannel implements documents.Adder: it inserts after the last channel, in the same file.
func (a adder) AddChannel(v yamledit.Value, siblings []documents.Document) error {
	after := siblings
	if len(after) == 0 {
		after = a.c.Of(fbc.SchemaPackage)
	}
	if len(after) == 0 {
		return failure.New(failure.EditRefused, "adding a channel to a catalog that has no olm.package document")
	}
	last := after[len(after)-1]
	return last.Edits.InsertDoc(last.Index, v, documents.Likes(siblings, math.MaxInt)...)
}

// AddBundle implements documents.Adder. If each sibling has its own file, the new bundle gets its own file, named
// like theirs. In a shared file the bundle is inserted by name if the siblings are sorted by name, as opm writes
// them, otherwise by version.
func (a adder) AddBundle(_ yamledit.Value, siblings []documents.Document, before *documents.Document) error {
	doc, err := document(a.r, a.c.csvMetadata)
	if err != nil {
		return err
	}
	if len(siblings) == 0 {
		last := a.c.Docs[len(a.c.Docs)-1]
		return a.insertAfter(last, last.Index, doc)
	}
	near := siblings[len(siblings)-1]
	if named := a.fileFor(near); named != "" && a.hasFileOfItsOwn(near) {
		return a.newFile(near, named, doc)
	}
	same := slices.DeleteFunc(slices.Clone(siblings), func(d documents.Document) bool { return d.File != near.File })
	if slices.IsSortedFunc(same, func(x, y documents.Document) int { return strings.Compare(x.Name, y.Name) }) {
		before = nil
		if i := slices.IndexFunc(same, func(d documents.Document) bool { return d.Name > a.r.Bundle.Name }); i >= 0 {
			before = &same[i]
		}
	}
	if before != nil && before.File == near.File && before.Index > 0 {
		return a.insertAfter(*before, before.Index-1, doc)
	}
	return a.insertAfter(near, near.Index, doc)
}

// ReplaceBundle implements documents.Adder.
func (a adder) ReplaceBundle(d *documents.Document) error {
	doc, err := document(a.r, a.c.csvMetadata)
	if err != nil {
		return err
	}
	text, err := encoded(doc, a.c.files[d.File].text.Docs[d.Index].JSON)
	if err != nil {
		return err
	}
	return d.Edits.ReplaceRaw(d.Index, text)
}

func (a adder) insertAfter(d documents.Document, index int, doc *fbc.Doc) error {
	text, err := encoded(doc, a.c.files[d.File].text.Docs[index].JSON)
	if err != nil {
		return err
	}
	return d.Edits.InsertRaw(index, text)
}

// fileFor derives the path of a new bundle's file from a sibling's, if that contains the sibling's name or
// version. It returns "" if bundles share files.
func (a adder) fileFor(sibling documents.Document) string {
	f := a.c.files[sibling.File]
	dir, base := path.Split(f.path)
	if n := strings.Count(base, sibling.Name); sibling.Name != "" && n == 1 {
		return dir + strings.Replace(base, sibling.Name, a.r.Bundle.Name, 1)
	}
	v, ok := graph.VersionOf(sibling.Name)
	if sibling.Version != nil {
		v, ok = *sibling.Version, true
	}
	if ok && strings.Count(base, v.String()) == 1 {
		return dir + strings.Replace(base, v.String(), a.r.Bundle.Version.String(), 1)
	}
	if ok && strings.Count(dir, v.String()) == 1 {
		return strings.Replace(dir, v.String(), a.r.Bundle.Version.String(), 1) + base
	}
	return ""
}

// hasFileOfItsOwn reports whether the bundle is alone in its file, in a directory.
func (a adder) hasFileOfItsOwn(sibling documents.Document) bool {
	return a.c.directory && !slices.ContainsFunc(a.c.Docs, func(d documents.Document) bool {
		return d.File == sibling.File && d.Index != sibling.Index
	})
}

func (a adder) newFile(sibling documents.Document, name string, doc *fbc.Doc) error {
	f := a.c.files[sibling.File]
	if _, err := fs.Stat(a.c.fsys, name); err == nil {
		return failure.New(failure.EditRefused, "adding bundle %s: its file %s exists and holds something else", a.r.Bundle.Name, name).At(name, 0, 0).
			Fix("Rename that file, or add the bundle to it by hand.")
	}
	text, err := encoded(doc, f.text.Docs[sibling.Index].JSON)
	if err != nil {
		return err
	}
	if bytes.HasPrefix(f.text.Src, []byte("---")) {
		text = append([]byte("---\n"), text...)
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(text, '\n')
	}
	a.o.Files = append(a.o.Files, kind.Written{Path: name, After: text, New: true})
	return nil
}

// document returns the rendered bundle of the request. It refuses a document with another name or image.
func document(r kind.Request, csvMetadata bool) (*fbc.Doc, error) {
	if r.Bundle.Document == nil {
		return nil, failure.New(failure.Usage, "inserting %s: the template holds rendered bundles, and none is given", r.Bundle.Name).
			Fix("Run graft insert --bundle-file with the bundle as opm render writes it, or leave out --name, --version and --package, so that Graft pulls the image.")
	}
	text, err := r.Bundle.Document(r.Bundle.Image, csvMetadata)
	if err != nil {
		return nil, err
	}
	docs, err := fbc.Read("the rendered bundle", text)
	if err != nil {
		return nil, err
	}
	docs = slices.DeleteFunc(docs, func(d fbc.Doc) bool { return d.Schema != fbc.SchemaBundle })
	if len(docs) != 1 {
		return nil, failure.New(failure.BundleInvalid, "reading the rendered bundle: it has %d olm.bundle documents, not one", len(docs))
	}
	if d := docs[0]; d.Name != r.Bundle.Name || d.Image != r.Bundle.Image {
		return nil, failure.New(failure.BundleConflict, "reading the rendered bundle: it is %s with image %s, asked was %s with image %s", d.Name, d.Image, r.Bundle.Name, r.Bundle.Image)
	}
	return &docs[0], nil
}

// DocumentValue returns the rendered bundle as a value for a list of documents.
func DocumentValue(r kind.Request, csvMetadata bool) (yamledit.Value, error) {
	d, err := document(r, csvMetadata)
	if err != nil {
		return yamledit.Value{}, err
	}
	text, err := d.JSON()
	if err != nil {
		return yamledit.Value{}, err
	}
	return yamledit.FromJSON(text)
}

func encoded(d *fbc.Doc, asJSON bool) ([]byte, error) {
	format := fbc.YAML
	if asJSON {
		format = fbc.JSON
	}
	b, err := d.Blob(format)
	return b.Body, err
}
