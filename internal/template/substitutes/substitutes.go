// Package substitutes is the kind of template that holds a rendered catalog and bundles that substitute for
// others.
package substitutes

import (
	"slices"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/template/documents"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/template/raw"
	"github.com/olmgraft/graft/internal/yamledit"
)

// Schema is the template's schema.
const Schema = "olm.template.substitutes"

// Kind implements kind.Kind.
type Kind struct{}

// Traits implements kind.Kind.
func (Kind) Traits() kind.Traits {
	return kind.Traits{Name: "substitutes", Schema: Schema, Substitutes: true}
}

// Documents implements kind.HasEdges.
func (Kind) Documents(s *kind.Source) ([]fbc.Doc, error) { return s.Entries() }

// Describe implements kind.Kind.
func (Kind) Describe(s *kind.Source) kind.Description {
	d := documents.Wrapped(s).Describe("schema", "entries", "substitutions")
	_, list := s.Root().Fold("substitutions")
	bases, names := map[string]bool{}, map[string]bool{}
	for _, item := range list.Items() {
		documents.CheckKeys(&d, item, []string{"name", "base"}, "a substitution")
		name, base := item.FoldText("name"), item.FoldText("base")
		if name == "" || base == "" {
			d.Problem(item.Malformed("reading a substitution: it lacks name or base"))
		}
		if bases[base] || names[name] {
			d.Problem(item.Malformed("reading a substitution: %s or %s is in another one", name, base))
		}
		bases[base], names[name] = true, true
		line, _ := item.Position()
		d.Bundles = append(d.Bundles, kind.BundleRef{Image: name, Line: line})
	}
	return d
}

// Insert implements kind.Kind: with a base it inserts a substitution, without one an entry and the rendered
// bundle.
func (Kind) Insert(s *kind.Source, r kind.Request) (*kind.Outcome, error) {
	f, o := documents.Wrapped(s), &kind.Outcome{}
	if r.SubstitutesFor == "" {
		return f.Insert(r, rendered{f, r})
	}
	if _, err := f.PackageFor(r, s.Name, o); err != nil {
		return nil, err
	}
	if err := substitute(s, f, r, o); err != nil {
		return nil, err
	}
	return o, f.Edited(o)
}

// Remove implements kind.Remover: a substitute is removed with its substitution.
func (Kind) Remove(s *kind.Source, r kind.Removal) (*kind.Outcome, error) {
	f, o := documents.Wrapped(s), &kind.Outcome{}
	if err := f.Set.Remove(r, s.Name, f.RemoveDocument, o); err != nil {
		return nil, err
	}
	if err := removeSubstitutes(s, f, r, o); err != nil {
		return nil, err
	}
	return o, f.Edited(o)
}

// removeSubstitutes refuses to leave a substitute whose base is removed.
func removeSubstitutes(s *kind.Source, f *documents.File, r kind.Removal, o *kind.Outcome) error {
	all := substitutions(s)
	standing := make([]kind.Standing, len(all))
	for i, sub := range all {
		standing[i].Image = sub.image
	}
	gone := map[int]string{}
	var removed []string
	for _, c := range o.Changes {
		if c.What == kind.BundleRemoved {
			removed = append(removed, c.Name)
		}
	}
	for _, name := range r.Bundles {
		at, untold, err := r.Find(standing, name, nil, false)
		if err != nil || untold != "" {
			return err
		}
		for _, i := range at {
			if len(r.Channels) == 0 {
				gone[i] = name
				removed = append(removed, name)
				o.Notes = slices.DeleteFunc(o.Notes, func(n string) bool { return n == r.Nothing("bundle", name) })
			}
		}
	}
	for i, sub := range all {
		if gone[i] == "" && slices.Contains(removed, sub.base) {
			return sub.node.Failure(failure.EdgeConflict, "%s: %s substitutes %s", r.Doing(), sub.image, sub.base).
				Fix("Remove the substitute with it: name both.")
		}
	}
	for i, sub := range all {
		if gone[i] == "" {
			continue
		}
		o.Changes = append(o.Changes, kind.Change{What: kind.BundleRemoved, Name: gone[i], From: sub.image})
		if len(gone) < len(all) {
			if err := f.Edits().Remove(sub.node); err != nil {
				return err
			}
		}
	}
	if len(gone) > 0 && len(gone) == len(all) {
		return f.Edits().RemoveField(s.Root(), "substitutions")
	}
	return nil
}

// SetEdges implements kind.EdgeSetter.
func (Kind) SetEdges(s *kind.Source, e kind.Edges) (*kind.Outcome, error) {
	return documents.Wrapped(s).SetEdges(e)
}

// Deprecate implements kind.Deprecator.
func (Kind) Deprecate(s *kind.Source, d kind.Deprecation) (*kind.Outcome, error) {
	return documents.Wrapped(s).Deprecate(d)
}

// rendered adds the whole document in place of a bundle by image.
type rendered struct {
	*documents.File
	request kind.Request
}

// AddBundle implements documents.Adder.
func (a rendered) AddBundle(_ yamledit.Value, siblings []documents.Document, before *documents.Document) error {
	csvMetadata := true
	for _, d := range siblings {
		_, list := d.Node.Fold("properties")
		for _, p := range list.Items() {
			csvMetadata = csvMetadata && p.FoldText("type") != fbc.TypeBundleObject
		}
	}
	value, err := raw.DocumentValue(a.request, csvMetadata)
	if err != nil {
		return err
	}
	return a.File.AddBundle(value, siblings, before)
}

// ReplaceBundle implements documents.Adder.
func (a rendered) ReplaceBundle(d *documents.Document) error { return documents.RefuseRendered(d) }

func substitute(s *kind.Source, f *documents.File, r kind.Request, o *kind.Outcome) error {
	root := s.Root()
	list := root.FoldValue("substitutions")
	for _, item := range list.Items() {
		name, base := item.FoldText("name"), item.FoldText("base")
		switch {
		case name == r.Bundle.Image && base == r.SubstitutesFor:
			return nil
		case name == r.Bundle.Image:
			return item.Failure(failure.EdgeConflict, "substituting %s for %s: it substitutes %s already", name, r.SubstitutesFor, base)
		case base == r.SubstitutesFor:
			return item.Failure(failure.EdgeConflict, "substituting %s for %s: %s does so already", r.Bundle.Image, base, name)
		}
	}
	if !slices.ContainsFunc(f.Of(fbc.SchemaBundle), func(d documents.Document) bool { return d.Name == r.SubstitutesFor }) {
		return root.Failure(failure.PredecessorMissing, "substituting %s for %s, which the template does not have", r.Bundle.Image, r.SubstitutesFor)
	}
	o.Changes = append(o.Changes, kind.Change{What: kind.SubstitutionAdded, Name: r.Bundle.Name, From: r.SubstitutesFor, To: r.Bundle.Image})
	v := yamledit.Map(yamledit.Field{Key: "name", Value: yamledit.Text(r.Bundle.Image)}, yamledit.Field{Key: "base", Value: yamledit.Text(r.SubstitutesFor)})
	return f.Edits().InsertIn(root, "substitutions", "", len(list.Items()), v)
}
