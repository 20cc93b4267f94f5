// Package draw draws upgrade graphs: Mermaid, Graphviz dot and SVG for people, JSON and Cincinnati JSON for
// programs.
//
// The package is pure and deterministic: the same graph and options give the same bytes. Names, versions and
// images are untrusted; in a picture they are always text.
package draw

import (
	"cmp"
	"slices"

	"github.com/olmgraft/graft/internal/failure"
)

// Graph is the content of a picture.
type Graph struct {
	Packages []Package
}

// Package is a package with its channels.
type Package struct {
	Name       string    `json:"name"`
	Deprecated bool      `json:"deprecated,omitempty"`
	Channels   []Channel `json:"-"`
}

// Channel holds a channel's bundles, oldest first, and the upgrades between them.
type Channel struct {
	Name       string `json:"name"`
	Default    bool   `json:"default,omitempty"`
	Deprecated bool   `json:"deprecated,omitempty"`
	New        bool   `json:"new,omitempty"` // not in the catalog for comparison
	Nodes      []Node `json:"-"`
	Edges      []Edge `json:"-"`
}

// Node is a bundle in a channel.
type Node struct {
	Name      string `json:"name"`
	Version   string `json:"version,omitempty"` // "" if unknown
	Image     string `json:"image,omitempty"`
	SkipRange string `json:"skipRange,omitempty"`

	Head       bool `json:"head,omitempty"`    // no entry replaces or skips it
	Skipped    bool `json:"skipped,omitempty"` // an entry skips it, so OLM v0 does not upgrade to it
	Deprecated bool `json:"deprecated,omitempty"`
	Outside    bool `json:"outside,omitempty"` // entries of the channel name it, but it has no entry
	Missing    bool `json:"missing,omitempty"` // the catalog has no bundle for it

	// Differences from the catalog for comparison.
	New      bool `json:"new,omitempty"`      // added
	Removed  bool `json:"removed,omitempty"`  // removed; shown only for that reason
	Stranded bool `json:"stranded,omitempty"` // could reach the head, and cannot any more
}

// Edge is one upgrade, from the installed bundle to its successor. From and To are indexes of the channel's
// nodes.
type Edge struct {
	From, To int
	Kind     Kind
	New      bool // added since the catalog for comparison
	Lost     bool // removed, and bundles that upgraded by it cannot reach the head any more
}

// Kind is the reason for which one bundle succeeds another.
type Kind uint8

// The kinds of edges, the most explicit first.
const (
	Replaces Kind = iota
	Skips
	SkipRange
)

// String returns the kind's key in a channel entry.
func (k Kind) String() string { return [...]string{"replaces", "skips", "skipRange"}[k] }

// All is the radius that folds nothing.
const All = -1

// Options control how much of long channels a picture shows.
type Options struct {
	// Around is the bundle whose neighbourhood is shown in the channels that contain it. In other channels, and
	// if it is "", the picture shows what is new, or else the head.
	Around string
	// Radius is the number of steps shown on each side; the rest is folded. Zero lets the picture choose: as many
	// as fit. A picture with a size limit folds more than Radius asks if necessary.
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

// Touched returns the graph without the channels that neither contain the bundle nor differ from the catalog for
// comparison.
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

// Changes reports whether anything differs from the catalog with which the graph is compared.
func (g Graph) Changes() bool {
	return slices.ContainsFunc(g.places(), func(at place) bool { return at.of(g).changes() })
}

// Split returns the graph with its first channels, and one with the others.
func (g Graph) Split(channels int) (first, others Graph) {
	for _, p := range g.Packages {
		head, rest := p, p
		n := min(channels, len(p.Channels))
		head.Channels, rest.Channels = p.Channels[:n], p.Channels[n:]
		if channels -= n; n > 0 {
			first.Packages = append(first.Packages, head)
		}
		if len(rest.Channels) > 0 {
			others.Packages = append(others.Packages, rest)
		}
	}
	return first, others
}

func (g Graph) has(bundle string) bool {
	return slices.ContainsFunc(g.places(), func(at place) bool { return at.of(g).has(bundle) })
}

func (ch *Channel) has(bundle string) bool {
	return bundle != "" && slices.ContainsFunc(ch.Nodes, func(n Node) bool { return n.Name == bundle })
}

// changes reports whether anything in the channel has changed.
func (ch *Channel) changes() bool {
	return ch.New || slices.ContainsFunc(ch.Nodes, func(n Node) bool { return n.New || n.Removed || n.Stranded }) ||
		slices.ContainsFunc(ch.Edges, func(e Edge) bool { return e.New || e.Lost })
}

// place is the position of a channel in a graph.
type place struct{ pkg, channel int }

func (at place) of(g Graph) *Channel { return &g.Packages[at.pkg].Channels[at.channel] }

func (at place) compare(o place) int {
	return cmp.Or(cmp.Compare(at.pkg, o.pkg), cmp.Compare(at.channel, o.channel))
}

// places returns the positions of all channels of the graph, in order.
func (g Graph) places() (all []place) {
	for p := range g.Packages {
		for ch := range g.Packages[p].Channels {
			all = append(all, place{p, ch})
		}
	}
	return all
}

// byInterest sorts channels so that the ones a reader most likely looks for come first.
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
