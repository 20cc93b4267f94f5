// Package cut makes the catalog of a platform of one for all of them: with fewer bundles, and
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

// Rule picks entries of channels.
type Rule struct {
	Versions semver.Range // nil: all
	Channels []string     // names or patterns; empty: all
}

// Cut says what a catalog holds of a template's bundles. The zero Cut is all of them.
//
//  1. An entry stays that an Include picks, or any where there are none, and no Exclude does.
//     Its version is that in its name, else its bundle's.
//  2. A channel of Heads loses what is above its bundle: entries of a higher version, and those
//     without a version that lead to it.
//  3. A channel without entries goes, and so do a bundle that lost all of its entries, and what
//     deprecations say of either.
//  4. An entry that replaces one that went says so still: whoever has that one, from the
//     catalog of another platform, goes on from there. With Close it replaces nothing.
type Cut struct {
	Include, Exclude []Rule
	Heads            map[string]string // bundle by channel
	Close            bool
}

// Empty reports whether nothing is cut.
func (c Cut) Empty() bool {
	return len(c.Include)+len(c.Exclude)+len(c.Heads) == 0 && !c.Close
}

// Gone are bundles, by package and name.
type Gone map[[2]string]bool

// Holds reports whether a bundle is among them.
func (g Gone) Holds(pkg, name string) bool { return g[[2]string{pkg, name}] }

// Channels cuts channels, and tells which bundles lost all of their entries. Version is that of
// a bundle whose name has none.
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

// above tells the entries of a channel that are above the bundle at which it is cut.
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

// Deprecations takes out what is said of channels and bundles that went.
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
