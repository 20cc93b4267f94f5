// Package cut derives the catalog of one platform from the catalog for all platforms, with fewer bundles and with
// channels that end at a bundle.
package cut

import (
	"path"
	"slices"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
)

// Rule selects entries of channels.
type Rule struct {
	Versions semver.Range // nil: all
	Channels []string     // names or patterns; empty: all
}

// Cut selects a template's bundles for a catalog. The zero Cut selects all.
//
//  1. An entry stays if an Include selects it, or there is no Include, and no Exclude selects it.
//     Its version is that in its name, or else that of its bundle.
//  2. A channel in Heads loses the entries above its bundle: those with a higher version, and
//     those without a version that lead to the bundle.
//  3. Removed are also channels without entries, bundles that lost all of their entries, and the
//     deprecations of both.
//  4. An entry that replaces a removed one stays unchanged, so that users of the removed one, from
//     the catalog of another platform, can upgrade. With Close it replaces nothing.
type Cut struct {
	Include, Exclude []Rule
	Heads            map[string]string // bundle by channel
	Close            bool
}

// Empty reports whether everything is selected.
func (c Cut) Empty() bool {
	return len(c.Include)+len(c.Exclude)+len(c.Heads) == 0 && !c.Close
}

// Gone is a set of bundles by package and name.
type Gone map[[2]string]bool

// Holds reports whether the set contains a bundle.
func (g Gone) Holds(pkg, name string) bool { return g[[2]string{pkg, name}] }

// Channels cuts channels, and returns the bundles that lost all of their entries. version returns the version of
// a bundle whose name contains none.
func (c Cut) Channels(channels []fbc.Channel, version func(name string) (semver.Version, bool)) ([]fbc.Channel, Gone, error) {
	if err := c.hasHeads(channels); err != nil {
		return nil, nil, err
	}
	versions := func(name string) (semver.Version, bool) {
		if v, ok := graph.VersionOf(name); ok {
			return v, true
		}
		return version(name)
	}
	gone, stays := Gone{}, Gone{}
	var out []fbc.Channel
	for _, ch := range channels {
		for _, e := range ch.Entries {
			gone[[2]string{ch.Package, e.Name}] = true
		}
		ch.Entries = c.entries(ch, versions)
		for _, e := range ch.Entries {
			stays[[2]string{ch.Package, e.Name}] = true
		}
		if len(ch.Entries) > 0 {
			out = append(out, ch)
		}
	}
	for id := range stays {
		delete(gone, id)
	}
	return out, gone, nil
}

func (c Cut) hasHeads(channels []fbc.Channel) error {
	for name, head := range c.Heads {
		if !slices.ContainsFunc(channels, func(ch fbc.Channel) bool {
			return ch.Name == name && slices.ContainsFunc(ch.Entries, func(e fbc.Entry) bool { return e.Name == head })
		}) {
			return failure.New(failure.Config, "cutting channel %s at %s: it has no such entry", name, head).
				Fix("Correct heads, or insert the bundle into the channel first.")
		}
	}
	return nil
}

func (c Cut) entries(ch fbc.Channel, versions func(string) (semver.Version, bool)) []fbc.Entry {
	above := c.above(ch, versions)
	var kept []fbc.Entry
	for _, e := range ch.Entries {
		v, known := versions(e.Name)
		picks := func(r Rule) bool { return r.picks(ch.Name, v, known) }
		if (len(c.Include) == 0 || slices.ContainsFunc(c.Include, picks)) && !slices.ContainsFunc(c.Exclude, picks) && !above(e) {
			kept = append(kept, e)
		}
	}
	if c.Close {
		for i, e := range kept {
			if !slices.ContainsFunc(kept, func(o fbc.Entry) bool { return o.Name == e.Replaces }) {
				kept[i].Replaces = ""
			}
		}
	}
	return kept
}

func (r Rule) picks(channel string, v semver.Version, known bool) bool {
	if len(r.Channels) > 0 && !slices.ContainsFunc(r.Channels, func(p string) bool {
		ok, err := path.Match(p, channel)
		return ok && err == nil
	}) {
		return false
	}
	return r.Versions == nil || known && r.Versions(v)
}

// above returns a function that reports whether an entry is above the bundle at which its channel is cut.
func (c Cut) above(ch fbc.Channel, versions func(string) (semver.Version, bool)) func(fbc.Entry) bool {
	head, ok := c.Heads[ch.Name]
	if !ok {
		return func(fbc.Entry) bool { return false }
	}
	leads := map[string]bool{head: true}
	for found := true; found; {
		found = false
		for _, e := range ch.Entries {
			if !leads[e.Name] && (leads[e.Replaces] || slices.ContainsFunc(e.Skips, func(s string) bool { return leads[s] })) {
				leads[e.Name], found = true, true
			}
		}
	}
	end, known := versions(head)
	return func(e fbc.Entry) bool {
		v, ok := versions(e.Name)
		if ok && known {
			return v.GT(end)
		}
		return e.Name != head && leads[e.Name]
	}
}

// Deprecations removes the deprecations of removed channels and bundles.
func Deprecations(all []fbc.Deprecation, before, after []fbc.Channel, gone Gone) (out []fbc.Deprecation) {
	has := func(in []fbc.Channel, pkg, name string) bool {
		return slices.ContainsFunc(in, func(ch fbc.Channel) bool { return ch.Package == pkg && ch.Name == name })
	}
	for _, d := range all {
		entries := slices.DeleteFunc(slices.Clone(d.Entries), func(e fbc.DeprecationEntry) bool {
			r := e.Reference
			return r.Schema == fbc.SchemaBundle && gone.Holds(d.Package, r.Name) ||
				r.Schema == fbc.SchemaChannel && has(before, d.Package, r.Name) && !has(after, d.Package, r.Name)
		})
		if len(entries) == 0 && len(d.Entries) > 0 {
			continue
		}
		d.Entries = entries
		out = append(out, d)
	}
	return out
}
