package substitutes

import (
	"cmp"
	"slices"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/template/documents"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/yamledit"
)

// Images implements kind.Expander.
func (k Kind) Images(s *kind.Source, _ kind.Tags) ([]string, error) {
	c, err := documents.Expand(k, s, true)
	if err != nil {
		return nil, err
	}
	for _, sub := range substitutions(s) {
		c.Images = append(c.Images, sub.image)
	}
	return kind.Unique(c.Images), nil
}

type substitution struct {
	node        *yamledit.Node
	image, base string
}

func substitutions(s *kind.Source) []substitution {
	_, list := s.Root().Fold("substitutions")
	var out []substitution
	for _, item := range list.Items() {
		out = append(out, substitution{item, item.FoldText("name"), item.FoldText("base")})
	}
	return out
}

// Expand implements kind.Expander. The substitute takes the edges of its base, skips it, and replaces it wherever
// another entry replaces or skips the base.
func (k Kind) Expand(s *kind.Source, b kind.Bundles, _ kind.Tags) (*fbc.Catalog, error) {
	c, err := documents.Expand(k, s, true)
	if err != nil {
		return nil, err
	}
	known := map[string]fbc.Facts{}
	for _, one := range c.Bundles {
		f, err := fbc.FactsOf(one)
		if err != nil {
			return nil, err
		}
		known[one.Name] = f
	}
	if err := valid(s, c, nil); err != nil {
		return nil, err
	}
	var added []fbc.Facts
	for _, sub := range substitutions(s) {
		f, err := b.Bundle(sub.image)
		if err != nil {
			return nil, err
		}
		if err := check(sub, f, known); err != nil {
			return nil, err
		}
		for i := range c.Channels {
			apply(&c.Channels[i], f.Name, sub.base)
		}
		// A substitute can be substituted again: opm looks among the bundles that it has so far, which include
		// the substitute by now.
		known[f.Name] = f
		added = append(added, f)
		c.Images = append(c.Images, sub.image)
		if err := valid(s, c, added); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// valid checks the catalog so far against opm's rules, as opm does before the first and after each substitution.
func valid(s *kind.Source, c *fbc.Catalog, added []fbc.Facts) error {
	docs, err := c.Docs()
	if err != nil {
		return err
	}
	for _, f := range added {
		d, err := fbc.DocOf(f)
		if err != nil {
			return err
		}
		docs = append(docs, d)
	}
	for _, found := range graph.Verify(graph.FromDocs(docs), nil, graph.Levels{}) {
		if found.Level == graph.Error {
			line, col := s.Root().Position()
			return failure.New(failure.RenderFailed, "rendering the template: %s", found.Message).At(s.Name, line, col).Fix("%s", found.Remedy)
		}
	}
	return nil
}

func check(sub substitution, f fbc.Facts, known map[string]fbc.Facts) error {
	base, ok := known[sub.base]
	if !ok {
		return sub.node.Failure(failure.RenderFailed, "rendering a substitution: the template has no bundle %s to substitute", sub.base).
			Fix("Name a bundle under entries.")
	}
	order, err := compare(base, f)
	if err != nil {
		return documents.AtNode(err, sub.node)
	}
	if order >= 0 {
		return sub.node.Failure(failure.RenderFailed, "rendering a substitution: %s is not above %s, which it is to substitute", f.Name, sub.base).
			Fix("Publish the substitute with a higher version or release.")
	}
	return nil
}

// apply adds the substitute to a channel that has the base.
func apply(ch *fbc.Channel, name, base string) {
	var stand []fbc.Entry
	for i := len(ch.Entries) - 1; i >= 0; i-- {
		e := &ch.Entries[i]
		if e.Name != base {
			continue
		}
		stand = append(stand, fbc.Entry{Name: name, Replaces: e.Replaces, Skips: append(slices.Clone(e.Skips), base), SkipRange: e.SkipRange})
		e.Replaces, e.Skips, e.SkipRange = "", nil, ""
	}
	for i := range ch.Entries {
		e := &ch.Entries[i]
		switch {
		case e.Replaces == base:
			e.Replaces = name
			e.Skips = append(e.Skips, base)
		case slices.Contains(e.Skips, base):
			e.Skips = slices.DeleteFunc(append(e.Skips, name), func(s string) bool { return s == base })
		}
	}
	ch.Entries = append(ch.Entries, stand...)
}

// compare orders two bundles by version, then by release.
func compare(a, b fbc.Facts) (int, error) {
	v, err := a.Parsed()
	if err != nil {
		return 0, err
	}
	w, err := b.Parsed()
	if err != nil {
		return 0, err
	}
	if c := v.Compare(w); c != 0 {
		return c, nil
	}
	return compareReleases(a.OrderedRelease(), b.OrderedRelease())
}

// compareReleases orders releases as semver orders pre-releases; an empty release is the lowest.
func compareReleases(a, b string) (int, error) {
	if a == "" || b == "" {
		return cmp.Compare(len(a), len(b)), nil
	}
	v, err := semver.Parse("0.0.0-" + a)
	if err != nil {
		return 0, failure.New(failure.RenderFailed, "reading the release %q: %w", a, err)
	}
	w, err := semver.Parse("0.0.0-" + b)
	if err != nil {
		return 0, failure.New(failure.RenderFailed, "reading the release %q: %w", b, err)
	}
	return v.Compare(w), nil
}
