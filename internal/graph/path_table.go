package graph

import (
	"cmp"
	"slices"
)

// PathTable holds everything that FindPath knows about a package before a query, for programs that search paths
// themselves.
type PathTable struct {
	Bundles []*Bundle // that may be installed, by version
	// Keeps lists for each bundle the stages to which it prevents a cluster upgrade.
	Keeps  [][]int
	Stages []map[string]ChannelTable // by channel; nil for a stage without the package
}

// ChannelTable holds the upgrades of a channel for each generation of OLM. Bundles are indexes of
// PathTable.Bundles.
type ChannelTable [2]struct {
	// Offers are the bundles to which others may be upgraded, in OLM's order of choice.
	Offers []Offer
	// Next is OLM's own choice for each bundle, or -1.
	Next []int
}

// Offer is a bundle with those that may be upgraded to it.
type Offer struct {
	To         int
	Deprecated bool
	From       []int
}

// PathsOf returns the table of a package. The stages are in the order of their platforms. Bundles that only
// published catalogs contain may be installed as well.
func PathsOf(stages []Stage, pkg string, published ...*Catalog) *PathTable {
	s := newPathSearch(stages, PathQuery{Package: pkg})
	for _, c := range published {
		if p := c.Package(pkg); p != nil {
			s.know(p.Bundles...)
		}
	}
	t := &PathTable{Bundles: slices.DeleteFunc(slices.Clone(s.installed), func(b *Bundle) bool { return b.Name == "" })}
	slices.SortStableFunc(t.Bundles, func(a, b *Bundle) int {
		return cmp.Or(a.Version.Compare(b.Version), cmp.Compare(a.Name, b.Name))
	})
	index := map[string]int{"": -1}
	for i, b := range t.Bundles {
		index[b.Name] = i
		var keeps []int
		for stage := range stages {
			if s.forbids(b.Name, stage) {
				keeps = append(keeps, stage)
			}
		}
		t.Keeps = append(t.Keeps, keeps)
	}
	for _, p := range s.packages {
		if p == nil {
			t.Stages = append(t.Stages, nil)
			continue
		}
		channels := map[string]ChannelTable{}
		for _, ch := range p.Channels {
			var table ChannelTable
			for g := range table {
				table[g].Offers, table[g].Next = s.table(ch, Generation(g), t.Bundles, index)
			}
			channels[ch.Name] = table
		}
		t.Stages = append(t.Stages, channels)
	}
	return t
}

func (s *pathSearch) table(ch *Channel, g Generation, bundles []*Bundle, index map[string]int) (offers []Offer, next []int) {
	own := ch.Upgrades(g, s.installed...)
	at := map[string]int{}
	for _, to := range ch.offered(g) {
		at[to] = len(offers)
		offers = append(offers, Offer{To: index[to], Deprecated: ch.Package.Deprecated(to)})
	}
	choices := ch.choices(g, s.installed)
	for i, b := range bundles {
		next = append(next, index[own.Next(b.Name)])
		for _, c := range choices[b.Name] {
			if n, ok := at[c.to]; ok {
				offers[n].From = append(offers[n].From, i)
			}
		}
	}
	return slices.DeleteFunc(offers, func(o Offer) bool { return len(o.From) == 0 }), next
}

// offered returns the entries to which the channel may upgrade, the best first.
func (ch *Channel) offered(g Generation) (names []string) {
	var all []*Entry
	if g == V0 {
		all = ch.chainV0(ch.Head())
	} else {
		all = slices.Concat(ch.choicesV1()...)
	}
	for _, e := range all {
		if e.Name != "" {
			names = append(names, e.Name)
		}
	}
	return names
}
