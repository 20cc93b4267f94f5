package graph

import (
	"cmp"
	"slices"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/draw"
	"github.com/olmgraft/graft/internal/fbc"
)

// PictureOptions select what a picture shows.
type PictureOptions struct {
	Package string // only this package; "" is all
	Channel string // only channels of this name; "" is all
	// Base is the catalog for comparison. The picture marks what is new and what is lost against it. nil marks
	// nothing.
	Base *Catalog
}

// Picture returns the data for pictures of a catalog, the default channel of a package first. It returns an
// empty graph for an unknown package or channel; the caller must report that.
func (c *Catalog) Picture(o PictureOptions) draw.Graph {
	var g draw.Graph
	for _, p := range c.Packages {
		if o.Package != "" && p.Name != o.Package {
			continue
		}
		var base *Package
		if o.Base != nil {
			base = o.Base.Package(p.Name)
		}
		drawn := draw.Package{Name: p.Name, Deprecated: p.isDeprecated(fbc.SchemaPackage, "")}
		for _, ch := range p.Channels {
			if o.Channel == "" || ch.Name == o.Channel {
				picture := newPicture(ch, base)
				picture.New = o.Base != nil && picture.before == nil
				drawn.Channels = append(drawn.Channels, picture.channel())
			}
		}
		slices.SortStableFunc(drawn.Channels, func(a, b draw.Channel) int {
			switch {
			case a.Default == b.Default:
				return CompareChannels(a.Name, b.Name)
			case a.Default:
				return -1
			}
			return 1
		})
		if len(drawn.Channels) > 0 {
			g.Packages = append(g.Packages, drawn)
		}
	}
	return g
}

// picture is a channel being converted for drawing.
type picture struct {
	draw.Channel
	is     *Channel
	before *Channel // nil if the channel is new, or without comparison
	base   *Package // nil if the package is new, or without comparison
}

func newPicture(ch *Channel, base *Package) *picture {
	p := &picture{is: ch, base: base}
	if base != nil {
		p.before = base.Channel(ch.Name)
	}
	p.Name = ch.Name
	p.Default = ch.Name != "" && ch.Package.DefaultChannel == ch.Name
	p.Deprecated = ch.Package.isDeprecated(fbc.SchemaChannel, ch.Name)
	return p
}

func (p *picture) channel() draw.Channel {
	heads, skipped := p.is.Heads(), p.is.skipped()
	edges := p.is.steps()
	lost, stranded := p.lost(edges)
	for _, name := range p.names(edges) {
		b := p.is.Bundle(name)
		n := draw.Node{Name: name, Version: b.versionText(), Image: b.Image, Skipped: skipped[name],
			Head: slices.Contains(heads, name), Deprecated: p.is.Package.Deprecated(name),
			Missing: !p.is.installable(name), Stranded: stranded[name]}
		if e := p.is.Entry(name); e != nil {
			n.SkipRange = e.SkipRange
			n.New = p.isNew(name)
		} else {
			n.Outside = true
			n.Removed = p.before != nil && p.before.Entry(name) != nil
		}
		p.Nodes = append(p.Nodes, n)
	}
	p.byTime(edges)
	p.addEdges(edges, lost)
	return p.Channel
}

// isNew reports whether to mark an entry as new. In an existing channel it is new if the channel did not have it;
// in a new channel, if the whole package did not have it.
func (p *picture) isNew(name string) bool {
	switch {
	case p.before != nil:
		return p.before.Entry(name) == nil
	case p.base != nil:
		return p.base.Bundle(name) == nil
	}
	return false
}

// names returns what the picture shows: the entries, the bundles that they succeed, and the channel's previous
// entries.
func (p *picture) names(edges []step) (names []string) {
	seen := map[string]bool{"": true}
	add := func(name string) {
		if !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	for _, e := range p.is.Entries {
		add(e.Name)
	}
	for _, e := range edges {
		add(e.from)
	}
	if p.before != nil {
		for _, e := range p.before.Entries {
			add(e.Name)
		}
	}
	return names
}

func (p *picture) addEdges(edges, lost []step) {
	at := map[string]int{}
	for i, n := range p.Nodes {
		at[n.Name] = i
	}
	stood := p.before.stood()
	p.Edges = make([]draw.Edge, 0, len(edges)+len(lost))
	for _, e := range edges {
		from, to := at[e.from], at[e.to]
		isNew := p.before != nil && !stood(e) || p.Nodes[from].New || p.Nodes[to].New
		p.Edges = append(p.Edges, draw.Edge{From: from, To: to, Kind: e.kind, New: isNew})
	}
	for _, e := range lost {
		p.Edges = append(p.Edges, draw.Edge{From: at[e.from], To: at[e.to], Kind: e.kind, Lost: true})
	}
	slices.SortFunc(p.Edges, func(a, b draw.Edge) int {
		return cmp.Or(cmp.Compare(a.To, b.To), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.From, b.From))
	})
}

// stood returns a function that reports whether an edge was in the channel.
func (ch *Channel) stood() func(step) bool {
	if ch == nil {
		return func(step) bool { return false }
	}
	ranges := map[string]versionRange{}
	for _, e := range ch.Entries {
		if r, ok := parseRange(e.SkipRange); ok {
			ranges[e.Name] = r
		}
	}
	return func(s step) bool {
		e := ch.Entry(s.to)
		switch {
		case e == nil:
			return false
		case s.kind == draw.Replaces:
			return e.Replaces == s.from
		case s.kind == draw.Skips:
			return slices.Contains(e.Skips, s.from)
		}
		r, ok := ranges[s.to]
		from := ch.Package.Bundle(s.from)
		return ok && from != nil && from.HasVersion && r.Holds(from.Version.Version)
	}
}

// lost returns the steps of paths to the head that the channel no longer has, and the bundles that this leaves
// behind.
func (p *picture) lost(edges []step) (lost []step, stranded map[string]bool) {
	if p.before == nil {
		return nil, nil
	}
	var installed []*Bundle
	for _, e := range p.before.Entries {
		installed = append(installed, p.before.Bundle(e.Name))
	}
	head := p.is.highestHead()
	old := [...]*Upgrades{p.before.Upgrades(V0), p.before.Upgrades(V1)}
	now := [...]*Upgrades{p.is.upgradesTo(head, V0, installed), p.is.upgradesTo(head, V1, installed)}
	type pair struct{ from, to string }
	gone := map[pair]bool{}
	stranded = map[string]bool{}
	for _, e := range p.before.Entries {
		for _, g := range lostIn(e.Name, old, now) {
			stranded[e.Name] = true
			for at, next := e.Name, old[g].Next(e.Name); next != "" && !gone[pair{at, next}]; at, next = next, old[g].Next(next) {
				gone[pair{at, next}] = true
			}
		}
	}
	for _, e := range edges {
		delete(gone, pair{e.from, e.to})
	}
	stood := p.before.stood()
	for s := range gone {
		kind := draw.Replaces
		for kind < draw.SkipRange && !stood(step{s.from, s.to, kind}) {
			kind++
		}
		lost = append(lost, step{s.from, s.to, kind})
	}
	return lost, stranded
}

// step is an edge between two bundles, given by name.
type step struct {
	from, to string
	kind     draw.Kind
}

// steps returns the edges of a channel, each once. Ranges cover the channel's own bundles, and those of its
// package, that are lower than the entry.
func (ch *Channel) steps() (all []step) {
	seen := map[step]bool{}
	add := func(s step) {
		if s.from == "" || s.to == "" || s.from == s.to {
			return
		}
		if s.kind == draw.Skips { // a list can contain a name twice
			if seen[s] {
				return
			}
			seen[s] = true
		}
		all = append(all, s)
	}
	bundles := make([]*Bundle, 0, len(ch.Package.Bundles))
	for _, b := range ch.Package.Bundles {
		if b.HasVersion {
			bundles = append(bundles, b)
		}
	}
	slices.SortStableFunc(bundles, func(a, b *Bundle) int { return a.Version.Compare(b.Version) })
	versions := make([]semver.Version, len(bundles))
	for i, b := range bundles {
		versions[i] = b.Version.Version
	}
	for _, e := range ch.Entries {
		add(step{e.Replaces, e.Name, draw.Replaces})
		for _, s := range e.Skips {
			add(step{s, e.Name, draw.Skips})
		}
		own := ch.Bundle(e.Name)
		if r, ok := parseRange(e.SkipRange); ok {
			r.within(versions, func(from, to int) {
				for _, b := range bundles[from:to] {
					if !own.HasVersion || b.Version.Compare(own.Version) < 0 {
						add(step{b.Name, e.Name, draw.SkipRange})
					}
				}
			})
		}
	}
	return all
}

// isDeprecated reports whether the package's deprecations contain this reference.
func (p *Package) isDeprecated(schema, name string) bool {
	return slices.ContainsFunc(p.deprecates, func(d deprecation) bool {
		return d.Reference.Schema == schema && d.Reference.Name == name
	})
}

// byTime sorts the nodes by version. A node without a version comes just below the lowest that succeeds it, or
// just above the highest that it succeeds.
func (p *picture) byTime(edges []step) {
	t := timeline{channel: p.is, up: map[string][]string{}, down: map[string][]string{},
		known: map[string]moment{}, highest: map[string]moment{}}
	for _, e := range edges {
		if e.kind == draw.SkipRange {
			continue // ranges depend on versions and add nothing
		}
		t.up[e.from] = append(t.up[e.from], e.to)
		t.down[e.to] = append(t.down[e.to], e.from)
	}
	slices.SortStableFunc(p.Nodes, func(a, b draw.Node) int {
		return cmp.Or(t.of(a.Name).compare(t.of(b.Name)), cmp.Compare(a.Name, b.Name))
	})
}

type timeline struct {
	channel        *Channel
	up, down       map[string][]string
	known, highest map[string]moment
}

// moment is a version, shifted by a number of steps.
type moment struct {
	Version
	steps int
	known bool
}

func (m moment) compare(o moment) int {
	return cmp.Or(m.Compare(o.Version), cmp.Compare(m.steps, o.steps))
}

func (m moment) step(by int) moment { return moment{m.Version, m.steps + by, true} }

// of returns the moment of a bundle.
func (t *timeline) of(name string) moment {
	if m, ok := t.known[name]; ok {
		return m
	}
	m := t.version(name)
	t.known[name] = m // for bundles that succeed each other in a cycle
	if m.known {
		return m
	}
	for _, next := range t.up[name] {
		if n := t.of(next); n.known && (!m.known || n.step(-1).compare(m) < 0) {
			m = n.step(-1)
		}
	}
	if !m.known {
		m = t.above(name).step(0)
	}
	t.known[name] = m
	return m
}

// above returns the moment after the highest bundle that a bundle succeeds.
func (t *timeline) above(name string) moment {
	if m, ok := t.highest[name]; ok {
		return m
	}
	m := t.version(name)
	t.highest[name] = m
	if m.known {
		return m
	}
	for _, last := range t.down[name] {
		if n := t.above(last); n.known && (!m.known || n.step(1).compare(m) > 0) {
			m = n.step(1)
		}
	}
	t.highest[name] = m
	return m
}

// version returns the moment of a bundle's version, or else of the version at the end of its name, as in
// etcd.v1.2.3.
func (t *timeline) version(name string) moment {
	if b := t.channel.Bundle(name); b.HasVersion {
		return moment{Version: b.Version, known: true}
	}
	v, ok := versionAfter(name)
	return moment{Version: Version{Version: v}, known: ok}
}
