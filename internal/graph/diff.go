package graph

import (
	"cmp"
	"maps"
	"slices"
)

// Changes are the differences between two catalogs that matter for upgrades.
type Changes struct {
	Packages []PackageChanges `json:"packages"`
}

// Empty reports whether there are no differences.
func (c Changes) Empty() bool { return len(c.Packages) == 0 }

// Move is a changed value.
type Move struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Change is the kind of a difference: added, removed or changed.
type Change string

// The kinds of changes.
const (
	Added   Change = "added"
	Removed Change = "removed"
	Changed Change = "changed"
)

// PackageChanges are the differences in one package.
type PackageChanges struct {
	Name           string           `json:"name"`
	Change         Change           `json:"change"`
	DefaultChannel *Move            `json:"defaultChannel,omitempty"`
	Bundles        []BundleChange   `json:"bundles,omitempty"`
	Channels       []ChannelChanges `json:"channels,omitempty"`
}

// BundleChange is an added or removed bundle, or one with another version or image.
type BundleChange struct {
	Name    string `json:"name"`
	Change  Change `json:"change"`
	Version string `json:"version,omitempty"` // the new one, if there is one
	Image   *Move  `json:"image,omitempty"`
	Was     string `json:"was,omitempty"` // the previous version, if it differs
}

// ChannelChanges are the differences in one channel.
type ChannelChanges struct {
	Name    string       `json:"name"`
	Change  Change       `json:"change"`
	Head    *Move        `json:"head,omitempty"`
	Entries []NameChange `json:"entries,omitempty"`
	Edges   []EdgeChange `json:"edges,omitempty"`
	Paths   []PathChange `json:"paths,omitempty"`
}

// NameChange is an added or removed entry.
type NameChange struct {
	Name   string `json:"name"`
	Change Change `json:"change"`
}

// EdgeChange is an added, removed or changed edge. For a skipRange, To is the range.
type EdgeChange struct {
	Bundle string `json:"bundle"`
	Kind   string `json:"kind"` // replaces, skips or skipRange
	Change Change `json:"change"`
	To     string `json:"to"`
	Was    string `json:"was,omitempty"` // previous target of a changed edge
}

// PathChange is an installed bundle whose upgrade changes: its next step, or whether it reaches the head.
type PathChange struct {
	Bundle  string `json:"bundle"`
	Version string `json:"version,omitempty"`
	// Change is gained or lost if the bundle starts or stops reaching the head. Otherwise it is direct if one
	// step now replaces several, longer if several steps now replace one, and moved for any other next step.
	Change Change       `json:"change"`
	Rules  []Generation `json:"rules"`
	Next   *Move        `json:"next"` // one side is empty if there is no upgrade
	Before []string     `json:"before"`
	After  []string     `json:"after"`

	at       int  // position among the channel's previous bundles, by version
	versions Move // Next as versions
}

// The kinds of changes that only paths have.
const (
	Gained Change = "gained"
	Lost   Change = "lost"
	Direct Change = "direct"
	Longer Change = "longer"
	Moved  Change = "moved"
)

// MarshalText returns v0 or v1, for JSON.
func (g Generation) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// Diff compares two catalogs.
func Diff(old, new *Catalog) Changes {
	var all Changes
	for _, name := range union(old.byName, new.byName) {
		if p := diffPackages(old.Package(name), new.Package(name)); p != nil {
			p.Name = name
			all.Packages = append(all.Packages, *p)
		}
	}
	return all
}

func diffPackages(old, new *Package) *PackageChanges {
	p := &PackageChanges{Change: changeOf(old != nil, new != nil)}
	before, after := cmp.Or(old, &Package{}), cmp.Or(new, &Package{})
	if p.Change == Changed {
		p.DefaultChannel = move(before.DefaultChannel, after.DefaultChannel)
	}
	for _, name := range union(before.bundles, after.bundles) {
		if b := diffBundles(before.Bundle(name), after.Bundle(name)); b != nil {
			b.Name = name
			p.Bundles = append(p.Bundles, *b)
		}
	}
	for _, name := range union(before.channels, after.channels) {
		if ch := diffChannels(before.Channel(name), after.Channel(name)); ch != nil {
			ch.Name = name
			p.Channels = append(p.Channels, *ch)
		}
	}
	if p.Change == Changed && p.DefaultChannel == nil && p.Bundles == nil && p.Channels == nil {
		return nil
	}
	return p
}

func diffBundles(old, new *Bundle) *BundleChange {
	b := &BundleChange{Change: changeOf(old != nil, new != nil)}
	before, after := cmp.Or(old, &Bundle{}), cmp.Or(new, &Bundle{})
	b.Version = cmp.Or(after.versionText(), before.versionText())
	if b.Change != Changed {
		return b
	}
	b.Image = move(before.Image, after.Image)
	if was := before.versionText(); was != after.versionText() {
		b.Was = was
	}
	if b.Image == nil && b.Was == "" {
		return nil
	}
	return b
}

func (b *Bundle) versionText() string {
	if !b.HasVersion {
		return ""
	}
	return b.Version.String()
}

func diffChannels(old, new *Channel) *ChannelChanges {
	ch := &ChannelChanges{Change: changeOf(old != nil, new != nil)}
	before, after := cmp.Or(old, &Channel{Package: &Package{}}), cmp.Or(new, &Channel{Package: &Package{}})
	ch.Head = move(before.Head(), after.Head())
	for _, name := range union(before.index, after.index) {
		was, is := before.Entry(name), after.Entry(name)
		if was == nil || is == nil {
			ch.Entries = append(ch.Entries, NameChange{name, changeOf(was != nil, is != nil)})
		}
		ch.Edges = append(ch.Edges, diffEdges(name, cmp.Or(was, &Entry{}), cmp.Or(is, &Entry{}))...)
	}
	if ch.Change == Changed {
		ch.Paths = diffPaths(before, after)
	}
	if ch.Change == Changed && ch.Head == nil && ch.Entries == nil && ch.Edges == nil && ch.Paths == nil {
		return nil
	}
	return ch
}

func diffEdges(bundle string, was, is *Entry) (edges []EdgeChange) {
	single := func(kind, was, is string) {
		if was == is {
			return
		}
		e := EdgeChange{Bundle: bundle, Kind: kind, Change: changeOf(was != "", is != ""), To: cmp.Or(is, was)}
		if e.Change == Changed {
			e.Was = was
		}
		edges = append(edges, e)
	}
	single("replaces", was.Replaces, is.Replaces)
	for _, s := range is.Skips {
		if !slices.Contains(was.Skips, s) {
			edges = append(edges, EdgeChange{Bundle: bundle, Kind: "skips", Change: Added, To: s})
		}
	}
	for _, s := range was.Skips {
		if !slices.Contains(is.Skips, s) {
			edges = append(edges, EdgeChange{Bundle: bundle, Kind: "skips", Change: Removed, To: s})
		}
	}
	single("skipRange", was.SkipRange, is.SkipRange)
	return edges
}

// diffPaths compares the upgrades of each bundle that is or was in the channel. It combines generations with the
// same result.
func diffPaths(before, after *Channel) []PathChange {
	var installed []*Bundle
	for _, ch := range []*Channel{before, after} {
		for _, e := range ch.Entries {
			if b := ch.Bundle(e.Name); ch == before || before.Entry(e.Name) == nil {
				installed = append(installed, b)
			}
		}
	}
	slices.SortStableFunc(installed, func(a, b *Bundle) int {
		return cmp.Or(a.Version.Compare(b.Version), cmp.Compare(a.Name, b.Name))
	})
	var all []PathChange
	old := [...]*Upgrades{before.Upgrades(V0, installed...), before.Upgrades(V1, installed...)}
	now := [...]*Upgrades{after.Upgrades(V0, installed...), after.Upgrades(V1, installed...)}
	named := func(ch *Channel, name string) string { return cmp.Or(ch.Bundle(name).versionText(), name) }
	at := 0
	for _, b := range installed {
		if b.Name == "" || before.Entry(b.Name) == nil {
			continue // a new bundle had no upgrades before
		}
		at++
		var told []PathChange
		for g := range old {
			c := diffPath(b, old[g], now[g])
			if c == nil {
				continue
			}
			c.Rules, c.at = []Generation{Generation(g)}, at
			c.versions = Move{named(before, c.Next.From), named(after, c.Next.To)}
			if len(told) == 1 && *told[0].Next == *c.Next && told[0].Change == c.Change {
				told[0].Rules = append(told[0].Rules, Generation(g))
				continue
			}
			told = append(told, *c)
		}
		all = append(all, told...)
	}
	return all
}

func diffPath(b *Bundle, old, now *Upgrades) *PathChange {
	was, is := old.Next(b.Name), now.Next(b.Name)
	gained := now.ReachesHead(b.Name) && !old.ReachesHead(b.Name)
	lost := old.ReachesHead(b.Name) && !now.ReachesHead(b.Name)
	if was == is && !gained && !lost {
		return nil
	}
	c := &PathChange{Bundle: b.Name, Version: b.versionText(), Change: Moved, Next: &Move{was, is}, Before: old.Path(b.Name), After: now.Path(b.Name)}
	switch {
	case gained:
		c.Change = Gained
	case lost:
		c.Change = Lost
	case is != "" && (was == "" || slices.Contains(c.Before, is) || slices.Contains(now.Path(was), is)):
		c.Change = Direct
	case was != "" && slices.Contains(c.After, was):
		c.Change = Longer
	}
	return c
}

func changeOf(was, is bool) Change {
	switch {
	case !was:
		return Added
	case !is:
		return Removed
	}
	return Changed
}

func move(from, to string) *Move {
	if from == to {
		return nil
	}
	return &Move{from, to}
}

// union returns the sorted keys of both maps, each once.
func union[V any](a, b map[string]V) []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(names)
	return slices.Compact(names)
}
