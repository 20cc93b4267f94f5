// Package graph sees a catalog as upgrade graphs: what stands in which channel,
// what upgrades to what under the rules of OLM v0 and v1, what is wrong with it,
// and what a change of it means for those who have installed from it.
//
// The package is pure: it is given documents and gives findings and changes.
package graph

import (
	"slices"
	"strconv"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/operand"
)

// Pos is where something stands: the file as it was given to the reader, and
// the line, counted from 1. Line 0 is unknown.
type Pos struct {
	File string
	Line int
}

// Catalog is the upgrade view of a catalog. It holds names, versions and edges
// and nothing of the documents' text, so the text can be dropped.
type Catalog struct {
	// Packages in the order of their names. A package that only channels or
	// bundles name is there as well, with Declared unset.
	Packages []*Package

	// faults are what was wrong with the documents themselves, and what could
	// not be brought into the view: duplicates, for instance.
	faults  []Finding
	entries []*operand.Entry
	byName  map[string]*Package
	known   map[uint64]*bundleRead
}

// Package is a package with its channels and bundles, each name once: of
// duplicates the first stays and the others are faults of the catalog.
type Package struct {
	Pos
	Name           string
	DefaultChannel string
	Declared       bool
	Channels       []*Channel // in the order of their names
	Bundles        []*Bundle  // in the order of their names

	deprecated   map[string]bool // bundles
	deprecates   []deprecation   // as written, to be verified
	deprecations Pos             // of the document
	channels     map[string]*Channel
	bundles      map[string]*Bundle
}

// Channel is a channel and its entries in the order in which they are written.
type Channel struct {
	Pos
	Package *Package
	Name    string
	Entries []Entry

	index map[string]int
}

// Entry is a bundle's place in a channel: its name and its edges.
type Entry struct {
	fbc.Entry
	Line int
}

// Bundle is what the graph needs to know of a bundle.
type Bundle struct {
	Pos
	Package string
	Name    string
	Image   string
	Version Version
	// HasVersion is unset where the bundle's version is missing or malformed,
	// and for a name that has no bundle at all.
	HasVersion bool

	// maxOpenShift is the last OpenShift on which the bundle may stay installed, nil where it
	// does not say. It is not read of a light catalog.
	maxOpenShift  *semver.Version
	claims        []operand.Claim
	operandGraphs []operand.Graph
	tagged        int // images that are named by tag
	firstTagged   string
	v1            forV1
}

// Package gives the package of that name, or nil.
func (c *Catalog) Package(name string) *Package { return c.byName[name] }

// Channel gives the channel of that name, or nil.
func (p *Package) Channel(name string) *Channel { return p.channels[name] }

// Bundle gives the bundle of that name, or nil.
func (p *Package) Bundle(name string) *Bundle { return p.bundles[name] }

// Head is the head of the default channel, nil where there is no such channel.
func (p *Package) Head() *Bundle {
	ch := p.Channel(p.DefaultChannel)
	if ch == nil {
		return nil
	}
	return ch.Bundle(ch.Head())
}

// Deprecated reports whether the package's deprecations name the bundle.
func (p *Package) Deprecated(bundle string) bool { return p.deprecated[bundle] }

// Entry gives the entry of that name, or nil.
func (ch *Channel) Entry(name string) *Entry {
	if i, ok := ch.index[name]; ok {
		return &ch.Entries[i]
	}
	return nil
}

// Bundle gives the bundle behind an entry of the channel. For an entry without
// a bundle it is one that has a name and nothing else.
func (ch *Channel) Bundle(name string) *Bundle {
	if b := ch.Package.Bundle(name); b != nil {
		return b
	}
	return &Bundle{Package: ch.Package.Name, Name: name}
}

// Heads gives the entries that no entry replaces or skips, by name. A sound
// channel has exactly one.
func (ch *Channel) Heads() []string {
	below := map[string]bool{}
	for _, e := range ch.Entries {
		if e.Replaces != "" {
			below[e.Replaces] = true
		}
		for _, s := range e.Skips {
			below[s] = true
		}
	}
	var heads []string
	for _, e := range ch.Entries {
		if !below[e.Name] {
			heads = append(heads, e.Name)
		}
	}
	slices.Sort(heads)
	return heads
}

// Head gives the channel's head, or "" where it has none or several.
func (ch *Channel) Head() string {
	if heads := ch.Heads(); len(heads) == 1 {
		return heads[0]
	}
	return ""
}

// skipped gives the names that some entry of the channel skips.
func (ch *Channel) skipped() map[string]bool {
	names := map[string]bool{}
	for _, e := range ch.Entries {
		for _, s := range e.Skips {
			names[s] = true
		}
	}
	return names
}

// Version orders bundles as OLM does: by semantic version, then by release.
type Version struct {
	semver.Version
	// Release is the bundle's own release; nil where it has none.
	Release []semver.PRVersion
}

// String is the version as opm tells versions apart: the release, where there
// is one, is joined by a hyphen.
func (v Version) String() string {
	if len(v.Release) == 0 {
		return v.Version.String()
	}
	parts := make([]string, len(v.Release))
	for i, r := range v.Release {
		parts[i] = r.String()
	}
	return v.Version.String() + "-" + strings.Join(parts, ".")
}

// Compare orders by version and then by release. A bundle without a release of
// its own has the one that its build metadata spells, as OLM v1 reads it: that
// is how 1.0.0+2 comes after 1.0.0+1.
func (v Version) Compare(o Version) int {
	if c := v.Version.Compare(o.Version); c != 0 {
		return c
	}
	a, b := v.release(), o.release()
	if len(a) == 0 || len(b) == 0 {
		return min(len(a), 1) - min(len(b), 1)
	}
	return semver.Version{Pre: a}.Compare(semver.Version{Pre: b})
}

func (v Version) release() []semver.PRVersion {
	if len(v.Release) > 0 {
		return v.Release
	}
	r, _ := parseRelease(strings.Join(v.Build, "."))
	return r
}

// String is FILE:LINE, as far as known.
func (p Pos) String() string {
	switch {
	case p.File == "":
		return "line " + strconv.Itoa(p.Line)
	case p.Line == 0:
		return p.File
	}
	return p.File + ":" + strconv.Itoa(p.Line)
}
