package graph

import (
	"slices"

	"github.com/blang/semver/v4"
)

// Generation is the generation of OLM whose upgrade rules apply. In both, an entry succeeds an installed bundle
// if it replaces or skips it by name, or if its skipRange contains the installed version. The installed bundle
// need not be in the channel. The generations differ in their choice among several successors.
type Generation int

const (
	// V0 considers the entries on the chain of replaces from the head that no entry skips, and chooses the one
	// nearest to the head.
	V0 Generation = iota
	// V1 considers every entry and chooses the highest version, with deprecated ones last. The installed version
	// is itself a choice if the channel has it, so nothing is downgraded.
	V1
)

// String returns v0 or v1.
func (g Generation) String() string { return [...]string{"v0", "v1"}[g] }

// Upgrades holds the automatic upgrade of each bundle that may be installed from a channel, under the rules of
// one generation.
type Upgrades struct {
	Head    string
	next    map[string]string
	reaches map[string]bool // cache of ReachesHead
}

// Upgrades returns the upgrades of a channel for its own bundles and for others that may be installed. If the
// channel has no single head, OLM v0 upgrades nothing.
//
// It visits the choices from the best on. Each takes all installed bundles that it succeeds and that are not
// taken yet. So the cost is that of sorting, not of comparing each entry with each version.
func (ch *Channel) Upgrades(g Generation, others ...*Bundle) *Upgrades {
	return ch.upgradesTo(ch.Head(), g, others)
}

func (ch *Channel) upgradesTo(head string, g Generation, others []*Bundle) *Upgrades {
	u := &Upgrades{Head: head, next: map[string]string{}, reaches: map[string]bool{}}
	pool := newPool(ch, others)
	switch g {
	case V0:
		if u.Head == "" {
			break
		}
		pool.settle(u.Head)
		for _, e := range ch.chainV0(u.Head) {
			u.take(pool, e)
		}
	case V1:
		for _, equals := range ch.choicesV1() {
			for _, e := range equals {
				pool.settleVersion(ch.Bundle(e.Name))
			}
			for _, e := range equals {
				u.take(pool, e)
			}
		}
	}
	return u
}

// Next returns the bundle to which an installed one is upgraded, or "".
func (u *Upgrades) Next(name string) string { return u.next[name] }

// Path returns the path of an installed bundle from itself to the head, or to its end.
func (u *Upgrades) Path(name string) []string {
	var path []string
	for seen := map[string]bool{}; name != "" && !seen[name]; name = u.next[name] {
		path = append(path, name)
		if name == u.Head {
			break
		}
		seen[name] = true
	}
	return path
}

// ends returns the first name on the path of an installed bundle at which stops is true, or the last name. known
// holds the results for earlier names.
func (u *Upgrades) ends(name string, stops func(string) bool, known map[string]string) string {
	var way []string
	at := name
	for {
		if end, ok := known[at]; ok {
			at = end
			break
		}
		known[at] = at // ends a path that is a cycle
		way = append(way, at)
		if stops(at) || at == u.Head || u.next[at] == "" {
			break
		}
		at = u.next[at]
	}
	for _, on := range way {
		known[on] = at
	}
	return at
}

// ReachesHead reports whether the path of an installed bundle ends at the head.
func (u *Upgrades) ReachesHead(name string) bool {
	if u.Head == "" {
		return false
	}
	var way []string
	reaches := false
	for at := name; at != ""; at = u.next[at] {
		if known, ok := u.reaches[at]; ok || at == u.Head {
			reaches = known || at == u.Head
			break
		}
		u.reaches[at] = false // ends a path that is a cycle
		way = append(way, at)
	}
	for _, at := range way {
		u.reaches[at] = reaches
	}
	return reaches
}

func (u *Upgrades) take(p *pool, e *Entry) {
	p.takeSucceeded(e, func(name string) {
		if name != e.Name {
			u.next[name] = e.Name
		}
	})
}

// takeSucceeded takes the bundles that an entry succeeds.
func (p *pool) takeSucceeded(e *Entry, took func(string)) {
	p.takeName(e.Replaces, took)
	for _, s := range e.Skips {
		p.takeName(s, took)
	}
	if r, ok := parseRange(e.SkipRange); ok {
		r.within(p.versions, func(from, to int) { p.takeVersions(from, to, took) })
	}
}

// chainV0 returns the entries that v0 considers, from the head down, or none if replaces forms a cycle. Entries
// without a bundle cannot be installed.
func (ch *Channel) chainV0(head string) []*Entry {
	skipped, seen := ch.skipped(), map[string]bool{}
	var chain []*Entry
	for e := ch.Entry(head); e != nil; e = ch.Entry(e.Replaces) {
		if seen[e.Name] {
			return nil
		}
		seen[e.Name] = true
		if !skipped[e.Name] && ch.installable(e.Name) {
			chain = append(chain, e)
		}
	}
	return chain
}

// choicesV1 returns the entries that v1 considers, from the best down, with equally good ones in one group.
func (ch *Channel) choicesV1() [][]*Entry {
	var all []*Entry
	for i := range ch.Entries {
		if ch.installable(ch.Entries[i].Name) {
			all = append(all, &ch.Entries[i])
		}
	}
	order := func(a, b *Entry) int {
		if x, y := ch.Package.Deprecated(a.Name), ch.Package.Deprecated(b.Name); x != y {
			if y {
				return -1
			}
			return 1
		}
		return ch.Bundle(b.Name).Version.Compare(ch.Bundle(a.Name).Version)
	}
	slices.SortStableFunc(all, order)
	var choices [][]*Entry
	for i, e := range all {
		if i == 0 || order(all[i-1], e) != 0 {
			choices = append(choices, nil)
		}
		choices[len(choices)-1] = append(choices[len(choices)-1], e)
	}
	return choices
}

// installable reports whether the name has a bundle. In a catalog that contains only channels every entry counts.
func (ch *Channel) installable(name string) bool {
	return len(ch.Package.Bundles) == 0 || ch.Package.Bundle(name) != nil
}

// pool holds the installed bundles without a successor, by name and by version.
type pool struct {
	names    []string
	versions []semver.Version // ascending, for the first len(versions) names
	full     []Version
	place    map[string]int
	taken    []bool
	skip     []int // for each index, where to continue the search for a free one
}

func newPool(ch *Channel, others []*Bundle) *pool {
	var all, unknown []*Bundle
	seen := map[string]bool{}
	add := func(b *Bundle) {
		if seen[b.Name] {
			return
		}
		seen[b.Name] = true
		if b.HasVersion {
			all = append(all, b)
		} else {
			unknown = append(unknown, b)
		}
	}
	for _, e := range ch.Entries {
		add(ch.Bundle(e.Name))
	}
	for _, b := range others {
		add(b)
	}
	slices.SortStableFunc(all, func(a, b *Bundle) int { return a.Version.Compare(b.Version) })
	p := &pool{place: map[string]int{}}
	for i, b := range append(all, unknown...) {
		p.names = append(p.names, b.Name)
		p.place[b.Name] = i
		p.skip = append(p.skip, i)
		if b.HasVersion {
			p.versions = append(p.versions, b.Version.Version)
			p.full = append(p.full, b.Version)
		}
	}
	p.skip = append(p.skip, len(p.skip))
	p.taken = make([]bool, len(p.names))
	return p
}

// settle removes a bundle without giving it a successor.
func (p *pool) settle(name string) { p.takeName(name, func(string) {}) }

// settleVersion removes every bundle with the same version as a bundle.
func (p *pool) settleVersion(b *Bundle) {
	p.settle(b.Name)
	if !b.HasVersion {
		return
	}
	from, _ := slices.BinarySearchFunc(p.full, b.Version, Version.Compare)
	p.takeVersions(from, firstAbove(p.full, b.Version, Version.Compare), func(string) {})
}

// firstAbove returns the index of the first of ascending values that is higher than a value.
func firstAbove[V any](ascending []V, v V, compare func(V, V) int) int {
	at, _ := slices.BinarySearchFunc(ascending, v, func(a, v V) int {
		if compare(a, v) > 0 {
			return 1
		}
		return -1
	})
	return at
}

func (p *pool) takeName(name string, took func(string)) {
	if i, ok := p.place[name]; ok && !p.taken[i] {
		p.take(i, took)
	}
}

func (p *pool) takeVersions(from, to int, took func(string)) {
	for i := p.free(from); i < to; i = p.free(i) {
		p.take(i, took)
	}
}

func (p *pool) take(i int, took func(string)) {
	p.taken[i] = true
	p.skip[i] = i + 1
	took(p.names[i])
}

// free returns the first free index from i on, and shortens the path to it for later calls.
func (p *pool) free(i int) int {
	end := i
	for end < len(p.names) && p.skip[end] != end {
		end = p.skip[end]
	}
	for i < end {
		i, p.skip[i] = p.skip[i], end
	}
	return end
}
