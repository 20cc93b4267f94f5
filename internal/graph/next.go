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
	ways := newWays(next, p)
	for _, ch := range p.Channels {
		var stuck, elsewhere []string
		for _, e := range ch.Entries {
			switch {
			case !ch.installable(e.Name) || ways.in(ch.Name, e.Name):
			case ways.anywhere(e.Name):
				elsewhere = append(elsewhere, e.Name)
			default:
				stuck = append(stuck, e.Name)
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
		s.compareHead(ch, next, stuck)
	}
}

// compareHead reports a head that is higher than everything in the next catalog, unless it was already reported
// for having no upgrade.
func (s *skew) compareHead(ch *Channel, next *Package, stuck []string) {
	head := ch.Bundle(ch.Head())
	if next == nil || !head.HasVersion || slices.Contains(stuck, head.Name) {
		return
	}
	var highest *Bundle
	for _, b := range next.Bundles {
		if b.HasVersion && (highest == nil || b.Version.Compare(highest.Version) > 0) {
			highest = b
		}
	}
	if highest != nil && highest.Version.Compare(head.Version) < 0 {
		s.add("head-skew", ch, head.Name, []string{head.Name}, "the head %s of %s is above everything in %s, where the highest is %s",
			versionsOf(ch, []string{head.Name}), s.from, s.to, highest.Version)
	}
}

// ways holds what bundles from another catalog can do in a package.
type ways struct {
	next, from *Package
	channels   map[string][]*Upgrades
}

func newWays(next, from *Package) *ways {
	w := &ways{next: next, from: from, channels: map[string][]*Upgrades{}}
	if next == nil {
		return w
	}
	for _, ch := range next.Channels {
		w.channels[ch.Name] = []*Upgrades{ch.Upgrades(V1, from.Bundles...)}
		// Without a single head, v0 upgrades nothing. That is a fault of the graph, not a skew.
		if ch.Head() != "" {
			w.channels[ch.Name] = append(w.channels[ch.Name], ch.Upgrades(V0, from.Bundles...))
		}
	}
	return w
}

// in reports whether the channel has the bundle, or succeeds it in both generations.
func (w *ways) in(channel, bundle string) bool {
	if w.next == nil || w.next.Channel(channel) == nil {
		return false
	}
	if w.next.Channel(channel).has(bundle, w.from.Bundle(bundle)) {
		return true
	}
	for _, u := range w.channels[channel] {
		if u.Next(bundle) == "" {
			return false
		}
	}
	return true
}

// has reports whether the channel can install a bundle with this name or version.
func (ch *Channel) has(name string, b *Bundle) bool {
	return slices.ContainsFunc(ch.Entries, func(e Entry) bool {
		if !ch.installable(e.Name) {
			return false
		}
		own := ch.Bundle(e.Name)
		return e.Name == name || b != nil && b.HasVersion && own.HasVersion && own.Version.Compare(b.Version) == 0
	})
}

func (w *ways) anywhere(bundle string) bool {
	return w.next != nil && slices.ContainsFunc(w.next.Channels, func(ch *Channel) bool { return w.in(ch.Name, bundle) })
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
