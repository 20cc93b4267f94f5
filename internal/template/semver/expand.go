package semver

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/template/documents"
	"github.com/olmgraft/graft/internal/template/kind"
)

// A stream is a way to divide versions into channels.
type stream string

const (
	minor stream = "minor"
	major stream = "major"
)

// options are the options in the template.
type options struct {
	streams []stream
	prefer  stream
}

// Images implements kind.Expander.
func (Kind) Images(s *kind.Source, _ kind.Tags) ([]string, error) {
	var out []string
	for _, a := range archetypes(s.Root()) {
		for _, img := range a.images {
			out = append(out, img.ref)
		}
	}
	out = kind.Unique(out)
	if len(out) == 0 {
		return nil, s.Root().Failure(failure.RenderFailed, "rendering the template: it names no bundles").
			Fix("Insert a bundle first.")
	}
	return out, nil
}

// Expand implements kind.Expander: it computes channels and edges from versions.
func (Kind) Expand(s *kind.Source, b kind.Bundles, _ kind.Tags) (*fbc.Catalog, error) {
	if line := directive(s.File.Src); line > 0 {
		return nil, failure.New(failure.TemplateMalformed, "rendering the template: it begins with a YAML directive, which opm does not read").At(s.Name, line, 1).
			Fix("Remove the line.")
	}
	opt, err := readOptions(s)
	if err != nil {
		return nil, err
	}
	images, _ := Kind{}.Images(s, nil)
	c := &fbc.Catalog{Images: images}
	var all []member
	var pkg string
	for _, a := range archetypes(s.Root()) {
		members, err := readMembers(a, b, &pkg)
		if err != nil {
			return nil, err
		}
		all = append(all, members...)
	}
	p := fbc.Package{Schema: fbc.SchemaPackage, Name: pkg}
	for _, ch := range build(all, opt, pkg, s.SemverSkips) {
		c.Channels = append(c.Channels, ch.Channel)
		if !ch.isDefault {
			continue
		}
		p.DefaultChannel = ch.Name
		show, err := b.Showcase(ch.head)
		if err != nil {
			return nil, err
		}
		p.Description, p.Icon = show.Description, show.Icon
	}
	c.Packages = []fbc.Package{p}
	return c, nil
}

// directive returns the line of a YAML directive before the template, or 0. opm parses what precedes a line ---
// as a document of its own.
func directive(src []byte) int {
	n := 0
	for line := range bytes.Lines(bytes.TrimPrefix(src, []byte("\uFEFF"))) {
		n++
		switch text := bytes.TrimSpace(line); {
		case len(text) == 0 || text[0] == '#':
		case line[0] == '%':
			return n
		default:
			return 0
		}
	}
	return 0
}

func readOptions(s *kind.Source) (options, error) {
	root := s.Root()
	isTrue := func(key string) bool { return hasFold([]string{"true", "y", "yes", "on"}, root.FoldText(key)) }
	var o options
	if isTrue("generateMajorChannels") {
		o.streams = append(o.streams, major)
	}
	if isTrue("generateMinorChannels") || len(o.streams) == 0 {
		o.streams = append(o.streams, minor)
	}
	v := root.FoldValue("defaultChannelTypePreference")
	o.prefer = stream(v.Text())
	switch {
	case o.prefer == "":
		o.prefer = o.streams[len(o.streams)-1]
	case !slices.Contains(o.streams, o.prefer):
		return o, v.Failure(failure.RenderFailed, "rendering the template: it prefers %s-version channels for the default and generates none", o.prefer).
			Fix("Set Generate%sChannels: true, or remove the preference.", strings.ToUpper(string(o.prefer[0]))+string(o.prefer[1:]))
	}
	return o, nil
}

// A member is a bundle in an archetype.
type member struct {
	archetype int // its rank
	name      string
	image     string
	version   semver.Version
}

func readMembers(a archetype, b kind.Bundles, pkg *string) ([]member, error) {
	rank := slices.IndexFunc(Archetypes, func(n string) bool { return strings.EqualFold(n, a.name) })
	var out []member
	versions, names := map[string]string{}, map[string]string{}
	for _, img := range a.images {
		f, err := b.Bundle(img.ref)
		if err != nil {
			return nil, err
		}
		v, err := f.Parsed()
		if err != nil {
			return nil, documents.AtNode(err, img.entry)
		}
		if *pkg == "" {
			*pkg = f.Package
		}
		if f.Package != *pkg {
			return nil, img.entry.Failure(failure.RenderFailed, "rendering the template: bundle %s is of package %s, those before it of %s", f.Name, f.Package, *pkg).
				Fix("Keep one package in each template.")
		}
		if other, ok := names[f.Name]; ok {
			return nil, img.entry.Failure(failure.RenderFailed, "rendering %s: %s and %s are the same bundle, %s", a.name, other, img.ref, f.Name).
				Fix("Remove one of the two.")
		}
		bare := v
		bare.Build = nil
		if other, ok := versions[bare.String()]; ok {
			return nil, img.entry.Failure(failure.VersionUnordered, "rendering %s: the versions of %s and %s differ in build metadata only", a.name, other, f.Name).
				Fix("Remove one of the two: a semver template has no other order than that of versions.")
		}
		names[f.Name], versions[bare.String()] = img.ref, f.Name
		out = append(out, member{rank, f.Name, img.ref, v})
	}
	return out, nil
}

// A channel is a generated channel. Its version is that of its lowest bundle, by which opm chooses the default
// channel.
type channel struct {
	fbc.Channel
	archetype int
	version   semver.Version
	stream    stream
	head      string // image of its last bundle
	isDefault bool
}

// build generates the channels of all archetypes, sorted by name. The default channel is the best by stability,
// then by version, then by the preferred stream, minor before major.
func build(all []member, o options, pkg string, skips kind.SemverSkips) []*channel {
	slices.SortFunc(all, func(a, b member) int {
		return cmp.Or(cmp.Compare(a.archetype, b.archetype), a.version.Compare(b.version))
	})
	byName := map[string]*channel{}
	for _, s := range o.streams {
		for _, group := range groups(all) {
			link(byName, group, s, pkg, skips)
		}
	}
	if len(byName) == 0 {
		return nil
	}
	out := slices.SortedFunc(maps.Values(byName), func(a, b *channel) int { return cmp.Compare(a.Name, b.Name) })
	rank := func(s stream) int { return slices.Index([]stream{o.prefer, minor, major}, s) }
	slices.MaxFunc(out, func(a, b *channel) int {
		return cmp.Or(cmp.Compare(a.archetype, b.archetype), a.version.Compare(b.version), cmp.Compare(rank(b.stream), rank(a.stream)))
	}).isDefault = true
	return out
}

// groups splits members, in order, where no edges lead: between archetypes and between major versions.
func groups(all []member) [][]member {
	var out [][]member
	for i, m := range all {
		if i == 0 || all[i-1].archetype != m.archetype || all[i-1].version.Major != m.version.Major {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], m)
	}
	return out
}

// link adds a group to its channels. The head of each minor version replaces the head of the minor version before
// it, and skips the other versions below it, as far as skips says.
func link(channels map[string]*channel, group []member, s stream, pkg string, skips kind.SemverSkips) {
	var below []string
	replaces := ""
	for i, m := range group {
		name := channelName(m, s)
		ch := channels[name]
		if ch == nil {
			made := fbc.Channel{Schema: fbc.SchemaChannel, Name: name, Package: pkg}
			ch = &channel{Channel: made, archetype: m.archetype, version: m.version, stream: s}
			channels[name] = ch
		}
		e := fbc.Entry{Name: m.name}
		isHead := i+1 == len(group) || group[i+1].version.Minor != m.version.Minor
		if isHead {
			e.Replaces = replaces
			e.Skips = slices.DeleteFunc(slices.Clone(below), func(n string) bool { return n == replaces })
			if skips != kind.SkipChannel { // SkipChannel keeps the order of versions
				slices.Sort(e.Skips)
			}
		}
		ch.Entries, ch.head = append(ch.Entries, e), m.image
		below = append(below, m.name)
		if isHead {
			replaces = m.name
			if skips == kind.SkipMinor || skips == kind.SkipChannel {
				below = nil
			}
			if skips == kind.SkipChannel && s == minor {
				replaces = ""
			}
		}
	}
}

func channelName(m member, s stream) string {
	archetype := strings.ToLower(Archetypes[m.archetype])
	if s == major {
		return fmt.Sprintf("%s-v%d", archetype, m.version.Major)
	}
	return fmt.Sprintf("%s-v%d.%d", archetype, m.version.Major, m.version.Minor)
}
