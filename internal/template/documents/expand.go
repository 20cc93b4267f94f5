package documents

import (
	"encoding/json"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/yamledit"
)

// AtNode sets the place of a failure to a node's, unless it has a place.
func AtNode(err error, n *yamledit.Node) error {
	if f := failure.Of(err); f != nil && f.File == "" {
		return n.At(f)
	}
	return err
}

// Expand sorts a template's documents into a catalog as opm loads them. Bundles that are only an image are
// rendered later. Bundles with properties are taken unchanged, if whole allows that.
func Expand(k kind.HasEdges, s *kind.Source, whole bool) (*fbc.Catalog, error) {
	c := &fbc.Catalog{}
	docs, err := k.Documents(s)
	for i := 0; i < len(docs) && err == nil; i++ {
		err = expandDoc(&docs[i], whole, c)
	}
	return c, err
}

// Images returns the images of a catalog that could be expanded without bundles.
func Images(c *fbc.Catalog, err error) ([]string, error) {
	if err != nil {
		return nil, err
	}
	return c.Images, nil
}

func expandDoc(d *fbc.Doc, whole bool, into *fbc.Catalog) error {
	switch d.Schema {
	case "":
		return failure.New(failure.RenderFailed, "rendering a document that has no schema").At(d.File, d.Line, 1)
	case fbc.SchemaPackage:
		p, err := d.PackageDoc()
		into.Packages = append(into.Packages, p)
		return err
	case fbc.SchemaChannel:
		c, err := d.Channel()
		into.Channels = append(into.Channels, c)
		return err
	case fbc.SchemaDeprecation:
		x, err := d.Deprecation()
		into.Deprecations = append(into.Deprecations, x)
		return err
	case fbc.SchemaBundle:
		return expandBundle(d, whole, into)
	}
	text, err := d.JSON()
	into.Others = append(into.Others, fbc.Other{Schema: d.Schema, Package: d.Package, Name: d.Name, JSON: text})
	return err
}

func expandBundle(d *fbc.Doc, whole bool, into *fbc.Catalog) error {
	b, err := d.Bundle()
	if err != nil {
		return err
	}
	byImage := b.Image != "" && b.Package == "" && len(b.Properties) == 0 && len(b.RelatedImages) == 0
	switch {
	case byImage:
		into.Images = append(into.Images, b.Image)
	case whole:
		into.Bundles = append(into.Bundles, b)
	default:
		return failure.New(failure.RenderFailed, "rendering bundle %s: in a basic template a bundle has an image only", b.Name).At(d.File, d.Line, 1).
			Fix("Remove package, properties and relatedImages of the bundle.")
	}
	return nil
}

// Entries returns the documents under entries as catalog documents.
func Entries(s *kind.Source) ([]fbc.Doc, error) {
	docs, err := s.Docs()
	if err != nil || len(docs) == 0 {
		return nil, err
	}
	var template struct {
		Entries []json.RawMessage `json:"entries"`
	}
	if err := docs[0].Decode(&template); err != nil {
		return nil, err
	}
	_, list := s.Root().Fold("entries")
	nodes := list.Items()
	var out []fbc.Doc
	for i, text := range template.Entries {
		item, err := fbc.Read(s.Name, text)
		if f := failure.Of(err); f != nil && i < len(nodes) {
			return nil, nodes[i].At(f)
		}
		if err != nil {
			return nil, err
		}
		for _, d := range item {
			if i < len(nodes) {
				d.Line, _ = nodes[i].Position()
			}
			out = append(out, d)
		}
	}
	return out, nil
}
