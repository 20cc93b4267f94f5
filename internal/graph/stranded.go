package graph

import "github.com/olmgraft/graft/internal/fbc"

// Stranded returns the bundles in a channel's entries that could reach the head before and cannot after, under
// the rules of either generation of OLM. A channel without entries strands all of them. Of several heads it uses
// the highest.
func Stranded(before, after []fbc.Entry, versions Versions) (names []string) {
	bundles := map[string]*Bundle{}
	var all []*Bundle
	add := func(name string) {
		if name == "" || bundles[name] != nil {
			return
		}
		b := &Bundle{Name: name}
		b.Version.Version, b.HasVersion = versions(name)
		bundles[name] = b
		all = append(all, b)
	}
	for _, e := range before {
		add(e.Name)
	}
	for _, e := range before {
		add(e.Replaces)
		for _, s := range e.Skips {
			add(s)
		}
	}
	was, is := channelOf(before, bundles), channelOf(after, bundles)
	head := is.highestHead()
	old, now := [2]*Upgrades{}, [2]*Upgrades{}
	for g := range old {
		old[g], now[g] = was.Upgrades(Generation(g), all...), is.upgradesTo(head, Generation(g), all)
	}
	for _, b := range all {
		if head == "" && (old[V0].ReachesHead(b.Name) || old[V1].ReachesHead(b.Name)) || len(lostIn(b.Name, old, now)) > 0 {
			names = append(names, b.Name)
		}
	}
	return names
}

func channelOf(entries []fbc.Entry, bundles map[string]*Bundle) *Channel {
	ch := &Channel{Package: &Package{bundles: bundles}, index: map[string]int{}}
	for i, e := range entries {
		ch.index[e.Name] = i
		ch.Entries = append(ch.Entries, Entry{Entry: e})
	}
	return ch
}
