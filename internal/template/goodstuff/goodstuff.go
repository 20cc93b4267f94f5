// Package goodstuff is the kind of template that describes a package in one document: which bundles are part of
// it, and in what order they upgrade.
//
// The published example of this kind lists versions in its sample output that its own graph does not order, and
// for which it shows no bundle documents. Here the graph description alone decides: a name that tailEdges skips
// gets no entry, because the template does not say which version it upgrades from, and opm rejects an entry
// without a bundle.
package goodstuff

import (
	"regexp"
	"slices"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/reference"
	"github.com/olmgraft/graft/internal/template/documents"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/yamledit"
)

// Schema is the template's schema.
const Schema = "olm.template.goodstuff"

// Kind implements kind.Kind.
type Kind struct{}

// Traits implements kind.Kind.
func (Kind) Traits() kind.Traits {
	return kind.Traits{Name: "goodstuff", Schema: Schema, Tombstones: true}
}

// A template is the parsed form.
type template struct {
	source  *kind.Source
	root    *yamledit.Node
	pkg     *yamledit.Node
	bundles *yamledit.Node
	repo    string
	images  *yamledit.Node
	graphs  []channel
	list    *yamledit.Node // of the graph descriptions, nil if the value is one mapping
}

type channel struct {
	node       *yamledit.Node
	name       string
	entries    *yamledit.Node
	tombstones []string
}

func parse(s *kind.Source) template {
	root := s.Root()
	t := template{source: s, root: root, pkg: root.FoldValue("package"), bundles: root.FoldValue("bundles")}
	t.repo, t.images = t.bundles.FoldText("repo"), t.bundles.FoldValue("images")
	graphs := root.FoldValue("graph-description")
	all := graphs.Items()
	if graphs != nil && graphs.Kind == yamledit.Sequence {
		t.list = graphs
	} else if graphs != nil && graphs.Kind == yamledit.Mapping {
		all = []*yamledit.Node{graphs}
	}
	for _, n := range all {
		t.graphs = append(t.graphs, channel{n, n.FoldText("name"), n.FoldValue("entries"), n.FoldValue("tombstones").Strings()})
	}
	return t
}

// Describe implements kind.Kind.
func (Kind) Describe(s *kind.Source) kind.Description {
	d := kind.Description{}
	t := parse(s)
	documents.CheckKeys(&d, t.root, []string{"schema", "package", "bundles", "graph-description"}, "the template")
	documents.CheckKeys(&d, t.pkg, []string{"name", "defaultChannel", "description", "icon"}, "the package")
	documents.CheckKeys(&d, t.bundles, []string{"repo", "tagRegex", "semverRange", "images"}, "bundles")
	documents.OneDocument(&d, s)
	_, _, problems := t.patterns()
	d.Problems = append(d.Problems, problems...)
	d.Package, d.DefaultChannel = t.pkg.FoldText("name"), t.pkg.FoldText("defaultChannel")
	images, names := documents.Seen{}, documents.Seen{}
	for _, item := range t.images.Items() {
		line, _ := item.Position()
		d.Bundles = append(d.Bundles, kind.BundleRef{Image: item.Text(), Line: line})
		if images.Again(item.Text()) {
			d.Problem(item.Malformed("reading bundles: image %s occurs twice", item.Text()))
		}
	}
	if t.pkg == nil || t.pkg.FoldText("name") == "" {
		d.Problem(t.root.Malformed("reading the template: it names no package"))
	}
	for _, c := range t.graphs {
		c.describe(&d)
		if names.Again(c.name) {
			d.Problem(c.node.Malformed("reading graph-description %s, which occurs twice", c.name))
		}
	}
	if len(t.graphs) == 0 {
		d.Problem(t.root.Malformed("reading the template: it has no graph-description"))
	}
	return d
}

// patterns returns tagRegex and semverRange, nil if not set, and the problems in them.
func (t template) patterns() (tag *regexp.Regexp, within semver.Range, problems []*failure.Error) {
	tags, versions := t.bundles.FoldValue("tagRegex"), t.bundles.FoldValue("semverRange")
	tag, err := regexp.Compile(tags.Text())
	if err != nil {
		problems = append(problems, tags.Malformed("reading tagRegex: %w", err))
	}
	if versions.Text() != "" {
		if within, err = semver.ParseRange(versions.Text()); err != nil {
			problems = append(problems, versions.Malformed("reading semverRange: %w", err))
		}
	}
	return tag, within, problems
}

func (c channel) describe(d *kind.Description) {
	line, _ := c.node.Position()
	documents.CheckKeys(d, c.node, []string{"package", "name", "entries", "tombstones", "tailEdges"}, "graph-description "+c.name)
	documents.CheckKeys(d, c.node.FoldValue("tailEdges"), []string{"skips", "replaces", "skipRange"}, "tailEdges of "+c.name)
	seen := documents.Seen{}
	for _, item := range c.entries.Items() {
		if seen.Again(item.Text()) {
			d.Problem(item.Malformed("reading graph-description %s: entry %s occurs twice", c.name, item.Text()))
		}
	}
	for _, name := range c.tombstones {
		if !seen[name] {
			d.Problem(c.node.Malformed("reading graph-description %s: tombstone %s is none of its entries", c.name, name))
		}
	}
	d.Channels = append(d.Channels, kind.Channel{Name: c.name, Line: line, Entries: c.entries.Strings()})
}

// finds reports whether the template finds the image in the registry by itself.
func (t template) finds(image string, v semver.Version) bool {
	repo, tag, _ := reference.Cut(image)
	re, within, _ := t.patterns()
	return t.repo != "" && repo == t.repo && tag != "" && re.MatchString(tag) && (within == nil || within(v))
}

// Unlisted implements kind.HasUnlisted.
func (Kind) Unlisted(s *kind.Source) (names []string) {
	t := parse(s)
	for _, c := range t.graphs {
		names = slices.Concat(names, c.tombstones, c.tail())
		if t.repo != "" {
			names = append(names, c.entries.Strings()...)
		}
	}
	return names
}

// Insert implements kind.Kind.
func (Kind) Insert(s *kind.Source, r kind.Request) (*kind.Outcome, error) {
	t, o, e := parse(s), &kind.Outcome{}, s.File.Edit()
	if pkg := t.pkg.FoldText("name"); r.Bundle.Package != "" && pkg != "" && pkg != r.Bundle.Package {
		return nil, failure.New(failure.Usage, "inserting %s of package %s into %s, which holds package %s", r.Bundle.Name, r.Bundle.Package, s.Name, pkg)
	}
	channels := kind.Unique(r.Channels)
	if err := t.insertImage(e, r, o); err != nil {
		return nil, err
	}
	channels, err := t.replaceName(e, r, channels, o)
	if err != nil {
		return nil, err
	}
	for _, name := range channels {
		if err := t.insertName(e, name, r, o); err != nil {
			return nil, err
		}
	}
	if err := t.setDefault(e, r, channels, o); err != nil {
		return nil, err
	}
	return o, o.Edited(s.Path, s.File, e)
}

func (t template) channelNames() []string {
	var names []string
	for _, c := range t.graphs {
		names = append(names, c.name)
	}
	return names
}

func (t template) insertImage(e *yamledit.Edits, r kind.Request, o *kind.Outcome) error {
	var standing []kind.Standing
	var known []*semver.Version
	for _, item := range t.images.Items() {
		standing = append(standing, kind.Standing{Image: item.Text()})
		known = append(known, nil)
		if v, ok := kind.ImageVersion(item.Text()); ok {
			known[len(known)-1] = &v
		}
	}
	found, fail := r.Find(standing, func(name string) bool { return t.repo == "" && slices.Contains(t.names(), name) })
	switch {
	case fail != nil:
		return t.images.Items()[found.At].At(fail)
	case found.Identity == kind.Same:
		return nil
	case found.Identity != kind.Another:
		item := t.images.Items()[found.At]
		o.Changes = append(o.Changes, r.Change(found.Identity, standing[found.At]))
		return e.SetText(item, r.Bundle.Image)
	}
	if t.finds(r.Bundle.Image, r.Bundle.Version) {
		o.Notes = append(o.Notes, "repo, tagRegex and semverRange find the image already")
		return nil
	}
	for _, name := range []string{r.InsteadOf, r.Bundle.Name} {
		if len(found.Unknown) > 0 && slices.Contains(t.names(), name) {
			return t.images.At(found.Conflict(r, name))
		}
	}
	if r.InsteadOf != "" {
		return t.root.At(r.NothingInstead())
	}
	o.Changes = append(o.Changes, kind.Change{What: kind.BundleAdded, Name: r.Bundle.Name, To: r.Bundle.Image})
	v := r.ImageValue(t.images.Items())
	images := yamledit.Map(yamledit.Field{Key: "images", Value: yamledit.List(v)})
	switch {
	case t.bundles == nil:
		return e.AddField(t.root, "package", yamledit.Field{Key: "bundles", Value: images})
	case t.bundles.IsNull():
		return e.Fill(t.bundles, images)
	}
	return e.InsertIn(t.bundles, "images", "", graph.ListIndex(known, r.Bundle.Version), v)
}

// names returns the entries of all channels that must have an image.
func (t template) names() []string {
	var names []string
	for _, c := range t.graphs {
		names = append(names, slices.DeleteFunc(c.entries.Strings(), func(name string) bool { return slices.Contains(c.tombstones, name) })...)
	}
	return names
}

func (t template) setDefault(e *yamledit.Edits, r kind.Request, channels []string, o *kind.Outcome) error {
	v := t.pkg.FoldValue("defaultChannel")
	switch {
	case r.DefaultChannel == "" || v.Text() == r.DefaultChannel:
		return nil
	case !slices.Contains(append(t.channelNames(), channels...), r.DefaultChannel):
		return t.root.Failure(failure.ChannelUnknown, "setting the default channel to %s, which the template does not have", r.DefaultChannel)
	}
	return documents.SetDefaultChannel(e, t.pkg, r.DefaultChannel, o)
}
