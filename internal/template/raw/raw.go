// Package raw is a kind for users without a template: the file-based catalog itself, in one file or a directory.
package raw

import (
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/template/documents"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/yamledit"
)

// Kind implements kind.Kind.
type Kind struct{}

// Match implements kind.Matcher: a directory is raw, and so is a file whose documents have schemas that OLM
// knows.
func (Kind) Match(s *kind.Source) bool {
	if s.File == nil {
		return true
	}
	known := []string{fbc.SchemaPackage, fbc.SchemaChannel, fbc.SchemaBundle, fbc.SchemaDeprecation}
	docs, err := s.Docs()
	if err != nil {
		return slices.Contains(known, s.Schema()) // a catalog; Describe reports the error
	}
	return slices.ContainsFunc(docs, func(d fbc.Doc) bool { return slices.Contains(known, d.Schema) })
}

// Traits implements kind.Kind.
func (Kind) Traits() kind.Traits { return kind.Traits{Name: "raw", IsCatalog: true} }

// Documents implements kind.HasEdges.
func (Kind) Documents(s *kind.Source) ([]fbc.Doc, error) { return s.Docs() }

// A catalog holds the documents of all files, and the edits to each.
type catalog struct {
	documents.Set
	files map[string]*file
	order []string
	// csvMetadata reports which of the two forms its bundles have. A catalog without bundles gets the form that
	// current platforms require.
	csvMetadata bool
	directory   bool
	fsys        fs.FS
}

type file struct {
	path  string
	name  string
	text  *yamledit.File
	edits *yamledit.Edits
	gone  []int // documents to remove
}

func load(s *kind.Source) (*catalog, error) {
	c := &catalog{files: map[string]*file{}, csvMetadata: true, directory: s.File == nil, fsys: s.FS}
	if s.File != nil {
		c.add(s.Path, s.Name, s.File)
	}
	docs, err := Kind{}.Documents(s)
	if err != nil {
		return nil, err
	}
	for _, d := range docs {
		f, err := c.file(s, d.File)
		if err != nil {
			return nil, err
		}
		if err := c.addDoc(f, d); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *catalog) add(p, name string, text *yamledit.File) *file {
	f := &file{path: p, name: name, text: text, edits: text.Edit()}
	c.files[name] = f
	c.order = append(c.order, name)
	return f
}

// file opens a file of the directory once.
func (c *catalog) file(s *kind.Source, name string) (*file, error) {
	if f := c.files[name]; f != nil {
		return f, nil
	}
	src, err := fs.ReadFile(s.FS, name)
	if err != nil {
		return nil, failure.New(failure.TemplateNotFound, "reading %s: %w", name, err)
	}
	shown := path.Join(s.Name, strings.TrimPrefix(name, s.Path))
	text, err := yamledit.Open(shown, src)
	if err != nil {
		return nil, err
	}
	f := c.add(name, shown, text)
	c.files[name] = f
	return f, nil
}

// addDoc adds small documents as trees. Of a rendered bundle it keeps only the fields and the version.
func (c *catalog) addDoc(f *file, d fbc.Doc) error {
	// The first document may start after a byte order mark.
	index := slices.IndexFunc(f.text.Docs, func(y *yamledit.Doc) bool { return d.Start < y.End })
	if index < 0 {
		return failure.New(failure.TemplateMalformed, "locating a document").At(f.name, d.Line, 1)
	}
	if d.Schema != fbc.SchemaBundle {
		root, err := f.text.Docs[index].Root()
		if err != nil {
			return err
		}
		doc := documents.FromNode(root, f.name, index, f.edits)
		c.Docs = append(c.Docs, doc)
		return nil
	}
	b, err := d.BundleLight()
	if err != nil {
		return err
	}
	doc := documents.Document{Schema: d.Schema, Package: d.Package, Name: d.Name, Image: d.Image, File: f.name, Line: d.Line, Col: 1, Index: index, Edits: f.edits}
	doc.Version = versionOf(b)
	c.csvMetadata = c.csvMetadata && !slices.ContainsFunc(b.Properties, func(p fbc.Property) bool { return p.Type == fbc.TypeBundleObject })
	c.Docs = append(c.Docs, doc)
	return nil
}

// versionOf returns the version in a rendered bundle's olm.package property.
func versionOf(b fbc.Bundle) *semver.Version {
	for _, p := range b.Properties {
		var value struct {
			Version string `json:"version"`
		}
		if p.Type != fbc.SchemaPackage || json.Unmarshal(p.Value, &value) != nil {
			continue
		}
		if v, err := semver.Parse(value.Version); err == nil {
			return &v
		}
	}
	return nil
}

// Describe implements kind.Kind.
func (Kind) Describe(s *kind.Source) kind.Description {
	d := kind.Description{Form: "file"}
	if s.File == nil {
		d.Form = "directory"
	}
	c, err := load(s)
	if err != nil {
		d.Problems = failure.All(err)
		return d
	}
	c.Describe(&d)
	return d
}

// Insert implements kind.Kind.
func (Kind) Insert(s *kind.Source, r kind.Request) (*kind.Outcome, error) {
	return edit(s, func(c *catalog, o *kind.Outcome) error { return c.Insert(r, s.Name, adder{c, r, o}, o) })
}

// Remove implements kind.Remover. A file without documents is deleted.
func (Kind) Remove(s *kind.Source, r kind.Removal) (*kind.Outcome, error) {
	return edit(s, func(c *catalog, o *kind.Outcome) error { return c.Remove(r, s.Name, c.remove, o) })
}

// Deprecate implements kind.Deprecator. In a directory the document is inserted after the channels, in a file
// after the bundles.
func (Kind) Deprecate(s *kind.Source, d kind.Deprecation) (*kind.Outcome, error) {
	return edit(s, func(c *catalog, o *kind.Outcome) error {
		return c.Deprecate(d, s.Name, func(v yamledit.Value, siblings []documents.Document) error {
			if c.directory {
				siblings = slices.DeleteFunc(siblings, func(d documents.Document) bool { return d.Schema != fbc.SchemaChannel })
			}
			return adder{c: c}.AddChannel(v, siblings)
		}, o)
	})
}

// SetEdges implements kind.EdgeSetter.
func (Kind) SetEdges(s *kind.Source, e kind.Edges) (*kind.Outcome, error) {
	return edit(s, func(c *catalog, o *kind.Outcome) error { return c.SetEdges(e, s.Name, o) })
}

// edit makes one edit of the catalog.
func edit(s *kind.Source, one func(*catalog, *kind.Outcome) error) (*kind.Outcome, error) {
	c, err := load(s)
	if err != nil {
		return nil, err
	}
	o := &kind.Outcome{}
	if err := one(c, o); err != nil {
		return nil, err
	}
	for _, name := range c.order {
		f := c.files[name]
		if err := f.edited(o); err != nil {
			return nil, err
		}
	}
	return o, nil
}

func (f *file) edited(o *kind.Outcome) error {
	if len(f.gone) == len(f.text.Docs) {
		o.Files = append(o.Files, kind.Written{Path: f.path, Before: f.text.Src, Gone: true})
		return nil
	}
	for _, index := range f.gone {
		if err := f.edits.RemoveDoc(index); err != nil {
			return err
		}
	}
	return o.Edited(f.path, f.text, f.edits)
}

// remove removes a document from its file.
func (c *catalog) remove(d *documents.Document) error {
	for _, f := range c.files {
		if f.edits == d.Edits {
			f.gone = append(f.gone, d.Index)
			break
		}
	}
	return nil
}

// Images implements kind.Expander. A catalog already holds its rendered bundles; only bundles that a person left
// unrendered are returned.
func (k Kind) Images(s *kind.Source, _ kind.Tags) ([]string, error) {
	return documents.Images(k.Expand(s, nil, nil))
}

// Expand implements kind.Expander: it loads, merges and sorts the catalog.
func (k Kind) Expand(s *kind.Source, _ kind.Bundles, _ kind.Tags) (*fbc.Catalog, error) {
	c, err := documents.Expand(k, s, true)
	c.Loaded = true
	return c, err
}
