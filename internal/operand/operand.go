// Package operand reads what a catalog says of the images that operators manage: entries
// that map a version of an operand to images, and the ranges of versions that bundles take.
// It resolves a range to images, lists what a site must mirror, finds images that are named
// by tag, and adds entries to a catalog's text.
//
// The package is pure: it is given documents and gives values and bytes.
package operand

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
)

// The schemas of entries.
const (
	SchemaRelatedImages = "olm.relatedimages"
	SchemaOperand       = "olm.operand"
)

// The types of a bundle's properties that speak of entries.
const (
	TypeRelatedImageBundle = "olm.relatedImageBundle"
	TypeSupported          = "olm.operand.supported"
	TypeRequired           = "olm.operand.required"
)

// Pos is where something stands; Line counts from 1.
type Pos struct {
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
}

func (p Pos) String() string { return fmt.Sprintf("%s:%d", p.File, p.Line) }

// Entry maps one version of an operand, or of a set of related images, to images. One that
// names a package serves the bundles of that package only, in place of one that names none; one
// of a bundle's own graph serves that bundle only, in place of both.
type Entry struct {
	Pos
	Schema, Package, Bundle, Name string
	Version                       semver.Version
	Images                        []fbc.RelatedImage
}

// Claim is what one property of a bundle says: that it supports or requires an operand, or
// takes a set of related images, within a range of versions.
type Claim struct {
	Type, Name string
	Range      Range
}

// Schema is the schema of the entries that the claim is about.
func (c Claim) Schema() string {
	if c.Type == TypeRelatedImageBundle {
		return SchemaRelatedImages
	}
	return SchemaOperand
}

// Bundle is an operator's bundle: its images and its claims.
type Bundle struct {
	Pos
	Package, Name, Image string
	Version              semver.Version
	Related              []fbc.RelatedImage
	Claims               []Claim
}

// Set is the entries and bundles of any number of catalogs. Its order, and so all that is
// made of it, does not depend on the order in which catalogs were added.
type Set struct {
	Entries []Entry
	Bundles []Bundle
}

// Add reads the documents of a catalog. All that is malformed is reported.
func (s *Set) Add(docs []fbc.Doc) error {
	var errs []error
	for i := range docs {
		switch d := &docs[i]; d.Schema {
		case SchemaRelatedImages, SchemaOperand:
			e, err := ReadEntry(d)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			s.Entries = append(s.Entries, e)
		case fbc.SchemaBundle:
			b, own, err := readBundle(d)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			s.Entries = append(s.Entries, own...)
			s.Bundles = append(s.Bundles, b)
		}
	}
	s.sort()
	return errors.Join(errs...)
}

func compareEntries(a, b Entry) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Schema, b.Schema), Compare(a.Version, b.Version),
		cmp.Compare(a.Package, b.Package), cmp.Compare(a.Bundle, b.Bundle), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
}

func compareBundles(a, b Bundle) int {
	return cmp.Or(cmp.Compare(a.Package, b.Package), Compare(a.Version, b.Version), cmp.Compare(a.Name, b.Name),
		cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
}

// of are the entries of a schema and name that serve a bundle, the lowest version first.
func (s *Set) of(schema, name string, b *Bundle) []*Entry {
	var out []*Entry
	for i := range s.Entries {
		if e := &s.Entries[i]; e.Schema == schema && e.Name == name && e.Serves(b.Package, b.Name) {
			out = append(out, e)
		}
	}
	return shadowed(out)
}

// Serves tells whether the entry is for a bundle of a package.
func (e *Entry) Serves(pkg, bundle string) bool {
	return (e.Package == "" || e.Package == pkg) && (e.Bundle == "" || e.Bundle == bundle)
}

// shadowed leaves out what is for any package where the same version is for this one, and what is
// for the package where it is for a bundle.
func shadowed(all []*Entry) []*Entry {
	nearest := map[string]int{}
	for _, e := range all {
		nearest[e.Version.String()] = max(nearest[e.Version.String()], e.nearness())
	}
	return slices.DeleteFunc(all, func(e *Entry) bool { return e.nearness() < nearest[e.Version.String()] })
}

func (e *Entry) nearness() int {
	switch {
	case e.Bundle != "":
		return 2
	case e.Package != "":
		return 1
	}
	return 0
}

// Bundle finds a bundle by its name. What stands in several catalogs must be the same in
// all of them.
func (s *Set) Bundle(name string) (*Bundle, error) {
	var found *Bundle
	for i := range s.Bundles {
		b := &s.Bundles[i]
		if b.Name != name {
			continue
		}
		if found != nil && !found.same(b) {
			return nil, failure.New(failure.OperandUnresolvable, "finding bundle %s: %s and %s say different things of it", name, found.Pos, b.Pos).
				At(b.File, b.Line, 1).Fix("Give only the catalog that is meant.")
		}
		if found == nil {
			found = b
		}
	}
	if found == nil {
		return nil, failure.New(failure.OperandUnresolvable, "finding bundle %s: no catalog has it", name).
			Fix("Give the name of a bundle, or the catalog that has it.")
	}
	return found, nil
}

func (b *Bundle) same(o *Bundle) bool {
	return b.Package == o.Package && b.Name == o.Name && b.Image == o.Image && slices.EqualFunc(b.Claims, o.Claims, func(x, y Claim) bool {
		return x.Type == y.Type && x.Name == y.Name && x.Range.Text == y.Range.Text
	})
}

// about are the bundle's claims of a type on a name.
func (b *Bundle) about(typ, name string) []Claim {
	var out []Claim
	for _, c := range b.Claims {
		if c.Type == typ && c.Name == name {
			out = append(out, c)
		}
	}
	return out
}
