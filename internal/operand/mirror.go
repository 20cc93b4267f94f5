package operand

import (
	"maps"
	"slices"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
)

// A Selection is the part of the catalogs that a site installs. Without bundles and packages it means everything in the catalogs; without
// operands, all versions that the bundles support.
type Selection struct {
	Bundles, Packages []string
	Operands          []Request
}

// Mirror returns the sorted images that a selection needs, without repetitions:
//
//  1. for each bundle, its image and its related images;
//  2. for each set of related images that a bundle uses, the highest version that it accepts;
//  3. for the requested operands, the highest version in each range that a bundle accepts; without
//     a request, every entry that a bundle supports;
//  4. for everything that the bundles require, the providers by rules 1 and 2, and the resolved entries.
func (s *Set) Mirror(sel Selection) ([]string, error) {
	chosen, err := s.selected(sel)
	if err != nil {
		return nil, err
	}
	m := &mirror{set: s, images: map[string]bool{}, chosen: map[string]bool{}, done: map[*Bundle]bool{}, asked: map[string]bool{}}
	for _, q := range sel.Operands {
		m.asked[q.Name] = true
	}
	for _, b := range chosen {
		m.chosen[b.key()] = true
	}
	for _, b := range chosen {
		if err := m.bundle(b, len(sel.Operands) == 0); err != nil {
			return nil, err
		}
	}
	for _, q := range sel.Operands {
		if err := m.operand(q, chosen); err != nil {
			return nil, err
		}
	}
	return slices.Sorted(maps.Keys(m.images)), nil
}

func (s *Set) selected(sel Selection) ([]*Bundle, error) {
	var out []*Bundle
	for _, name := range sel.Bundles {
		if _, err := s.Bundle(name); err != nil {
			return nil, err
		}
	}
	had := map[string]bool{}
	all := len(sel.Bundles)+len(sel.Packages) == 0
	for i := range s.Bundles {
		b := &s.Bundles[i]
		had[b.Package] = true
		if all || slices.Contains(sel.Packages, b.Package) || slices.Contains(sel.Bundles, b.Name) {
			out = append(out, b)
		}
	}
	for _, p := range sel.Packages {
		if !had[p] {
			return nil, failure.New(failure.OperandUnresolvable, "finding package %s: no catalog has a bundle of it", p).
				Fix("Give the name of a package, or also the catalog that has it.")
		}
	}
	return out, nil
}

type mirror struct {
	set    *Set
	images map[string]bool
	chosen map[string]bool // keys of bundles
	done   map[*Bundle]bool
	asked  map[string]bool // names of operands and sets that were requested
}

func (b *Bundle) key() string { return b.Package + "\x00" + b.Name }

// bundle adds what a chosen bundle needs. With all, it adds everything that the bundle supports.
func (m *mirror) bundle(b *Bundle, all bool) error {
	if err := m.install(b); err != nil {
		return err
	}
	if all {
		if err := m.supported(b); err != nil {
			return err
		}
	}
	required, err := m.set.require(b)
	for _, c := range required {
		m.add(c.Entry.Images)
		if err := m.install(c.By); err != nil {
			return err
		}
	}
	return err
}

func (m *mirror) add(images []fbc.RelatedImage) {
	for _, i := range images {
		if i.Image != "" {
			m.images[i.Image] = true
		}
	}
}

// install adds the images that a bundle cannot run without. For a chosen bundle it leaves the requested sets to
// operand.
func (m *mirror) install(b *Bundle) error {
	if m.done[b] {
		return nil
	}
	m.done[b] = true
	own := append([]fbc.RelatedImage{{Image: b.Image}}, b.Related...)
	for _, i := range own {
		if _, ok := parseReference(i.Image); !ok && i.Image != "" {
			return failure.New(failure.TemplateMalformed, "listing the images of %s: %q is not an image reference", b.Name, i.Image).At(b.File, b.Line, 1).
				Fix("Correct the reference.")
		}
	}
	m.add(own)
	for _, claim := range b.Claims {
		if claim.Type != TypeRelatedImageBundle || m.chosen[b.key()] && m.asked[claim.Name] {
			continue
		}
		entry, err := m.set.highest(b, claim.Name)
		if err != nil {
			return err
		}
		m.add(entry.Images)
	}
	return nil
}

// highest returns the highest set of related images that a bundle accepts.
func (s *Set) highest(b *Bundle, name string) (*Entry, error) {
	claims := b.about(TypeRelatedImageBundle, name)
	all := s.of(SchemaRelatedImages, name, b)
	for _, e := range slices.Backward(all) {
		if allHold(claims, e.Version) {
			return e, unambiguous(e, all)
		}
	}
	return nil, b.unresolvable(Request{Name: name}, "the bundle uses %s, and no catalog has an %s in that range", texts(claims, " and "), SchemaRelatedImages).
		Fix("Also give the catalog that has it.")
}

// supported adds every entry that a bundle supports.
func (m *mirror) supported(b *Bundle) error {
	for _, claim := range b.Claims {
		if claim.Type != TypeSupported {
			continue
		}
		all := m.set.of(SchemaOperand, claim.Name, b)
		for _, e := range all {
			if !claim.Range.Holds(e.Version) {
				continue
			}
			if err := unambiguous(e, all); err != nil {
				return err
			}
			m.add(e.Images)
		}
	}
	return nil
}

// operand adds the entries that the bundles accept for a requested operand. At least one bundle must accept it;
// for a set of related images, every bundle that uses the set.
func (m *mirror) operand(q Request, chosen []*Bundle) error {
	var first error
	found := false
	for _, b := range chosen {
		schema, _, words := b.takes(q.Name)
		if words == "" {
			continue
		}
		c, err := m.set.choose(b, q)
		switch {
		case err == nil:
			m.add(c.Entry.Images)
			found = true
		case schema == SchemaRelatedImages:
			return err
		case first == nil:
			first = err
		}
	}
	if found {
		return nil
	}
	if first == nil {
		first = failure.New(failure.OperandUnresolvable, "resolving %s: no bundle supports an operand of that name", q).
			Fix("Name an operand that a bundle uses.")
	}
	return first
}
