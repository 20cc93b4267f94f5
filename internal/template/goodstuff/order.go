package goodstuff

import (
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/template/documents"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/yamledit"
)

// insertName inserts the bundle's name into the order of upgrades of a channel. A graph description has no other
// edges than this order, so an explicit edge is accepted only if it agrees with it.
func (t template) insertName(e *yamledit.Edits, name string, r kind.Request, o *kind.Outcome) error {
	i := slices.IndexFunc(t.graphs, func(c channel) bool { return c.name == name })
	if i < 0 {
		return t.createChannel(e, name, r, o)
	}
	c := t.graphs[i]
	names := c.entries.Strings()
	if at := slices.Index(names, r.Bundle.Name); at >= 0 {
		return place(c.entries.Items()[at], checkEdges(r, c, names))
	}
	if slices.Contains(c.tail(), r.Bundle.Name) {
		return place(c.node, failure.New(failure.EdgeConflict, "placing %s: the tail edges of %s replace or skip it", r.Bundle.Name, name).
			Fix("Remove the bundle from tailEdges, and insert it again."))
	}
	index, err := orderIndex(names, r)
	if err != nil {
		return place(c.node, err)
	}
	if err := checkEdges(r, c, slices.Insert(slices.Clone(names), index, r.Bundle.Name)); err != nil {
		return place(c.node, err)
	}
	o.Changes = append(o.Changes, kind.Change{What: kind.EntryAdded, Channel: name, Name: r.Bundle.Name, To: "after " + previous(names, index)})
	return e.InsertIn(c.node, "entries", "name", index, yamledit.Text(r.Bundle.Name))
}

func place(n *yamledit.Node, err *failure.Error) error {
	if err == nil {
		return nil
	}
	return n.At(err)
}

func previous(names []string, index int) string {
	if index == 0 {
		return "nothing"
	}
	return names[index-1]
}

// orderIndex returns the index at which to insert the bundle. Entries upgrade in their order, so in a list that
// is not sorted by version only a place above all others is certain.
func orderIndex(names []string, r kind.Request) (int, *failure.Error) {
	known := make([]*semver.Version, len(names))
	sorted := true
	for i, n := range names {
		v, ok := graph.VersionOf(n)
		if !ok {
			return 0, failure.New(failure.VersionUnordered, "placing %s: the entry %s carries no semantic version", r.Bundle.Name, n)
		}
		if v.EQ(r.Bundle.Version) {
			if v.String() == r.Bundle.Version.String() {
				return 0, failure.New(failure.BundleConflict, "placing %s: the template has version %s as %s", r.Bundle.Name, v, n)
			}
			return 0, failure.New(failure.VersionUnordered, "placing %s: its version and that of %s differ in build metadata only", r.Bundle.Name, n).
				Fix("Publish the bundle under a version that has an order.")
		}
		sorted = sorted && (i == 0 || known[i-1].LT(v))
		known[i] = &v
	}
	if sorted {
		return graph.ListIndex(known, r.Bundle.Version), nil
	}
	for _, v := range known {
		if v.GT(r.Bundle.Version) {
			return 0, failure.New(failure.VersionUnordered, "placing %s: the entries are not in order of version", r.Bundle.Name)
		}
	}
	return len(names), nil
}

// replaceName renames the entries, tombstones and tail edges of the bundle that the request takes the place of.
// It returns the channels that still lack the bundle.
func (t template) replaceName(e *yamledit.Edits, r kind.Request, channels []string, o *kind.Outcome) ([]string, error) {
	if r.InsteadOf == "" {
		return channels, nil
	}
	for _, c := range t.graphs {
		names := c.entries.Strings()
		at := slices.Index(names, r.InsteadOf)
		if at >= 0 && slices.Contains(names, r.Bundle.Name) {
			return nil, place(c.entries.Items()[at], failure.New(failure.EdgeConflict, "inserting %s instead of %s: it is an entry of %s itself", r.Bundle.Name, r.InsteadOf, c.name).
				Fix("Remove that entry, or leave out --instead-of."))
		}
		for _, n := range c.named(r.InsteadOf) {
			if err := e.SetText(n, r.Bundle.Name); err != nil {
				return nil, err
			}
		}
		if at >= 0 {
			o.Changes = append(o.Changes, kind.Change{What: kind.EntryReplaced, Channel: c.name, Name: r.Bundle.Name, From: r.InsteadOf, To: "after " + previous(names, at)})
			channels = slices.DeleteFunc(slices.Clone(channels), func(name string) bool { return name == c.name })
		}
	}
	return channels, nil
}

// named returns the nodes of the channel that name a bundle.
func (c channel) named(name string) []*yamledit.Node {
	_, tombstones := c.node.Fold("tombstones")
	_, tail := c.node.Fold("tailEdges")
	_, skips := tail.Fold("skips")
	_, replaces := tail.Fold("replaces")
	all := slices.Concat(c.entries.Items(), tombstones.Items(), skips.Items(), []*yamledit.Node{replaces})
	return slices.DeleteFunc(all, func(n *yamledit.Node) bool { return n.Text() != name })
}

// checkEdges compares explicit edges with those that result from the order, the tombstones and the tail edges.
func checkEdges(r kind.Request, c channel, names []string) *failure.Error {
	if !r.Explicit() {
		return nil
	}
	var has fbc.Entry
	for _, e := range c.edges(names) {
		if e.Name == r.Bundle.Name {
			has = e
		}
	}
	if r.Replaces != "" && !slices.Contains(names, r.Replaces) && has.Replaces != "" && has.Replaces != r.Replaces && !r.AllowMissingPredecessor {
		return failure.New(failure.PredecessorMissing, "placing %s: it is to replace %s, which is no entry of %s", r.Bundle.Name, r.Replaces, c.name)
	}
	skips, asked := slices.Sorted(slices.Values(has.Skips)), slices.Sorted(slices.Values(r.Skips))
	if (r.Replaces == "" || r.Replaces == has.Replaces) && (len(asked) == 0 || slices.Equal(asked, skips)) && (r.SkipRange == "" || r.SkipRange == has.SkipRange) {
		return nil
	}
	return failure.New(failure.EdgeConflict, "placing %s: the order of entries makes it replace %q and skip [%s], and you asked for other edges", r.Bundle.Name, has.Replaces, strings.Join(skips, ", ")).
		Fix("Leave the edges out, or change the order, the tombstones or the tail edges of the template: a goodstuff template has no others.")
}

func (t template) createChannel(e *yamledit.Edits, name string, r kind.Request, o *kind.Outcome) error {
	if t.list == nil {
		return t.root.FoldValue("graph-description").Failure(failure.EditRefused, "creating channel %s: graph-description is one mapping", name).
			Fix("Rewrite graph-description by hand as a list of mappings.")
	}
	o.Changes = append(o.Changes, kind.Change{What: kind.ChannelCreated, Channel: name}, kind.Change{What: kind.EntryAdded, Channel: name, Name: r.Bundle.Name})
	fields := []yamledit.Field{
		{Key: "package", Value: yamledit.Text(t.pkg.FoldText("name"))},
		{Key: "name", Value: yamledit.Text(name)},
		{Key: "entries", Value: yamledit.List(yamledit.Text(r.Bundle.Name))},
	}
	if r.Explicit() {
		fields = append(fields, yamledit.Field{Key: "tailEdges", Value: tailEdges(r)})
	}
	return e.Insert(t.list, len(t.list.Items()), yamledit.Map(fields...))
}

// tailEdges returns what the first entry of a channel replaces and skips, which the order cannot say.
func tailEdges(r kind.Request) yamledit.Value {
	var fields []yamledit.Field
	if r.Replaces != "" {
		fields = append(fields, yamledit.Field{Key: "replaces", Value: yamledit.Text(r.Replaces)})
	}
	if len(r.Skips) > 0 {
		fields = append(fields, yamledit.Field{Key: "skips", Value: yamledit.Texts(r.Skips)})
	}
	if r.SkipRange != "" {
		fields = append(fields, yamledit.Field{Key: "skipRange", Value: yamledit.Text(r.SkipRange)})
	}
	return yamledit.Map(fields...)
}

// Create implements kind.Creator.
func (Kind) Create(r kind.Request) ([]byte, error) {
	channels, def, err := r.FirstChannels()
	if err != nil {
		return nil, err
	}
	var b documents.Text
	b.Line("---\nschema: ", Schema)
	b.Line("package:\n  name: ", r.Bundle.Package)
	b.Line("  defaultChannel: ", def)
	b.Line("bundles:\n  images:\n  - ", r.Bundle.Image)
	b.WriteString("graph-description:\n")
	for _, c := range channels {
		b.Line("- package: ", r.Bundle.Package)
		b.Line("  name: ", c)
		b.WriteString("  entries:\n")
		writeOrder(&b, fbc.Channel{Entries: []fbc.Entry{{Name: r.Bundle.Name, Replaces: r.Replaces, Skips: r.Skips, SkipRange: r.SkipRange}}})
	}
	return []byte(b.String()), nil
}
