// Package basic implements the kind of template that contains a catalog's documents with bundles only as images.
// It has a wrapped form (olm.template.basic) and, older, a stream of documents.
package basic

import (
	"slices"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/operand"
	"github.com/olmgraft/graft/internal/template/documents"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/yamledit"
)

// Schema is the schema of the wrapped form.
const Schema = "olm.template.basic"

// Kind implements kind.Kind.
type Kind struct{}

// Match implements kind.Matcher. A stream is a basic template if it has bundles and all of them have only an
// image, or if it has a document of the wrapped form. With rendered bundles it is a catalog.
func (Kind) Match(s *kind.Source) bool { return s.Schema() == Schema || isStream(s) }

// Traits implements kind.Kind.
func (Kind) Traits() kind.Traits { return kind.Traits{Name: "basic", Schema: Schema} }

// Documents implements kind.HasEdges.
func (Kind) Documents(s *kind.Source) ([]fbc.Doc, error) {
	if s.Schema() == Schema {
		return s.Entries()
	}
	docs, err := s.Docs()
	if i := slices.IndexFunc(docs, func(d fbc.Doc) bool { return d.Schema == Schema }); i >= 0 {
		return nil, failure.New(failure.TemplateUnsupported, "reading the template: opm reads none whose %s document is not the first and only one", Schema).At(docs[i].File, docs[i].Line, 1).
			Fix("Put all documents under the entries of that one, or none.")
	}
	return docs, err
}

// Lists implements kind.HasLists.
func (Kind) Lists(root *yamledit.Node) operand.Lists {
	_, entries := root.Fold("entries")
	return operand.Lists{Wrapped: true, Documents: entries}
}

func isStream(s *kind.Source) bool {
	if s.File == nil || s.Schema() == "" {
		return false
	}
	found := false
	for _, doc := range s.File.Docs {
		root, err := doc.Root()
		if err != nil || root == nil || root.Kind != yamledit.Mapping {
			return false
		}
		switch schema := root.FoldText("schema"); schema {
		case Schema:
			found = true
			continue
		case fbc.SchemaBundle:
			found = true
		default:
			continue
		}
		if _, p := root.Fold("properties"); p != nil {
			return false
		}
	}
	return found
}

func open(s *kind.Source) *documents.File {
	if s.Schema() == Schema {
		return documents.Wrapped(s)
	}
	return documents.Stream(s, Schema)
}

// Describe implements kind.Kind.
func (Kind) Describe(s *kind.Source) kind.Description { return open(s).Describe("schema", "entries") }

// Insert implements kind.Kind.
func (Kind) Insert(s *kind.Source, r kind.Request) (*kind.Outcome, error) {
	f := open(s)
	return f.Insert(r, f)
}

// Remove implements kind.Remover.
func (Kind) Remove(s *kind.Source, r kind.Removal) (*kind.Outcome, error) { return open(s).Remove(r) }

// Deprecate implements kind.Deprecator.
func (Kind) Deprecate(s *kind.Source, d kind.Deprecation) (*kind.Outcome, error) {
	return open(s).Deprecate(d)
}

// SetEdges implements kind.EdgeSetter.
func (Kind) SetEdges(s *kind.Source, e kind.Edges) (*kind.Outcome, error) { return open(s).SetEdges(e) }

// Images implements kind.Expander.
func (k Kind) Images(s *kind.Source, _ kind.Tags) ([]string, error) {
	return documents.Images(k.Expand(s, nil, nil))
}

// Expand implements kind.Expander. The documents stay unchanged; bundles are rendered.
func (k Kind) Expand(s *kind.Source, _ kind.Bundles, _ kind.Tags) (*fbc.Catalog, error) {
	return documents.Expand(k, s, false)
}

// Create implements kind.Creator.
func (Kind) Create(r kind.Request) ([]byte, error) {
	channels, def, err := r.FirstChannels()
	if err != nil {
		return nil, err
	}
	var b documents.Text
	b.Line("---\nschema: ", Schema)
	b.Line("entries:\n- schema: ", fbc.SchemaPackage)
	b.Line("  name: ", r.Bundle.Package)
	b.Line("  defaultChannel: ", def)
	for _, c := range channels {
		b.Line("- schema: ", fbc.SchemaChannel)
		b.Line("  package: ", r.Bundle.Package)
		b.Line("  name: ", c)
		b.Line("  entries:\n  - name: ", r.Bundle.Name)
		b.Edges(fbc.Entry{Replaces: r.Replaces, Skips: r.Skips, SkipRange: r.SkipRange})
	}
	b.Line("- schema: ", fbc.SchemaBundle)
	b.Line("  image: ", r.Bundle.Image)
	return []byte(b.String()), nil
}
