package graph

import (
	"fmt"
	"iter"
	"slices"
)

// adviseAgreement compares a bundle's edges in two channels, as far as both channels contain the bundles at their
// ends. It reports each bundle once, for the first two channels that disagree. It does not compare all pairs of
// channels, because a catalog may have thousands.
func (v *verifier) adviseAgreement() {
	if len(v.pkg.Channels) < 2 {
		return
	}
	var names []string
	members := map[string][]member{}
	for _, ch := range v.pkg.Channels {
		for i := range ch.Entries {
			e := &ch.Entries[i]
			if members[e.Name] == nil {
				names = append(names, e.Name)
			}
			members[e.Name] = append(members[e.Name], member{ch, e})
		}
	}
	for _, name := range names {
		if one, other, found := firstDisagreement(members[name]); found {
			v.add("edges-differ", other.at(other.entry), other.Name, name, "%q %s in only one of the channels %q and %q",
				name, disagreement(one, other), one.Name, other.Name)
		}
	}
}

// member is the entry of a bundle in one of its channels.
type member struct {
	*Channel
	entry *Entry
}

// firstDisagreement returns the first two of a bundle's entries that disagree. The entries are in the order of
// their channels.
func firstDisagreement(all []member) (one, other member, found bool) {
	same := func(m member) bool { return sameEdges(all[0].entry, m.entry) }
	if !slices.ContainsFunc(all, func(m member) bool { return !same(m) }) {
		return one, other, false
	}
	s := search{all: all, first: len(all)}
	s.ranges()
	s.replaces()
	s.skips()
	if s.first == len(all) {
		return one, other, false
	}
	return all[s.first], all[s.second], true
}

func sameEdges(a, b *Entry) bool {
	return a.Replaces == b.Replaces && a.SkipRange == b.SkipRange && slices.Equal(a.Skips, b.Skips)
}

// search finds the first pair of entries that disagree. Each method looks for one kind of edge, and notes for
// each name the first entry on either side of a disagreement.
type search struct {
	all           []member
	first, second int // the best pair so far
}

func (s *search) offer(first, second int) {
	if first < s.first || first == s.first && second < s.second {
		s.first, s.second = first, second
	}
}

// ranges looks for two different skipRanges.
func (s *search) ranges() {
	first := slices.IndexFunc(s.all, func(m member) bool { return m.entry.SkipRange != "" })
	for i, m := range s.all {
		if m.entry.SkipRange != "" && m.entry.SkipRange != s.all[first].entry.SkipRange {
			s.offer(first, i)
			return
		}
	}
}

// replaces looks for two entries that replace different bundles, both of which are in both channels.
func (s *search) replaces() {
	targets := map[string]bool{}
	for _, m := range s.all {
		targets[m.entry.Replaces] = true
	}
	if len(targets) < 2 {
		return
	}
	type edge struct{ replaced, present string }
	seen := map[edge]int{}
	for i, m := range s.all {
		own := m.entry.Replaces
		if m.Entry(own) == nil {
			continue
		}
		for present := range m.common(targets) {
			if _, known := seen[edge{own, present}]; known || present == own {
				continue
			}
			seen[edge{own, present}] = i
			if first, ok := seen[edge{present, own}]; ok {
				s.offer(first, i)
			}
		}
	}
}

// skips looks for two entries of which only one skips a bundle that is in both channels.
func (s *search) skips() {
	targets := map[string]bool{}
	for _, m := range s.all {
		for _, name := range m.entry.Skips {
			targets[name] = true
		}
	}
	type edge struct {
		name  string
		skips bool
	}
	seen := map[edge]int{}
	for i, m := range s.all {
		own := setOf(m.entry.Skips)
		for name := range m.common(targets) {
			e := edge{name, own[name]}
			if _, known := seen[e]; known {
				continue
			}
			seen[e] = i
			if first, ok := seen[edge{name, !own[name]}]; ok {
				s.offer(first, i)
			}
		}
	}
}

// common returns the names that the channel has an entry for. It visits the smaller of both sets.
func (ch *Channel) common(names map[string]bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		if len(names) <= len(ch.index) {
			for name := range names {
				if ch.Entry(name) != nil && !yield(name) {
					return
				}
			}
			return
		}
		for name := range ch.index {
			if names[name] && !yield(name) {
				return
			}
		}
	}
}

func setOf(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// disagreement describes an edge of one entry that differs in the other, or returns "".
func disagreement(one, other member) string {
	a, b := one.entry, other.entry
	both := func(name string) bool { return one.Entry(name) != nil && other.Entry(name) != nil }
	if a.Replaces != b.Replaces && both(a.Replaces) && both(b.Replaces) {
		return fmt.Sprintf("replaces %q", a.Replaces)
	}
	if a.SkipRange != b.SkipRange && a.SkipRange != "" && b.SkipRange != "" {
		return fmt.Sprintf("has skipRange %q", a.SkipRange)
	}
	inA, inB := setOf(a.Skips), setOf(b.Skips)
	for _, s := range slices.Concat(a.Skips, b.Skips) {
		if both(s) && inA[s] != inB[s] {
			return fmt.Sprintf("skips %q", s)
		}
	}
	return ""
}
