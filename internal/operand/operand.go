// Package operand reads what a catalog says about the images that operators manage: entries that map versions of
// operands to images, and the ranges of versions that bundles accept. It resolves ranges to images, lists what a
// site must mirror, finds images named by tag, and adds entries to a catalog's text.
//
// The package is pure: it converts documents to values and bytes.
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

// The types of bundle properties that refer to entries.
const (
	TypeRelatedImageBundle = "olm.relatedImageBundle"
	TypeSupported          = "olm.operand.supported"
	TypeRequired           = "olm.operand.required"
)

// Pos is a place in a file. Line counts from 1.
type Pos struct {
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
}

func (p Pos) String() string { return fmt.Sprintf("%s:%d", p.File, p.Line) }

// Entry maps one version of an operand, or of a set of related images, to images. An entry that names a package
// applies only to its bundles and overrides one that names none. An entry of a bundle's own graph applies only to
// that bundle and overrides both.
type Entry struct {
	Pos
	Schema, Package, Bundle, Name string
	Version                       semver.Version
	Images                        []fbc.RelatedImage
}

// Claim is the content of one property of a bundle: the bundle supports or requires an operand, or uses a set of
// related images, within a range of versions.
type Claim struct {
	Type, Name string
	Range      Range
}

// Schema returns the schema of the entries that the claim refers to.
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

// Set holds the entries and bundles of several catalogs. Its order does not depend on the order in which catalogs
// were added.
type Set struct {
	Entries []Entry
	Bundles []Bundle
}

// Add reads the documents of a catalog. It reports all faults.
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

// of returns the entries with a schema and name that apply to a bundle, lowest version first.
func (s *Set) of(schema, name string, b *Bundle) []*Entry {
	var out []*Entry
	for i := range s.Entries {
		if e := &s.Entries[i]; e.Schema == schema && e.Name == name && e.Serves(b.Package, b.Name) {
			out = append(out, e)
		}
	}
	return shadowed(out)
}

// Serves reports whether the entry applies to a bundle of a package.
func (e *Entry) Serves(pkg, bundle string) bool {
	return (e.Package == "" || e.Package == pkg) && (e.Bundle == "" || e.Bundle == bundle)
}

// shadowed drops entries for all packages if the same version has an entry for the package, and entries for the
// package if it has one for the bundle.
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

// Bundle returns the bundle with a name. If several catalogs contain it, it must be the same in all of them.
func (s *Set) Bundle(name string) (*Bundle, error) {
	var found *Bundle
	for i := range s.Bundles {
		b := &s.Bundles[i]
		if b.Name != name {
			continue
		}
		if found != nil && !found.same(b) {
			return nil, failure.New(failure.OperandUnresolvable, "finding bundle %s: %s and %s differ", name, found.Pos, b.Pos).
				At(b.File, b.Line, 1).Fix("Give only the intended catalog.")
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

// about returns the bundle's claims of a type about a name.
func (b *Bundle) about(typ, name string) []Claim {
	var out []Claim
	for _, c := range b.Claims {
		if c.Type == typ && c.Name == name {
			out = append(out, c)
		}
	}
	return out
}
