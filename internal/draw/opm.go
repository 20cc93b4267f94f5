package draw

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/operand"
)

// Documents holds the documents of a catalog that opm draws, in order. Of bundles only the names and the
// olm.package properties matter.
type Documents struct {
	Channels     []fbc.Channel
	Bundles      []fbc.Bundle
	Deprecations []fbc.Deprecation
}

// OpmMermaid draws the same diagram as "opm alpha render-template -o mermaid", byte for byte. It repeats the
// oddities of opm, so that diagrams can be compared:
//
//  1. Only Go's %q escapes text.
//  2. Links are numbered in the order of the channels' names but written in that of the packages.
//     With several packages linkStyle therefore styles the wrong links.
//  3. Deprecated channels and bundles are matched by name, whatever their package.
//  4. Of several deprecated packages only the last one is styled.
//  5. A name without a bundle has version 0.0.0 for ranges.
func OpmMermaid(docs Documents) ([]byte, error) {
	versions, err := opmVersions(docs.Bundles)
	if err != nil {
		return nil, err
	}
	d := opmDiagram{
		versions: versions, packages: map[string]*strings.Builder{}, decorated: map[string][]string{},
		goneChannels: map[string]bool{}, goneBundles: map[string]bool{}, gonePackages: map[string]bool{},
	}
	for _, doc := range docs.Deprecations {
		for _, e := range doc.Entries {
			switch e.Reference.Schema {
			case fbc.SchemaPackage:
				d.gonePackages[doc.Package] = true
			case fbc.SchemaChannel:
				d.goneChannels[e.Reference.Name] = true
			case fbc.SchemaBundle:
				d.goneBundles[e.Reference.Name] = true
			}
		}
	}
	channels := slices.Clone(docs.Channels)
	// sort.Slice is not stable here and below. Only the same algorithm sorts equal names as opm does.
	sort.Slice(channels, func(i, j int) bool { return channels[i].Name < channels[j].Name })
	for i := range channels {
		d.channel(&channels[i])
	}
	return d.text(), nil
}

func opmVersions(bundles []fbc.Bundle) (map[string]semver.Version, error) {
	versions := map[string]semver.Version{}
	for _, b := range bundles {
		if _, known := versions[b.Name]; known {
			continue
		}
		var found []string
		for _, p := range b.Properties {
			if p.Type != "olm.package" {
				continue
			}
			var value struct{ Version string }
			if err := json.Unmarshal(p.Value, &value); err != nil {
				return nil, failure.New(failure.BundleInvalid, "drawing bundle %q: reading its olm.package property: %w", b.Name, err)
			}
			found = append(found, value.Version)
		}
		if len(found) != 1 {
			return nil, failure.New(failure.BundleInvalid, "drawing bundle %q: it has %d olm.package properties and must have one", b.Name, len(found))
		}
		v, err := semver.Parse(found[0])
		if err != nil {
			return nil, failure.New(failure.BundleInvalid, "drawing bundle %q: reading its version %q: %w", b.Name, found[0], err)
		}
		versions[b.Name] = v
	}
	return versions, nil
}

type opmDiagram struct {
	versions                                map[string]semver.Version
	gonePackages, goneChannels, goneBundles map[string]bool

	packages      map[string]*strings.Builder
	painted       string // name of the deprecated package
	paintedLanes  []string
	decorated     map[string][]string
	links         int
	skippedLinks  []string
	skippedHere   map[string]bool // in the current channel
	out           *strings.Builder
	channelPrefix string
}

func (d *opmDiagram) channel(ch *fbc.Channel) {
	if d.packages[ch.Package] == nil {
		d.packages[ch.Package] = &strings.Builder{}
	}
	id := ch.Package + "-" + ch.Name
	d.out, d.channelPrefix, d.skippedHere = d.packages[ch.Package], id+"-", map[string]bool{}
	fmt.Fprintf(d.out, "    %%%% channel %q\n", ch.Name)
	fmt.Fprintf(d.out, "    subgraph %s[%q]\n", id, ch.Name)
	if d.gonePackages[ch.Package] {
		d.painted = ch.Package
	}
	if d.goneChannels[ch.Name] {
		d.paintedLanes = append(d.paintedLanes, id)
	}
	entries := slices.Clone(ch.Entries)
	sort.Slice(entries, func(i, j int) bool {
		return d.versions[entries[i].Name].GT(d.versions[entries[j].Name])
	})
	for i := range entries {
		d.entry(ch, &entries[i])
	}
	d.out.WriteString("    end\n")
}

func (d *opmDiagram) entry(ch *fbc.Channel, e *fbc.Entry) {
	fmt.Fprintf(d.out, "      %s\n", d.node(e.Name))
	class := ""
	if d.goneBundles[e.Name] {
		class = "deprecated"
	}
	if d.skippedHere[e.Name] {
		class += "skipped"
	}
	if class != "" {
		d.decorated[class] = append(d.decorated[class], d.channelPrefix+e.Name)
	}
	for _, s := range e.Skips {
		// Only the first entry that skips a bundle counts; later links are marked.
		d.link(s, "skip", e.Name, d.skippedHere[s])
		d.skippedHere[s] = true
	}
	if e.SkipRange != "" {
		// A malformed range contains nothing. Neither does the empty alternative in ">1.0.0 ||", on which opm
		// panics.
		held, err := operand.ParseRange(e.SkipRange)
		for _, other := range ch.Entries {
			if err == nil && held.Holds(d.versions[other.Name]) {
				d.link(other.Name, `"skipRange(`+e.SkipRange+`)"`, e.Name, d.skippedHere[e.Name])
			}
		}
	}
	if e.Replaces != "" {
		d.link(e.Replaces, "replace", e.Name, d.skippedHere[e.Name])
	}
}

func (d *opmDiagram) node(name string) string {
	return fmt.Sprintf("%s%s[%q]", d.channelPrefix, name, name)
}

func (d *opmDiagram) link(from, text, to string, skipped bool) {
	fmt.Fprintf(d.out, "      %s-- %s --> %s\n", d.node(from), text, d.node(to))
	if skipped {
		d.skippedLinks = append(d.skippedLinks, strconv.Itoa(d.links))
	}
	d.links++
}

func (d *opmDiagram) text() []byte {
	var b strings.Builder
	b.WriteString("graph LR\n" +
		"  classDef deprecated fill:#E8960F\n" +
		"  classDef skipped stroke:#FF0000,stroke-width:4px\n" +
		"  classDef deprecatedskipped fill:#E8960F,stroke:#FF0000,stroke-width:4px\n")
	for _, name := range slices.Sorted(maps.Keys(d.packages)) {
		fmt.Fprintf(&b, "  %%%% package %q\n", name)
		fmt.Fprintf(&b, "  subgraph %q\n", name)
		b.WriteString(d.packages[name].String())
		b.WriteString("  end\n")
	}
	if d.painted != "" {
		fmt.Fprintf(&b, "style %s fill:#989695\n", d.painted)
	}
	for _, id := range d.paintedLanes {
		fmt.Fprintf(&b, "style %s fill:#DCD0FF\n", id)
	}
	for _, class := range slices.Sorted(maps.Keys(d.decorated)) {
		ids := slices.Sorted(slices.Values(d.decorated[class]))
		fmt.Fprintf(&b, "class %s %s\n", strings.Join(ids, ","), class)
	}
	if len(d.skippedLinks) > 0 {
		fmt.Fprintf(&b, "linkStyle %s stroke:#FF0000,stroke-width:3px,stroke-dasharray:5;\n", strings.Join(d.skippedLinks, ","))
	}
	return []byte(b.String())
}
