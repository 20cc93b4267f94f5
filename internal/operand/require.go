package operand

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
)

// maxSteps bounds the search for providers. Real catalogs need a few steps.
const maxSteps = 100_000

// need is an operand that a bundle requires, with all of the bundle's claims about it.
type need struct {
	of     *Bundle
	name   string
	claims []Claim
}

func (n need) String() string {
	return fmt.Sprintf("%s, which %s requires within %s", n.name, n.of.Name, texts(n.claims, " and "))
}

// needs returns the needs of a bundle, sorted by name.
func (b *Bundle) needs() []need {
	var out []need
	for _, c := range b.Claims {
		if c.Type == TypeRequired && !slices.ContainsFunc(out, func(n need) bool { return n.name == c.Name }) {
			out = append(out, need{b, c.Name, b.about(TypeRequired, c.Name)})
		}
	}
	slices.SortFunc(out, func(x, y need) int { return cmp.Compare(x.name, y.name) })
	return out
}

// offer is a way to satisfy a need: an entry, and a bundle that supports it.
type offer struct {
	entry *Entry
	by    *Bundle
}

// offers returns all ways to satisfy a need, the best first: the highest version of the operand, then the
// provider with the highest version, then by package, name and place.
func (s *Set) offers(n need) []offer {
	var out []offer
	for i := range s.Bundles {
		p := &s.Bundles[i]
		supported := p.about(TypeSupported, n.name)
		if len(supported) == 0 {
			continue
		}
		for _, e := range s.of(SchemaOperand, n.name, p) {
			if anyHolds(supported, e.Version) && allHold(n.claims, e.Version) {
				out = append(out, offer{e, p})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b offer) int {
		return cmp.Or(Compare(b.entry.Version, a.entry.Version), Compare(b.by.Version, a.by.Version),
			compareBundles(*a.by, *b.by), compareEntries(*a.entry, *b.entry))
	})
	return out
}

// search finds providers, need by need. It backtracks if a package would be needed in two versions.
type search struct {
	set     *Set
	known   map[string][]offer // by the need's text
	held    map[string]*Bundle // by package
	steps   int
	deepest int
	nearest error
}

// require satisfies the needs of a bundle and its providers in order. The bundle's needs come first; each gets
// the best offer that the earlier choices allow.
func (s *Set) require(b *Bundle) ([]Chosen, error) {
	f := &search{set: s, known: map[string][]offer{}, held: map[string]*Bundle{b.Package: b}, deepest: -1}
	chosen, ok := f.meet(b.needs(), nil)
	if !ok {
		return nil, f.nearest
	}
	for _, c := range chosen {
		if err := unambiguous(c.Entry, s.of(SchemaOperand, c.Entry.Name, c.By)); err != nil {
			return nil, err
		}
	}
	return chosen, nil
}

func (f *search) meet(left []need, met []Chosen) ([]Chosen, bool) {
	if len(left) == 0 {
		return met, true
	}
	n := left[0]
	key := n.of.Package + "\x00" + n.String()
	offers, ok := f.known[key]
	if !ok {
		offers = f.set.offers(n)
		f.known[key] = offers
	}
	if len(offers) == 0 {
		f.fail(len(met), n, f.set.missing(n))
		return nil, false
	}
	tried := map[*Bundle]bool{} // another entry of the same provider has the same result
	for _, o := range offers {
		if tried[o.by] {
			continue
		}
		tried[o.by] = true
		if f.steps++; f.steps > maxSteps {
			f.deepest = -1
			f.fail(len(met), n, fmt.Sprintf("%d steps found no providers that fit together", maxSteps))
			return nil, false
		}
		holder := f.held[o.by.Package]
		if holder != nil && !holder.same(o.by) {
			f.fail(len(met), n, fmt.Sprintf("%s supports it, but %s of the same package is already chosen", o.by.Name, holder.Name))
			continue
		}
		next := slices.Clone(left[1:])
		if holder == nil {
			f.held[o.by.Package] = o.by
			next = append(next, o.by.needs()...)
		}
		c := Chosen{Entry: o.entry, For: n.of, By: o.by, Request: Request{Name: n.name}, Reason: n.reason(o)}
		if all, ok := f.meet(next, append(slices.Clone(met), c)); ok {
			return all, true
		}
		if holder == nil {
			delete(f.held, o.by.Package)
		}
	}
	return nil, false
}

func (n need) reason(o offer) string {
	return fmt.Sprintf("%s requires it within %s, and %s supports %s", n.of.Name, texts(n.claims, " and "), o.by.Name, texts(o.by.about(TypeSupported, n.name), " or "))
}

// fail keeps the conflict that occurred after the most satisfied needs, and the first of equal ones.
func (f *search) fail(met int, n need, why string) {
	if met <= f.deepest {
		return
	}
	f.deepest = met
	f.nearest = failure.New(failure.OperandUnresolvable, "resolving %s: %s", n, why).At(n.of.File, n.of.Line, 1).
		Fix("Also give a catalog with a provider and an entry in that range, or widen the range.")
}

// missing returns the reason why nothing satisfies a need.
func (s *Set) missing(n need) string {
	var providers, entries []string
	for i := range s.Bundles {
		if claims := s.Bundles[i].about(TypeSupported, n.name); len(claims) > 0 {
			providers = append(providers, s.Bundles[i].Name+" supports "+texts(claims, " or "))
		}
	}
	for i := range s.Entries {
		if e := &s.Entries[i]; e.Schema == SchemaOperand && e.Name == n.name {
			entries = append(entries, e.Version.String())
		}
	}
	slices.Reverse(providers)
	slices.Reverse(entries)
	switch {
	case len(providers) == 0:
		return "no bundle supports it"
	case len(entries) == 0:
		return "no catalog has an entry for it, although " + few(providers)
	}
	return "none of its entries (" + few(slices.Compact(entries)) + ") is both in that range and supported: " + few(slices.Compact(providers))
}

// sorted returns the entry's images sorted by name.
func (e *Entry) sorted() []fbc.RelatedImage {
	return slices.SortedFunc(slices.Values(e.Images), func(a, b fbc.RelatedImage) int { return strings.Compare(a.Name, b.Name) })
}
