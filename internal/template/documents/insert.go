package documents

import (
	"slices"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/reference"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/yamledit"
)

// Adder adds a new document next to its siblings. Each kind of template provides one. before is the sibling that
// must follow the new document; nil means the end.
type Adder interface {
	AddChannel(v yamledit.Value, siblings []Document) error
	AddBundle(v yamledit.Value, siblings []Document, before *Document) error
	// ReplaceBundle replaces a rendered bundle.
	ReplaceBundle(d *Document) error
}

// Insert adds the bundle, and its entry in each requested channel, to the documents of the template with this
// name. Existing content stays, and missing parts are added.
func (s *Set) Insert(r kind.Request, name string, adder Adder, o *kind.Outcome) error {
	pkg, err := s.PackageFor(r, name, o)
	if err != nil {
		return err
	}
	channels := kind.Unique(r.Channels)
	bundles := s.siblings(fbc.SchemaBundle, pkg, r)
	found, err := s.find(bundles, r, pkg)
	if err != nil {
		return err
	}
	missing := found.Identity == kind.Another
	switch {
	case missing && r.InsteadOf != "":
		return r.NothingInstead()
	case missing:
		o.Changes = append(o.Changes, kind.Change{What: kind.BundleAdded, Name: r.Bundle.Name, To: r.Bundle.Image})
	case found.Identity != kind.Same:
		if err := s.replace(&bundles[found.At], found.Identity, r, adder, o); err != nil {
			return err
		}
	}
	if found.Identity == kind.Replaced {
		if channels, err = s.replaceEntries(r, pkg, channels, o); err != nil {
			return err
		}
	}
	// Channels first: if both go to the same place, bundles come after them.
	if err := s.insertEntries(r, pkg, channels, adder, o); err != nil || !missing {
		return err
	}
	fields := []yamledit.Field{textField("schema", fbc.SchemaBundle)}
	if len(bundles) > 0 && bundles[len(bundles)-1].Name != "" {
		fields = append(fields, textField("name", r.Bundle.Name))
	}
	var images []*yamledit.Node
	for _, b := range bundles {
		images = append(images, b.Node.FoldValue("image"))
	}
	fields = append(fields, yamledit.Field{Key: "image", Value: r.ImageValue(images)})
	return adder.AddBundle(yamledit.Map(fields...), bundles, s.nextBundle(bundles, r.Bundle.Version))
}

// insertEntries inserts the bundle into each channel.
func (s *Set) insertEntries(r kind.Request, pkg string, channels []string, adder Adder, o *kind.Outcome) error {
	for _, name := range channels {
		if c := s.channel(pkg, name); c != nil {
			if err := s.insertEntry(c, r, o); err != nil {
				return err
			}
			continue
		}
		if err := s.createChannel(pkg, name, r, adder, o); err != nil {
			return err
		}
	}
	return s.setDefaultChannel(r, pkg, channels, o)
}

// siblings returns the documents of a schema that belong to the package. In a template with several packages a
// bundle given only as an image does not name its package; then the bundles from the same image repository count.
func (s *Set) siblings(schema, pkg string, r kind.Request) []Document {
	all := s.Of(schema)
	if s.Package() != "" || len(s.Of(fbc.SchemaPackage)) < 2 {
		return all
	}
	repository, _, _ := reference.Cut(r.Bundle.Image)
	own := slices.DeleteFunc(slices.Clone(all), func(d Document) bool {
		if d.Package != "" {
			return d.Package != pkg
		}
		other, _, _ := reference.Cut(d.Image)
		return other != repository
	})
	if len(own) == 0 && schema == fbc.SchemaBundle {
		return slices.DeleteFunc(all, func(d Document) bool { return d.Image != r.Bundle.Image && d.Name != r.Bundle.Name })
	}
	return own
}

// nextBundle returns the bundle that must follow a version, or nil for the end.
func (s *Set) nextBundle(bundles []Document, v semver.Version) *Document {
	versions := s.versions()
	known := make([]*semver.Version, len(bundles))
	for i, d := range bundles {
		if one, ok := versions(d.Name); ok && d.Name != "" {
			known[i] = &one
		} else if one, ok := kind.ImageVersion(d.Image); ok {
			known[i] = &one
		}
	}
	if i := graph.ListIndex(known, v); i < len(bundles) {
		return &bundles[i]
	}
	return nil
}

func (s *Set) insertEntry(c *Document, r kind.Request, o *kind.Outcome) error {
	list, standing := c.Node.FoldValue("entries"), entries(c.Node)
	if i := find(standing, r.Bundle); i >= 0 {
		return sameEdges(standing[i], r, c.Name, list.Items()[i])
	}
	if err := c.editable(); err != nil {
		return err
	}
	place, err := s.place(standing, r)
	if err != nil {
		return locate(err, c)
	}
	items := list.Items()
	for _, i := range place.Rewired {
		if err := rewire(c, items[i], standing[i], r.Bundle.Name, o); err != nil {
			return err
		}
	}
	o.Changes = append(o.Changes, added(c.Name, place.Entry))
	o.Notes = append(o.Notes, headNotes(c.Name, standing, place)...)
	v, likes := entryValue(place.Entry), s.entryLikes(c)
	if list.IsNull() {
		return c.Edits.InsertIn(c.Node, "entries", "", 0, v, listLikes(likes)...)
	}
	return c.Edits.Insert(list, place.Index, v, append(nearestEntries(items, place.Index), likes...)...)
}

// nearestEntries returns the items around a place. The style of a key is that of the nearest item that has it.
func nearestEntries(items []*yamledit.Node, index int) []*yamledit.Node {
	from, to := max(0, index-12), min(len(items), index+4)
	out := slices.Clone(items[from:to])
	slices.Reverse(out)
	return out
}

func (s *Set) place(standing []fbc.Entry, r kind.Request) (graph.Place, error) {
	n := graph.Newcomer{Name: r.Bundle.Name, Version: r.Bundle.Version, Replaces: r.Replaces, Skips: r.Skips, SkipRange: r.SkipRange}
	rules := graph.PlaceRules{MissingPredecessor: r.AllowMissingPredecessor, NoRewire: r.NoRewire}
	return graph.PlaceIn(standing, n, s.versions(), rules)
}

// find returns the index of the entry with the bundle's name, or of one with the same version and another name,
// or -1.
func find(standing []fbc.Entry, b kind.Bundle) int {
	if i := slices.IndexFunc(standing, func(e fbc.Entry) bool { return e.Name == b.Name }); i >= 0 {
		return i
	}
	return slices.IndexFunc(standing, func(e fbc.Entry) bool {
		v, ok := graph.VersionOf(e.Name)
		return ok && v.String() == b.Version.String()
	})
}

// sameEdges accepts an existing entry if no edges were requested or the requested ones are the same.
func sameEdges(e fbc.Entry, r kind.Request, channel string, at *yamledit.Node) error {
	if e.Name != r.Bundle.Name {
		return at.Failure(failure.BundleConflict, "inserting %s into channel %s: the template has version %s as %s", r.Bundle.Name, channel, r.Bundle.Version, e.Name)
	}
	if !r.Explicit() {
		return nil
	}
	asked := fbc.Entry{Name: e.Name, Replaces: r.Replaces, Skips: r.Skips, SkipRange: r.SkipRange}
	if e.Replaces == asked.Replaces && e.SkipRange == asked.SkipRange && kind.SameSet(e.Skips, asked.Skips) {
		return nil
	}
	return at.Failure(failure.EdgeConflict, "inserting %s into channel %s: the channel has it, and it %s; you asked that it %s", e.Name, channel, e.InWords(), asked.InWords())
}

func rewire(c *Document, item *yamledit.Node, e fbc.Entry, to string, o *kind.Outcome) error {
	if err := editableEntry(item, c.Name, true); err != nil {
		return err
	}
	o.Changes = append(o.Changes, kind.Change{What: kind.EntryRewired, Channel: c.Name, Name: e.Name, From: e.Replaces, To: to})
	switch key, replaces := item.Fold("replaces"); {
	case key != nil && replaces.IsNull():
		return c.Edits.Fill(replaces, yamledit.Text(to))
	case key != nil:
		return c.Edits.SetText(replaces, to)
	}
	key, _ := item.Fold("name")
	all := item.Parent.Children
	return c.Edits.AddField(item, key.Value, textField("replaces", to), append([]*yamledit.Node{item}, all[:min(8, len(all))]...)...)
}

func (s *Set) setDefaultChannel(r kind.Request, pkg string, channels []string, o *kind.Outcome) error {
	if r.DefaultChannel == "" {
		return nil
	}
	d := s.packageDoc(pkg)
	if d == nil {
		return failure.New(failure.TemplateMalformed, "setting the default channel: the template has no olm.package document of %s", pkg)
	}
	if s.channel(pkg, r.DefaultChannel) == nil && !slices.Contains(channels, r.DefaultChannel) {
		return d.at(failure.New(failure.ChannelUnknown, "setting the default channel to %s, which package %s does not have", r.DefaultChannel, pkg)).
			Fix("Name one of the package's channels, or also insert into %s.", r.DefaultChannel)
	}
	if d.Node.FoldText("defaultChannel") == r.DefaultChannel {
		return nil
	}
	if err := d.editable(); err != nil {
		return err
	}
	return SetDefaultChannel(d.Edits, d.Node, r.DefaultChannel, o)
}

// SetDefaultChannel sets the default channel of a package.
func SetDefaultChannel(e *yamledit.Edits, pkg *yamledit.Node, channel string, o *kind.Outcome) error {
	v := pkg.FoldValue("defaultChannel")
	o.Changes = append(o.Changes, kind.Change{What: kind.DefaultChannelSet, From: v.Text(), To: channel})
	if v.IsNull() {
		return e.AddField(pkg, "name", textField("defaultChannel", channel))
	}
	return e.SetText(v, channel)
}

// locate sets the place of a failure to the channel's, unless it has a place.
func locate(err error, c *Document) error {
	if f := failure.Of(err); f != nil && f.File == "" {
		at := c.Node
		if key, _ := c.Node.Fold("entries"); key != nil {
			at = key
		}
		f.Message += " (channel " + c.Name + ")"
		return at.At(f)
	}
	return err
}
