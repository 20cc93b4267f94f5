package graph

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/fbc"
)

// Verify returns everything that is wrong with a catalog: as errors what opm validate rejects, and as warnings
// what opm accepts but users suffer from, unless the levels change that. Unlike opm, Verify does not stop at the
// first fault of a kind. It leaves out faults that only follow from another one, if it can detect that.
//
// published may be the published catalog, or nil. It distinguishes a skip of a former bundle from a skip of a
// name that never existed. Verify does not verify it.
func Verify(c, published *Catalog, levels Levels) []Finding {
	var v Verification
	v.Add(c, published)
	return v.Findings(levels)
}

// Verification does the same as Verify for a catalog that arrives in groups of packages, each with all of its
// documents. A catalog with operands must arrive as a whole, because operands concern all packages.
type Verification struct {
	faults     []Finding // faults of the documents
	found      []Finding
	unreadable bool // a document is
}

// Fail records a reader's failure.
func (v *Verification) Fail(err error) { v.fault(Unreadable(err)) }

func (v *Verification) fault(found []Finding) {
	v.faults = append(v.faults, found...)
	v.unreadable = v.unreadable || slices.ContainsFunc(found, func(f Finding) bool { return f.ID == "document-unreadable" })
}

// Add verifies packages and returns their findings. It keeps nothing else of them.
func (v *Verification) Add(c, published *Catalog) []Finding {
	v.fault(c.faults)
	if v.unreadable {
		return c.faults
	}
	found := verifyAll(c, published)
	v.found = append(v.found, found...)
	return slices.Concat(c.faults, found)
}

// Findings returns the findings of all packages.
func (v *Verification) Findings(levels Levels) []Finding {
	if v.unreadable {
		// An unreadable document is missing everywhere else. Reporting that would hide the actual fault.
		follows := func(f Finding) bool { return f.ID == "package-unknown" }
		return levels.apply(slices.DeleteFunc(slices.Clone(v.faults), follows))
	}
	return levels.apply(slices.Concat(v.faults, v.found))
}

func verifyAll(c, published *Catalog) []Finding {
	v := &verifier{published: published}
	for _, p := range c.Packages {
		v.pkg = p
		v.verifyPackage()
		for _, ch := range p.Channels {
			v.verifyChannel(ch)
		}
		v.verifyDeprecations()
		v.advise()
		v.verifyV1()
	}
	v.verifyOperands(c)
	return v.found
}

type verifier struct {
	published *Catalog
	pkg       *Package
	found     []Finding
}

func (v *verifier) add(id string, at Pos, channel, bundle, format string, args ...any) {
	v.found = append(v.found, newFinding(id, at, format, args...).in(v.pkg.Name, channel, bundle))
}

func (v *verifier) verifyPackage() {
	p := v.pkg
	if p.Declared {
		switch {
		case p.DefaultChannel == "":
			v.add("default-channel-missing", p.Pos, "", "", "package %q has no default channel", p.Name)
		case p.Channel(p.DefaultChannel) == nil:
			v.add("default-channel-unknown", p.Pos, p.DefaultChannel, "", "the default channel %q does not exist; there is %s", p.DefaultChannel, p.channelNames())
		}
		if len(p.Channels) == 0 {
			v.add("package-without-channel", p.Pos, "", "", "package %q has no channel", p.Name)
		}
	}
	byVersion := map[string]*Bundle{}
	for _, b := range p.Bundles {
		if p.Declared && !p.listed[b.Name] {
			v.add("bundle-without-channel", b.Pos, "", b.Name, "bundle %q is in no channel", b.Name)
		}
		if !b.HasVersion {
			continue
		}
		version := b.Version.String()
		if first := byVersion[version]; first != nil {
			v.add("version-duplicate", b.Pos, "", b.Name, "bundles %q and %q both have version %s", first.Name, b.Name, version)
			continue
		}
		byVersion[version] = b
	}
}

func (p *Package) channelNames() string {
	if len(p.Channels) == 0 {
		return "none"
	}
	names := make([]string, len(p.Channels))
	for i, ch := range p.Channels {
		names[i] = strconv.Quote(ch.Name)
	}
	return some(names)
}

func (v *verifier) verifyChannel(ch *Channel) {
	if len(ch.Entries) == 0 {
		v.add("channel-empty", ch.Pos, ch.Name, "", "channel %q has no entries", ch.Name)
		return
	}
	for i := range ch.Entries {
		v.verifyEntry(ch, &ch.Entries[i])
	}
	v.verifyChain(ch)
}

func (v *verifier) verifyEntry(ch *Channel, e *Entry) {
	at := ch.at(e)
	if e.Name == "" {
		v.add("entry-without-name", at, ch.Name, "", "an entry has no name")
	} else if v.pkg.Declared && v.pkg.Bundle(e.Name) == nil {
		v.add("entry-without-bundle", at, ch.Name, e.Name, "there is no bundle %q", e.Name)
	}
	for i, s := range e.Skips {
		if s == "" {
			v.add("skip-empty", at, ch.Name, e.Name, "skips[%d] is empty", i)
		}
	}
	if e.SkipRange != "" {
		if _, err := semver.ParseRange(e.SkipRange); err != nil {
			v.add("skip-range-invalid", at, ch.Name, e.Name, "skipRange %q is not a range of versions: %s", e.SkipRange, lowerFirst(err))
		}
	}
}

// verifyChain checks opm's rules for a channel. It has one head. From there the replaces edges lead to every
// entry that no entry skips, up to the first edge to a skipped name. They do not form a cycle, and the last one
// may lead to a missing name. If there are several heads, it follows each.
func (v *verifier) verifyChain(ch *Channel) {
	heads := ch.Heads()
	switch {
	case len(heads) == 0:
		v.add("channel-no-head", ch.Pos, ch.Name, "", "every entry of channel %q is replaced or skipped%s", ch.Name, ch.anyCircle())
		return
	case len(heads) > 1:
		for _, h := range heads[1:] {
			v.add("channel-two-heads", ch.at(ch.Entry(h)), ch.Name, h, "channel %q has %d heads: %s", ch.Name, len(heads), some(heads))
		}
	}
	skipped := ch.skipped()
	reached := map[string]bool{}
	for _, head := range heads {
		way, circle := ch.chain(head, skipped, reached)
		for _, name := range way {
			reached[name] = true
		}
		if circle != "" {
			v.add("channel-cycle", ch.at(ch.Entry(way[len(way)-1])), ch.Name, circle, "replaces goes in a circle: %s", circleText(way, circle))
		}
	}
	for i := range ch.Entries {
		if e := &ch.Entries[i]; !reached[e.Name] && !skipped[e.Name] {
			v.add("entry-stranded", ch.at(e), ch.Name, e.Name, "%q is neither skipped nor on the way of replaces from the head %s", e.Name, some(heads))
		}
	}
}

// some shortens a long list of names, because a message may be repeated for thousands of entries.
func some(names []string) string {
	const most = 10
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// chain follows replaces from an entry up to the last entry before a name that is skipped, missing or in known.
// If it finds a cycle, it also returns the entry at which the cycle closes.
func (ch *Channel) chain(from string, skipped, known map[string]bool) (way []string, circle string) {
	seen := map[string]bool{}
	for e := ch.Entry(from); e != nil && !known[e.Name]; e = ch.Entry(e.Replaces) {
		way = append(way, e.Name)
		seen[e.Name] = true
		if skipped[e.Replaces] {
			break
		}
		if seen[e.Replaces] {
			return way, e.Replaces
		}
	}
	return way, ""
}

func circleText(way []string, circle string) string {
	return shortWay(append(way[slices.Index(way, circle):], circle))
}

// anyCircle describes a cycle in a channel without a head.
func (ch *Channel) anyCircle() string {
	known := map[string]bool{}
	for _, e := range ch.Entries {
		way, circle := ch.chain(e.Name, nil, known)
		if circle != "" {
			return "; replaces goes in a circle: " + circleText(way, circle)
		}
		for _, name := range way {
			known[name] = true
		}
	}
	return ""
}

func (v *verifier) verifyDeprecations() {
	seen := map[fbc.Reference]bool{}
	for _, d := range v.pkg.deprecates {
		ref := d.Reference
		if seen[ref] {
			v.add("deprecation-duplicate", d.Pos, "", "", "%s is deprecated twice", referenceText(ref))
		}
		seen[ref] = true
		var ok bool
		switch ref.Schema {
		case fbc.SchemaBundle:
			if ok = v.pkg.Bundle(ref.Name) != nil; !ok {
				v.add("deprecation-unknown", d.Pos, "", ref.Name, "package %q has no bundle %q to deprecate", v.pkg.Name, ref.Name)
			}
		case fbc.SchemaChannel:
			if ok = v.pkg.Channel(ref.Name) != nil; !ok {
				v.add("deprecation-unknown", d.Pos, ref.Name, "", "package %q has no channel %q to deprecate", v.pkg.Name, ref.Name)
			}
		case fbc.SchemaPackage:
			if ok = ref.Name == ""; !ok {
				v.add("deprecation-reference-invalid", d.Pos, "", "", "the deprecation of the package must have no name, not %q", ref.Name)
			}
		case "":
			v.add("deprecation-reference-invalid", d.Pos, "", "", "the deprecation's reference has no schema")
		default:
			v.add("deprecation-reference-invalid", d.Pos, "", "", "nothing of schema %q can be deprecated", ref.Schema)
		}
		if ok && d.Message == "" {
			v.add("deprecation-without-message", d.Pos, "", "", "the deprecation of %s has no message", referenceText(ref))
		}
	}
}

func referenceText(r fbc.Reference) string {
	return strings.TrimSpace(fmt.Sprintf("%s %s", r.Schema, r.Name))
}
