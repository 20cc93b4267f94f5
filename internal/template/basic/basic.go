// Package basic is the kind of template that holds a catalog's documents with bundles
// by image alone. It comes wrapped (olm.template.basic) and, older, as a stream of
// documents.
package basic

import (
	"strings"

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

// Name implements kind.Kind.
func (Kind) Name() string { return "basic" }

// Match implements kind.Kind. A stream is a basic template if it has bundles and all
// of them carry an image only; rendered ones make it a catalog.
func (Kind) Match(s *kind.Source) bool { return s.Schema() == Schema || isStream(s) }

// Traits implements kind.HasTraits.
func (Kind) Traits() kind.Traits { return kind.Traits{Schemas: []string{Schema}} }

// Documents implements kind.HasEdges.
func (Kind) Documents(s *kind.Source) ([]fbc.Doc, error) {
	if s.Schema() == Schema {
		return documents.Items(s)
	}
	return fbc.Read(s.Name, s.File.Src)
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
		if _, schema := root.Fold("schema"); schema.Text() != fbc.SchemaBundle {
			continue
		}
		found = true
		if _, p := root.Fold("properties"); p != nil {
			return false
		}
	}
	return found
}

// Describe implements kind.Kind.
func (Kind) Describe(s *kind.Source) kind.Description {
	if s.Schema() != Schema {
		d := kind.Description{Form: "stream"}
		documents.Stream(s).Describe(&d)
		return d
	}
	d := kind.Description{}
	documents.CheckTop(&d, s.Root(), []string{"schema", "entries"})
	documents.OneDocument(&d, s)
	w := documents.Wrap(s)
	w.Check(&d)
	w.Describe(&d)
	return d
}

// Insert implements kind.Kind.
func (Kind) Insert(s *kind.Source, r kind.Request) (*kind.Outcome, error) {
	if s.Schema() != Schema {
		st := documents.Stream(s)
		return insert(s, &st.Set, st, st.Edits(), r)
	}
	w := documents.Wrap(s)
	return insert(s, &w.Set, w, w.Edits(), r)
}

func insert(s *kind.Source, set *documents.Set, adder documents.Adder, e *yamledit.Edits, r kind.Request) (*kind.Outcome, error) {
	o := &kind.Outcome{}
	pkg, err := set.PackageFor(r, s.Name, o)
	if err != nil {
		return nil, err
	}
	if err := set.Insert(r, pkg, adder, o); err != nil {
		return nil, err
	}
	return o, o.Edited(s.Path, s.File, e)
}

// Create implements kind.Creator.
func (Kind) Create(r kind.Request) ([]byte, error) {
	channels, def, err := r.FirstChannels()
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	line := func(text, value string) { b.WriteString(text + yamledit.Quote(value) + "\n") }
	line("---\nschema: ", Schema)
	line("entries:\n- schema: ", fbc.SchemaPackage)
	line("  name: ", r.Bundle.Package)
	line("  defaultChannel: ", def)
	for _, c := range channels {
		line("- schema: ", fbc.SchemaChannel)
		line("  package: ", r.Bundle.Package)
		line("  name: ", c)
		line("  entries:\n  - name: ", r.Bundle.Name)
		documents.WriteEdges(&b, fbc.Entry{Replaces: r.Replaces, Skips: r.Skips, SkipRange: r.SkipRange})
	}
	line("- schema: ", fbc.SchemaBundle)
	line("  image: ", r.Bundle.Image)
	return []byte(b.String()), nil
}
