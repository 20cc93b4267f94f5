package render

import (
	"errors"
	"slices"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph/cut"
)

// within returns the images that the catalog needs. It leaves out those of bundles that are known to be cut out.
// If the channels depend on unknown bundles, it returns all images.
func (r *renderer) within(t Template, images []string, tags func(string) ([]string, error)) []string {
	if r.o.Cut.Empty() {
		return images
	}
	c, err := t.Expand(knownOnly{r}, tags)
	if err != nil {
		return images
	}
	_, gone, err := r.o.Cut.Channels(c.Channels, r.versions().of)
	if err != nil {
		return images // it fails again once everything is known
	}
	return slices.DeleteFunc(slices.Clone(images), func(image string) bool { return r.out(image, c.Channels, gone) })
}

// cut removes from a catalog what Cut leaves out.
func (r *renderer) cut(c *fbc.Catalog) error {
	if r.o.Cut.Empty() {
		return nil
	}
	versions := r.versions()
	for _, b := range c.Bundles {
		if facts, err := fbc.FactsOf(b); err == nil {
			versions.add(facts)
		}
	}
	before := c.Channels
	after, gone, err := r.o.Cut.Channels(before, versions.of)
	if err != nil {
		return err
	}
	c.Channels = after
	c.Images = slices.DeleteFunc(c.Images, func(image string) bool { return r.out(image, before, gone) })
	c.Bundles = slices.DeleteFunc(c.Bundles, func(b fbc.Bundle) bool { return gone.Holds(b.Package, b.Name) })
	c.Deprecations = cut.Deprecations(c.Deprecations, before, after, gone)
	return nil
}

// out reports whether the bundle of an image has lost its entries.
func (r *renderer) out(image string, channels []fbc.Channel, gone cut.Gone) bool {
	if facts, ok := r.known(image); ok {
		return gone.Holds(facts.Package, facts.Name)
	}
	name := r.o.Names[image]
	return name != "" && slices.ContainsFunc(channels, func(ch fbc.Channel) bool { return gone.Holds(ch.Package, name) })
}

// known returns the facts of a bundle that was gathered or that an earlier rendering contains.
func (r *renderer) known(image string) (fbc.Facts, bool) {
	if b := r.bundles[image]; b != nil {
		return b.facts, true
	}
	for _, base := range append([]*Base{r.o.Base}, r.o.Known...) {
		if d := base.doc(r.o.Rewrite.Of(image), image); d != nil {
			if facts, err := d.Facts(); err == nil {
				return facts, true
			}
		}
	}
	return fbc.Facts{}, false
}

// doc returns the document of an image under the first name that the base has, or nil.
func (b *Base) doc(names ...string) *fbc.Doc {
	if b == nil {
		return nil
	}
	for _, name := range names {
		if d := b.docs[name]; d != nil {
			return d
		}
	}
	return nil
}

// versions maps names of bundles to versions.
type versions map[string]semver.Version

func (v versions) of(name string) (semver.Version, bool) {
	found, ok := v[name]
	return found, ok
}

func (v versions) add(f fbc.Facts) {
	if parsed, err := f.Parsed(); err == nil {
		v[f.Name] = parsed
	}
}

func (r *renderer) versions() versions {
	all := versions{}
	for _, b := range r.bundles {
		all.add(b.facts)
	}
	return all
}

// knownOnly answers a template's questions without pulling.
type knownOnly struct{ *renderer }

// Bundle implements fbc.Bundles.
func (r knownOnly) Bundle(image string) (fbc.Facts, error) {
	if facts, ok := r.known(image); ok {
		return facts, nil
	}
	return fbc.Facts{}, errUnknown
}

// Showcase implements fbc.Bundles. It does not affect channels.
func (knownOnly) Showcase(string) (fbc.Showcase, error) { return fbc.Showcase{}, nil }

var errUnknown = errors.New("nobody knows the bundle without a pull")
