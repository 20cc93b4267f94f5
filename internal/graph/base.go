package graph

import (
	"fmt"
	"slices"
	"strings"
)

// CompareBase reports what a new catalog takes away from users of the published one: no installed version may be
// left behind. It does not verify the published catalog. If a channel of the new one has several heads, which
// Verify reports, CompareBase uses the highest, so that broken paths are still reported.
func CompareBase(published, c *Catalog, levels Levels) []Finding {
	cmp := baseComparison{}
	for _, was := range published.Packages {
		is := c.Package(was.Name)
		switch {
		case !was.Declared:
		case is == nil:
			cmp.add("package-pruned", Pos{}, was, "", "", "package %q with %d bundles is gone", was.Name, len(was.Bundles))
		default:
			cmp.comparePackage(was, is)
		}
	}
	return levels.apply(cmp.found)
}

// MarkEarlier marks the warnings that a catalog had before its change. Of a light catalog it may miss some.
func MarkEarlier(found []Finding, before *Catalog, levels Levels) {
	isWarning := func(f Finding) bool { return f.Level == Warning }
	if !slices.ContainsFunc(found, isWarning) {
		return
	}
	type warning struct{ id, pkg, channel, message string }
	of := func(f Finding) warning { return warning{f.ID, f.Package, f.Channel, f.Message} }
	had := map[warning]bool{}
	for _, f := range Verify(before, nil, levels) {
		had[of(f)] = true
	}
	for i, f := range found {
		found[i].Earlier = isWarning(f) && had[of(f)]
	}
}

// ComparePublished does the same as CompareBase for a published catalog, wherever that is, and leaves out
// findings in told.
func ComparePublished(name string, published, c *Catalog, told []Finding, levels Levels) (found []Finding) {
	type about struct{ id, pkg, channel, bundle string }
	of := func(f Finding) about { return about{f.ID, f.Package, f.Channel, f.Bundle} }
	known := make(map[about]bool, len(told))
	for _, f := range told {
		known[of(f)] = true
	}
	for _, f := range CompareBase(published, c, levels) {
		if !known[of(f)] {
			f.Message, f.Against = "against the published catalog "+name+": "+f.Message, name
			found = append(found, f)
		}
	}
	return found
}

// pathNames bounds the names in all paths of a comparison: thousands of bundles may have lost paths of thousands of
// names.
const pathNames = 1_000_000

type baseComparison struct {
	found []Finding
	names int // in the paths of the findings
}

func (c *baseComparison) add(id string, at Pos, p *Package, channel, bundle, format string, args ...any) *Finding {
	c.found = append(c.found, newFinding(id, at, format, args...).in(p.Name, channel, bundle))
	return &c.found[len(c.found)-1]
}

func (c *baseComparison) comparePackage(was, is *Package) {
	if was.DefaultChannel != is.DefaultChannel && is.DefaultChannel != "" {
		c.add("default-channel-changed", is.Pos, is, is.DefaultChannel, "", "the default channel is %q; it was %q", is.DefaultChannel, was.DefaultChannel)
	}
	for _, before := range was.Channels {
		after := is.Channel(before.Name)
		if after == nil {
			c.add("channel-pruned", is.Pos, is, before.Name, "", "channel %q with %d entries is gone", before.Name, len(before.Entries))
			continue
		}
		c.compareChannel(before, after)
	}
}

// compareChannel checks each published entry. A removed entry counts as withdrawn, not as pruned, if the new
// channel skips it by name and the published one did not. A tombstone in a goodstuff template has this effect: it
// is intended, and users of the entry are upgraded.
func (c *baseComparison) compareChannel(before, after *Channel) {
	installed := make([]*Bundle, len(before.Entries))
	for i, e := range before.Entries {
		installed[i] = before.Bundle(e.Name)
	}
	head := after.highestHead()
	old := [...]*Upgrades{before.Upgrades(V0), before.Upgrades(V1)}
	now := [...]*Upgrades{after.upgradesTo(head, V0, installed), after.upgradesTo(head, V1, installed)}
	breaks := [...]*breakage{newBreakage(after, old[V0], now[V0]), newBreakage(after, old[V1], now[V1])}
	c.compareHeads(before, after, old[V0].Head, now[V0].Head)
	skippedBefore, skippedAfter := before.skipped(), after.skipped()
	for i := range before.Entries {
		name := before.Entries[i].Name
		lost := lostIn(name, old, now)
		if len(lost) > 0 {
			c.lostPath(after, name, lost, breaks[lost[0]])
		}
		switch {
		case after.Entry(name) != nil:
		case len(lost) > 0 || skippedBefore[name] || !skippedAfter[name]:
			c.add("entry-pruned", after.Pos, after.Package, after.Name, name, "entry %q is gone", name)
		default:
			c.add("entry-withdrawn", after.Pos, after.Package, after.Name, name, "entry %q is gone; those who have it are upgraded to %s", name, now[V0].Next(name))
		}
	}
}

// highestHead returns the head, or the one with the highest version if there are several.
func (ch *Channel) highestHead() string {
	best := ""
	for _, h := range ch.Heads() {
		if best == "" || ch.Bundle(h).Version.Compare(ch.Bundle(best).Version) > 0 {
			best = h
		}
	}
	return best
}

// lostIn returns the generations of OLM in which a bundle could reach the head before and cannot now.
func lostIn(name string, old, now [2]*Upgrades) (lost []Generation) {
	for g := range old {
		if now[g].Head != "" && old[g].ReachesHead(name) && !now[g].ReachesHead(name) {
			lost = append(lost, Generation(g))
		}
	}
	return lost
}

func (c *baseComparison) compareHeads(before, after *Channel, was, is string) {
	if was == "" || is == "" {
		return
	}
	b, a := before.Bundle(was), after.Bundle(is)
	if b.HasVersion && a.HasVersion && a.Version.Compare(b.Version) < 0 {
		c.add("head-regressed", after.at(after.Entry(is)), after.Package, after.Name, is, "the head is %s %s; it was %s %s", is, a.Version, was, b.Version)
	}
}

func (c *baseComparison) lostPath(after *Channel, name string, lost []Generation, b *breakage) {
	at := after.Pos
	if e := after.Entry(name); e != nil {
		at = after.at(e)
	}
	var path []string
	had := name + " -> ... -> " + b.old.Head
	if c.names < pathNames {
		path = b.old.Path(name)
		had = shortWay(path)
		c.names += len(path)
	}
	f := c.add("upgrade-path-lost", at, after.Package, after.Name, name, "%s can no longer reach the head %s under the rules of OLM %s: %s; it had %s",
		name, b.now.Head, generations(lost), b.reason(name), had)
	f.Path = path
}

// breakage finds out where paths are broken under the rules of one generation.
type breakage struct {
	after     *Channel
	old, now  *Upgrades
	gone, end map[string]string // caches of ends
}

func newBreakage(after *Channel, old, now *Upgrades) *breakage {
	return &breakage{after, old, now, map[string]string{}, map[string]string{}}
}

// reason explains where the path of a bundle is broken.
func (b *breakage) reason(name string) string {
	isGone := func(on string) bool { return b.after.Entry(on) == nil || !b.after.installable(on) }
	if gone := b.old.ends(name, isGone, b.gone); gone != name && isGone(gone) {
		return fmt.Sprintf("its way leads through %s, which is gone", gone)
	}
	end := b.now.ends(name, func(string) bool { return false }, b.end)
	switch {
	case b.now.Next(end) != "":
		return "its way now is a circle through " + end
	case end != name:
		return "its way now ends at " + end
	}
	return "nothing in the channel succeeds it"
}

// shortWay formats a path, and only its ends if it is long.
func shortWay(path []string) string {
	if len(path) > 8 {
		path = slices.Concat(path[:4], []string{"..."}, path[len(path)-3:])
	}
	return strings.Join(path, " -> ")
}

func generations(all []Generation) string {
	names := make([]string, len(all))
	for i, g := range all {
		names[i] = g.String()
	}
	return strings.Join(names, " and ")
}
