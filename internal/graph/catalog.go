// Package graph views a catalog as upgrade graphs: what its channels contain, which bundle upgrades to which
// under the rules of OLM v0 and v1, what is wrong, and what a change means for users of the catalog.
//
// The package is pure: it converts documents to findings and changes.
package graph

import (
	"slices"
	"strconv"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/operand"
)

// Pos is a place: a file as named by the reader, and a line counted from 1. Line 0 means unknown.
type Pos struct {
	File string
	Line int
}

// Catalog is the upgrade view of a catalog. It holds names, versions and edges but none of the documents' text,
// so the text can be dropped.
type Catalog struct {
	// Packages are sorted by name. They include packages that only channels or bundles name; their Declared is
	// false.
	Packages []*Package

	// faults are the faults of the documents themselves, and of documents that the view cannot contain, such as
	// duplicates.
	faults  []Finding
	entries []*operand.Entry
	byName  map[string]*Package
	known   map[uint64]*bundleRead
}

// Package is a package with its channels and bundles. Of duplicate names only the first is part of it; the others
// are faults of the catalog.
type Package struct {
	Pos
	Name           string
	DefaultChannel string
	Declared       bool
	Channels       []*Channel // sorted by name
	Bundles        []*Bundle  // sorted by name

	deprecated   map[string]bool // bundles
	deprecates   []deprecation   // as written, for verification
	deprecations Pos             // of the document
	channels     map[string]*Channel
	bundles      map[string]*Bundle
	listed       map[string]bool // names of entries of any channel
	replaced     map[string]bool // names that entries of any channel replace
}

// Channel is a channel with its entries in the order in which they are written.
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

// Bundle holds what the graph needs to know about a bundle.
type Bundle struct {
	Pos
	Package string
	Name    string
	Image   string
	Version Version
	// HasVersion is false if the bundle's version is missing or malformed, and for a name without a bundle.
	HasVersion bool

	// maxOpenShift is the last OpenShift on which the bundle may stay installed; nil if it sets none. Light
	// catalogs do not read it.
	maxOpenShift  *semver.Version
	claims        []operand.Claim
	operandGraphs []operand.Graph
	tagged        int // number of images named by tag
	firstTagged   string
	v1            forV1
}

// Package returns the package with this name, or nil.
func (c *Catalog) Package(name string) *Package { return c.byName[name] }

// Channel returns the channel with this name, or nil.
func (p *Package) Channel(name string) *Channel { return p.channels[name] }

// Bundle returns the bundle with this name, or nil.
func (p *Package) Bundle(name string) *Bundle { return p.bundles[name] }

// Head returns the head of the default channel, or nil if there is no such channel.
func (p *Package) Head() *Bundle {
	ch := p.Channel(p.DefaultChannel)
	if ch == nil {
		return nil
	}
	return ch.Bundle(ch.Head())
}

// Deprecated reports whether the package's deprecations name the bundle.
func (p *Package) Deprecated(bundle string) bool { return p.deprecated[bundle] }

// Entry returns the entry with this name, or nil.
func (ch *Channel) Entry(name string) *Entry {
	if i, ok := ch.index[name]; ok {
		return &ch.Entries[i]
	}
	return nil
}

// Bundle returns the bundle of an entry. For an entry without one it returns a bundle that has only a name.
func (ch *Channel) Bundle(name string) *Bundle {
	if b := ch.Package.Bundle(name); b != nil {
		return b
	}
	return &Bundle{Package: ch.Package.Name, Name: name}
}

// Heads returns the names of the entries that no entry replaces or skips. A valid channel has exactly one.
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

// Head returns the channel's head, or "" if it has none or several.
func (ch *Channel) Head() string {
	if heads := ch.Heads(); len(heads) == 1 {
		return heads[0]
	}
	return ""
}

// skipped returns the names that entries of the channel skip.
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
	// Release is the bundle's own release, or nil.
	Release []semver.PRVersion
}

// String returns the version as opm distinguishes versions: a hyphen joins the release, if there is one.
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

// Compare compares the versions and then the releases. A bundle without its own release has the one in its build
// metadata, as OLM v1 reads it, so that 1.0.0+2 is higher than 1.0.0+1.
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

// String returns FILE:LINE, as far as they are known.
func (p Pos) String() string {
	switch {
	case p.File == "":
		return "line " + strconv.Itoa(p.Line)
	case p.Line == 0:
		return p.File
	}
	return p.File + ":" + strconv.Itoa(p.Line)
}
