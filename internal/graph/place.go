package graph

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
)

// Newcomer is a bundle to be placed in a channel. Its explicit edges apply unchanged. Without any, its place is
// natural, by version.
type Newcomer struct {
	Name      string
	Version   semver.Version
	Replaces  string
	Skips     []string
	SkipRange string
}

// Explicit reports whether the newcomer has explicit edges.
func (n Newcomer) Explicit() bool {
	return n.Replaces != "" || len(n.Skips) > 0 || n.SkipRange != ""
}

// Place is the place of a newcomer, with the entries that it changes.
type Place struct {
	Entry fbc.Entry
	Index int // of the next entry; the length of the channel means the end
	// Rewired are indexes of entries that replaced the newcomer's predecessor, or nothing, and now replace the
	// newcomer.
	Rewired []int
}

// PlaceRules are the caller's rules for placing a newcomer.
type PlaceRules struct {
	MissingPredecessor bool // allow a replaces target that the channel does not contain
	NoRewire           bool // existing entries must not change
}

// Versions returns the version of a bundle, given its name.
type Versions func(name string) (semver.Version, bool)

// PlaceIn returns the place of a newcomer in a channel that does not have it.
//
//  1. Explicit edges apply unchanged. A replaces target that the channel neither lists nor
//     mentions is predecessor-missing, unless the channel is empty.
//  2. Without edges the newcomer replaces the highest lower version on the way to the head. The
//     way is the chain of replaces from the head, including the name at its end even if the
//     channel does not list it. Skipped bundles are not on the way. If the way is out of order
//     (1.0.1-1 after 1.0.1), the newcomer replaces the first lower version as seen from the
//     head, so that the way stays a single chain.
//  3. Every higher entry that replaces the same predecessor, and that the newcomer does not skip,
//     is rewired to replace the newcomer. If nothing is lower than the newcomer, the end of the
//     chain is rewired. So is the next higher entry that replaces nothing, if explicit edges
//     would otherwise make the newcomer a second head.
//  4. If an entry already replaces or skips the newcomer, nothing is rewired.
//  5. A list sorted by version stays sorted; otherwise the newcomer goes to the end.
func PlaceIn(entries []fbc.Entry, n Newcomer, versions Versions, rules PlaceRules) (Place, error) {
	p := Place{Entry: fbc.Entry{Name: n.Name, Replaces: n.Replaces, Skips: n.Skips, SkipRange: n.SkipRange}}
	natural, tail := !n.Explicit(), -1
	if natural {
		var err error
		if p.Entry.Replaces, tail, err = predecessor(entries, n, versions); err != nil {
			return p, err
		}
	} else if err := knownPredecessor(entries, n, rules); err != nil {
		return p, err
	} else if LeadsTo(entries, n.Replaces, n.Name) {
		return p, failure.New(failure.EdgeConflict, "placing %s: %s, which it is to replace, comes after it", n.Name, n.Replaces).
			Fix("Name a bundle that comes before it.")
	}
	if !mentioned(entries, n.Name) {
		p.Rewired = rewired(entries, p.Entry, n, versions)
		if !natural && len(p.Rewired) == 0 {
			tail = endAbove(entries, p.Entry, n, versions)
		}
		if tail >= 0 {
			p.Rewired = append(p.Rewired, tail)
		}
	}
	if rules.NoRewire && len(p.Rewired) > 0 {
		e := entries[p.Rewired[0]]
		return p, failure.New(failure.EdgeConflict, "placing %s: %s replaces %s and would have to replace %s", n.Name, e.Name, cmp.Or(e.Replaces, "nothing"), n.Name).
			Fix("Leave out rewire: false in graft.yaml, or --no-rewire of graft insert, or give edges that need no change of %s.", e.Name)
	}
	p.Index = listIndex(entries, n, versions)
	return p, nil
}

func knownPredecessor(entries []fbc.Entry, n Newcomer, rules PlaceRules) error {
	if n.Replaces == "" || len(entries) == 0 || rules.MissingPredecessor {
		return nil
	}
	if Knows(entries, n.Replaces) {
		return nil
	}
	return failure.New(failure.PredecessorMissing, "placing %s: it is to replace %s, which is nowhere in the channel", n.Name, n.Replaces)
}

// Knows reports whether entries list, replace or skip a bundle. The empty name is always known.
func Knows(entries []fbc.Entry, name string) bool {
	return name == "" || slices.ContainsFunc(entries, func(e fbc.Entry) bool { return e.Name == name || mentions(e, name) })
}

// LeadsTo reports whether the chain of replaces from one name contains another.
func LeadsTo(entries []fbc.Entry, from, to string) bool {
	replaces := make(map[string]string, len(entries))
	for _, e := range entries {
		replaces[e.Name] = e.Replaces
	}
	for range entries {
		if from = replaces[from]; from == to {
			return from != ""
		}
	}
	return false
}

// predecessor implements rule 2. If nothing is lower than the newcomer, tail is the index of the entry that must
// replace it.
func predecessor(entries []fbc.Entry, n Newcomer, versions Versions) (name string, tail int, err error) {
	tail = -1
	if len(entries) == 0 {
		return "", tail, nil
	}
	way, one := wayToHead(entries)
	var below, lowest string
	var belowVersion, lowestVersion semver.Version
	for _, w := range way {
		if w == n.Name {
			continue // the end of the chain already names the newcomer
		}
		v, ok := versions(w)
		if !ok {
			return "", tail, failure.New(failure.VersionUnordered, "placing %s: %s, which is on the way to the channel's head, carries no semantic version", n.Name, w)
		}
		if v.EQ(n.Version) {
			return "", tail, failure.New(failure.VersionUnordered, "placing %s: its version %s and that of %s give no order", n.Name, n.Version, w)
		}
		if v.LT(n.Version) && (below == "" || !one && v.GT(belowVersion)) {
			below, belowVersion = w, v
		}
		if lowest == "" || v.LT(lowestVersion) {
			lowest, lowestVersion = w, v
		}
	}
	if below != "" {
		return below, tail, nil
	}
	for i, e := range entries {
		if e.Name == lowest {
			tail = i
		}
	}
	if tail >= 0 && entries[tail].Replaces != "" {
		// The way does not end at the lowest version, so it is out of order.
		tail = -1
	}
	if tail < 0 && !mentioned(entries, n.Name) {
		return "", tail, failure.New(failure.EdgeConflict, "placing %s: it is below %s, which the channel replaces but does not list", n.Name, lowest)
	}
	return "", tail, nil
}

// wayToHead returns the names on the chain of replaces from the head. In a channel without a single head one is
// false, and way contains all entries.
func wayToHead(entries []fbc.Entry) (way []string, one bool) {
	replaces := make(map[string]string, len(entries))
	for _, e := range entries {
		replaces[e.Name] = e.Replaces
		way = append(way, e.Name)
	}
	heads := HeadNames(entries)
	if len(heads) != 1 {
		return way, false
	}
	way = way[:0]
	seen := map[string]bool{"": true}
	for name := heads[0]; !seen[name]; name = replaces[name] {
		seen[name] = true
		way = append(way, name)
	}
	return way, true
}

// rewired returns the higher entries that replace what the newcomer replaces or skips. Without rewiring them the
// channel would have two heads.
func rewired(entries []fbc.Entry, placed fbc.Entry, n Newcomer, versions Versions) []int {
	var out []int
	for i, e := range entries {
		if e.Replaces == "" || !mentions(placed, e.Replaces) || slices.Contains(placed.Skips, e.Name) {
			continue
		}
		if v, ok := versions(e.Name); ok && v.GT(n.Version) {
			out = append(out, i)
		}
	}
	return out
}

// endAbove returns the index of the next higher entry if the chain of replaces ends with it, otherwise -1.
func endAbove(entries []fbc.Entry, placed fbc.Entry, n Newcomer, versions Versions) int {
	next := -1
	var lowest semver.Version
	for i, e := range entries {
		if v, ok := versions(e.Name); ok && v.GT(n.Version) && (next < 0 || v.LT(lowest)) {
			next, lowest = i, v
		}
	}
	if next >= 0 && (entries[next].Replaces != "" || mentions(placed, entries[next].Name)) {
		return -1
	}
	return next
}

func mentioned(entries []fbc.Entry, name string) bool {
	return slices.ContainsFunc(entries, func(e fbc.Entry) bool { return mentions(e, name) })
}

func mentions(e fbc.Entry, name string) bool {
	return e.Replaces == name || slices.Contains(e.Skips, name)
}

func listIndex(entries []fbc.Entry, n Newcomer, versions Versions) int {
	known := make([]*semver.Version, len(entries))
	for i, e := range entries {
		if v, ok := versions(e.Name); ok {
			known[i] = &v
		}
	}
	return ListIndex(known, n.Version)
}

// ListIndex returns the index for a version in a list: its position in a sorted list, ascending or descending,
// and the end of any other list. nil stands for an unknown version.
func ListIndex(list []*semver.Version, v semver.Version) int {
	up, down := true, len(list) > 1
	for i, one := range list {
		if one == nil {
			return len(list)
		}
		if i > 0 {
			up = up && list[i-1].LE(*one)
			down = down && list[i-1].GE(*one)
		}
	}
	for i, one := range list {
		if up && one.GT(v) || !up && down && one.LT(v) {
			return i
		}
	}
	return len(list)
}

var shortVersion = regexp.MustCompile(`^\d+(\.\d+){0,2}$`)

// VersionOf returns the version at the end of a bundle's name, as in op.v1.2.3, op-1.2.3 or op.v4.20.
func VersionOf(name string) (semver.Version, bool) {
	for i := 0; i < len(name); i++ {
		if i > 0 && name[i-1] != '.' && name[i-1] != '-' && name[i-1] != '_' {
			continue
		}
		rest := strings.TrimPrefix(name[i:], "v")
		if rest == "" || rest[0] < '0' || rest[0] > '9' {
			continue
		}
		if v, err := semver.Parse(rest); err == nil {
			return v, true
		}
	}
	if i := strings.LastIndex(name, ".v"); i >= 0 && shortVersion.MatchString(name[i+2:]) {
		v, err := semver.ParseTolerant(name[i+2:])
		return v, err == nil
	}
	return semver.Version{}, false
}

// HeadNames returns the entries that no other replaces or skips.
func HeadNames(entries []fbc.Entry) []string {
	passed := make(map[string]bool, 2*len(entries))
	for _, e := range entries {
		passed[e.Replaces] = true
		for _, s := range e.Skips {
			passed[s] = true
		}
	}
	var heads []string
	for _, e := range entries {
		if !passed[e.Name] {
			heads = append(heads, e.Name)
		}
	}
	return heads
}
