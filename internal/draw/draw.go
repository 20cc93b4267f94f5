// Package draw makes pictures of upgrade graphs: mermaid, Graphviz dot and SVG to
// look at, JSON and Cincinnati JSON for programs.
//
// The package is pure, and so are its pictures: the same graph and options give the
// same bytes. Names, versions and images come from outside; whatever they hold, they
// are text in the picture and nothing else.
package draw

import (
	"cmp"
	"slices"

	"github.com/olmgraft/graft/internal/failure"
)

// Graph is what a picture shows.
type Graph struct {
	Packages []Package
}

// Package is a package with its channels.
type Package struct {
	Name       string    `json:"name"`
	Deprecated bool      `json:"deprecated,omitempty"`
	Channels   []Channel `json:"-"`
}

// Channel is a channel's bundles, the oldest first, and the upgrades between them.
type Channel struct {
	Name       string `json:"name"`
	Default    bool   `json:"default,omitempty"`
	Deprecated bool   `json:"deprecated,omitempty"`
	New        bool   `json:"new,omitempty"` // not in the catalog with which this one is compared
	Nodes      []Node `json:"-"`
	Edges      []Edge `json:"-"`
}

// Node is a bundle as it stands in a channel.
type Node struct {
	Name      string `json:"name"`
	Version   string `json:"version,omitempty"` // "" where it is not known
	Image     string `json:"image,omitempty"`
	SkipRange string `json:"skipRange,omitempty"`

	Head       bool `json:"head,omitempty"`    // nothing replaces or skips it
	Skipped    bool `json:"skipped,omitempty"` // some entry skips it, so OLM v0 upgrades nothing to it
	Deprecated bool `json:"deprecated,omitempty"`
	Outside    bool `json:"outside,omitempty"` // only named by entries of the channel, and none itself
	Missing    bool `json:"missing,omitempty"` // no bundle stands behind it

	// What differs from the catalog with which this one is compared.
	New      bool `json:"new,omitempty"`      // was not there
	Removed  bool `json:"removed,omitempty"`  // was there, and is only in the picture to show that
	Stranded bool `json:"stranded,omitempty"` // could reach the head, and now cannot
}

// Edge is one upgrade, from the bundle that is installed to the one that succeeds
// it. From and To are indexes of the channel's nodes.
type Edge struct {
	From, To int
	Kind     Kind
	New      bool // was not there in the catalog with which this one is compared
	Lost     bool // was there, and what was upgraded by it now cannot reach the head
}

// Kind is why one bundle succeeds another.
type Kind uint8

// The kinds of edge, the most explicit first.
const (
	Replaces Kind = iota
	Skips
	SkipRange
)

// String is the word that a channel entry has for the kind.
func (k Kind) String() string { return [...]string{"replaces", "skips", "skipRange"}[k] }

// All is the radius with which nothing is folded.
const All = -1

// Options say how much of long channels a picture shows.
type Options struct {
	// Around is the bundle whose neighbourhood is shown in the channels that have
	// it. In other channels, and where it is "", that is what is new, and where
	// nothing is, the head.
	Around string
	// Radius is how many steps of the neighbourhood are shown on each side; the
	// rest is folded. Zero leaves it to the picture: as many as it has room for.
	// A picture with a limit folds more than it is told to stay below it.
	Radius int
}

// Check refuses options that do not fit the graph.
func (o Options) Check(g Graph) error {
	if o.Radius < All {
		return failure.New(failure.Usage, "drawing with radius %d: a radius is a number of steps", o.Radius)
	}
	if o.Around == "" || g.has(o.Around) {
		return nil
	}
	return failure.New(failure.Usage, "drawing around %q: no channel that is drawn has this bundle", o.Around).
		Fix("Name a bundle of the catalog by its CSV name.")
}

// Touched is the graph without the channels that have neither the bundle nor anything that
// differs from the catalog with which it is compared.
func (g Graph) Touched(bundle string) Graph {
	var out Graph
	for _, p := range g.Packages {
		p.Channels = slices.DeleteFunc(slices.Clone(p.Channels), func(c Channel) bool { return !c.has(bundle) && !c.changes() })
		if len(p.Channels) > 0 {
			out.Packages = append(out.Packages, p)
		}
	}
	return out
}

func (g Graph) has(bundle string) bool {
	return slices.ContainsFunc(g.places(), func(at place) bool { return at.of(g).has(bundle) })
}

func (ch *Channel) has(bundle string) bool {
	return bundle != "" && slices.ContainsFunc(ch.Nodes, func(n Node) bool { return n.Name == bundle })
}

// changes tells whether anything in the channel is not as it was.
func (ch *Channel) changes() bool {
	return ch.New || slices.ContainsFunc(ch.Nodes, func(n Node) bool { return n.New || n.Removed || n.Stranded }) ||
		slices.ContainsFunc(ch.Edges, func(e Edge) bool { return e.New || e.Lost })
}

// place is where a channel stands in a graph.
type place struct{ pkg, channel int }

func (at place) of(g Graph) *Channel { return &g.Packages[at.pkg].Channels[at.channel] }

func (at place) compare(o place) int {
	return cmp.Or(cmp.Compare(at.pkg, o.pkg), cmp.Compare(at.channel, o.channel))
}

// places gives all channels of the graph, in order.
func (g Graph) places() (all []place) {
	for p := range g.Packages {
		for ch := range g.Packages[p].Channels {
			all = append(all, place{p, ch})
		}
	}
	return all
}

// byInterest puts the channels first for which someone most likely looks at the
// picture.
func (g Graph) byInterest(all []place, o Options) {
	rank := func(at place) int {
		switch ch := at.of(g); {
		case ch.has(o.Around):
			return 0
		case ch.changes():
			return 1
		case ch.Default:
			return 2
		}
		return 3
	}
	slices.SortStableFunc(all, func(a, b place) int { return cmp.Compare(rank(a), rank(b)) })
}
