package graph

import (
	"fmt"
	"slices"
	"strings"
)

// Stage is the catalog of one platform version.
type Stage struct {
	Name    string
	Catalog *Catalog
}

// CompareNext reports problems with cluster upgrades. The catalogs are in the order of their platform versions.
// Every bundle that one catalog can install must be in the next or have an upgrade there, and no channel's head
// may be higher than everything in the next.
func CompareNext(stages []Stage, levels Levels) []Finding {
	var found []Finding
	for i := 1; i < len(stages); i++ {
		s := skew{from: stages[i-1].Name, to: stages[i].Name}
		for _, p := range stages[i-1].Catalog.Packages {
			if p.Declared {
				s.comparePackage(p, stages[i].Catalog.Package(p.Name))
			}
		}
		found = append(found, s.found...)
	}
	return levels.apply(found)
}

type skew struct {
	from, to string
	found    []Finding
}

func (s *skew) add(id string, ch *Channel, bundle string, bundles []string, format string, args ...any) {
	f := newFinding(id, ch.Pos, format, args...).in(ch.Package.Name, ch.Name, bundle)
	f.Bundles = bundles
	s.found = append(s.found, f)
}

func (s *skew) comparePackage(p, next *Package) {
	left := make([]map[string]bool, len(p.Channels)) // entries without a way forward in the same channel
	var all []*Bundle
	for i, ch := range p.Channels {
		own := newOnward(ch.installed())
		if next != nil && next.Channel(ch.Name) != nil {
			own.visit(next.Channel(ch.Name))
		}
		left[i] = own.left()
		for name := range left[i] {
			all = append(all, ch.Bundle(name))
		}
	}
	anywhere := newOnward(all)
	if next != nil {
		for _, ch := range next.Channels {
			anywhere.visit(ch)
		}
	}
	nowhere, highest := anywhere.left(), next.highest()
	for i, ch := range p.Channels {
		var stuck, elsewhere []string
		for _, e := range ch.Entries {
			switch {
			case !left[i][e.Name]:
			case nowhere[e.Name]:
				stuck = append(stuck, e.Name)
			default:
				elsewhere = append(elsewhere, e.Name)
			}
		}
		if len(stuck) > 0 {
			s.add("version-skew", ch, stuck[len(stuck)-1], stuck, "%s of %s %s not in %s and %s no way forward there",
				versionsOf(ch, stuck), s.from, plural(stuck, "is", "are"), s.to, plural(stuck, "has", "have"))
		}
		if len(elsewhere) > 0 {
			s.add("channel-skew", ch, elsewhere[len(elsewhere)-1], elsewhere, "%s of %s %s on in %s only in other channels than %q",
				versionsOf(ch, elsewhere), s.from, plural(elsewhere, "goes", "go"), s.to, ch.Name)
		}
		s.compareHead(ch, highest, stuck)
	}
}

// compareHead reports a head that is higher than everything in the next catalog, unless it was already reported
// for having no upgrade.
func (s *skew) compareHead(ch *Channel, highest *Bundle, stuck []string) {
	head := ch.Bundle(ch.Head())
	if highest == nil || !head.HasVersion || slices.Contains(stuck, head.Name) {
		return
	}
	if highest.Version.Compare(head.Version) < 0 {
		s.add("head-skew", ch, head.Name, []string{head.Name}, "the head %s of %s is above everything in %s, where the highest is %s",
			versionsOf(ch, []string{head.Name}), s.from, s.to, highest.Version)
	}
}

// highest returns the bundle with the highest version, or nil if no bundle has a version.
func (p *Package) highest() (highest *Bundle) {
	if p == nil {
		return nil
	}
	for _, b := range p.Bundles {
		if b.HasVersion && (highest == nil || b.Version.Compare(highest.Version) > 0) {
			highest = b
		}
	}
	return highest
}

// installed returns the bundles that can be installed from a channel.
func (ch *Channel) installed() (all []*Bundle) {
	for i := range ch.Entries {
		if name := ch.Entries[i].Name; ch.installable(name) {
			all = append(all, ch.Bundle(name))
		}
	}
	return all
}

// onward holds installed bundles that have no way forward in the channels that were visited.
type onward struct{ pool *pool }

func newOnward(installed []*Bundle) onward { return onward{newPool(&Channel{}, installed)} }

// visit removes the bundles that a channel contains, by name or version, and those that it succeeds in both
// generations of OLM. Without a single head, v0 upgrades nothing. That is a fault of the graph, not a skew, so
// only v1 counts.
func (o onward) visit(ch *Channel) {
	var successors []*Entry // v1 considers all of these, so it never succeeds less than v0
	head := ch.Head()
	if head != "" {
		successors = ch.chainV0(head)
	}
	for i := range ch.Entries {
		e := &ch.Entries[i]
		if !ch.installable(e.Name) {
			continue
		}
		o.pool.settleVersion(ch.Bundle(e.Name))
		if head == "" {
			successors = append(successors, e)
		}
	}
	for _, e := range successors {
		o.pool.takeSucceeded(e, func(string) {})
	}
}

// left returns the names of the bundles that remain.
func (o onward) left() map[string]bool {
	names := map[string]bool{}
	for i, name := range o.pool.names {
		if !o.pool.taken[i] {
			names[name] = true
		}
	}
	return names
}

// versionsOf lists bundles by version, or by name if they have none.
func versionsOf(ch *Channel, bundles []string) string {
	texts := make([]string, len(bundles))
	for i, name := range bundles {
		texts[i] = name
		if b := ch.Bundle(name); b.HasVersion {
			texts[i] = b.Version.String()
		}
	}
	return fmt.Sprintf("%s %s", ch.Package.Name, strings.Join(texts, ", "))
}

func plural(of []string, one, many string) string {
	if len(of) == 1 {
		return one
	}
	return many
}
