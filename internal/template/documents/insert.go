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

// Adder puts a new document where its siblings stand. A template kind supplies it.
// Before is a sibling that the new document comes before; nil: after the last one.
type Adder interface {
	AddChannel(v yamledit.Value, siblings []Document) error
	AddBundle(v yamledit.Value, siblings []Document, before *Document) error
}

// Insert puts the bundle and its entry in each channel of the request into the
// documents of the template of that name. What stands there already stays; what is missing
// is completed.
func (s *Set) Insert(r kind.Request, name string, adder Adder, o *kind.Outcome) error {
	pkg, err := s.PackageFor(r, name, o)
	if err != nil {
		return err
	}
	channels := kind.Unique(r.Channels)
	if len(channels) == 0 {
		return kind.UnknownChannel(r, s.channelNames(pkg))
	}
	bundles := s.siblings(fbc.SchemaBundle, pkg, r)
	missing, err := s.missesBundle(bundles, r, o)
	if err == nil && missing {
		err = s.crowded(bundles, r, pkg)
	}
	if err != nil {
		return err
	}
	// Channels first: where both go to one place, bundles stand behind them.
	if err := s.insertEntries(r, pkg, channels, adder, o); err != nil || !missing {
		return err
	}
	fields := []yamledit.Field{{Key: "schema", Value: yamledit.Text(fbc.SchemaBundle)}}
	if namesStand(bundles) {
		fields = append(fields, yamledit.Field{Key: "name", Value: yamledit.Text(r.Bundle.Name)})
	}
	fields = append(fields, yamledit.Field{Key: "image", Value: yamledit.Text(r.Bundle.Image)})
	return adder.AddBundle(yamledit.Map(fields...), bundles, s.nextBundle(bundles, r.Bundle.Version))
}

// insertEntries puts the bundle into each channel.
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

func (s *Set) channelNames(pkg string) []string {
	var names []string
	for _, d := range s.Of(fbc.SchemaChannel) {
		if d.Package == pkg || d.Package == "" {
			names = append(names, d.Name)
		}
	}
	return names
}

// missesBundle reports whether the bundle is to be added, and promotes one that stands
// there under another repository.
func (s *Set) missesBundle(bundles []Document, r kind.Request, o *kind.Outcome) (bool, error) {
	for i := range bundles {
		d := &bundles[i]
		id, fail := r.Identify(kind.Standing{Image: d.Image, Name: d.Name})
		if fail != nil {
			return false, d.at(fail)
		}
		switch id {
		case kind.Same:
			return false, nil
		case kind.Promoted:
			return false, promote(d, r, o)
		}
	}
	o.Changes = append(o.Changes, kind.Change{What: kind.BundleAdded, Name: r.Bundle.Name, To: r.Bundle.Image})
	return true, nil
}

// crowded refuses a second image of a bundle, at the bundle's entry.
func (s *Set) crowded(bundles []Document, r kind.Request, pkg string) error {
	var names []string
	var at *yamledit.Node
	file := ""
	for _, c := range s.Of(fbc.SchemaChannel) {
		if c.Package != pkg && c.Package != "" {
			continue
		}
		_, list := c.Node.Fold("entries")
		for _, item := range list.Items() {
			name := entry(item).Name
			if names = append(names, name); name == r.Bundle.Name {
				at, file = item, c.File
			}
		}
	}
	standing := make([]kind.Standing, len(bundles))
	for i, d := range bundles {
		standing[i] = kind.Standing{Image: d.Image, Name: d.Name}
	}
	if fail := r.Crowded(names, standing); fail != nil {
		line, col := at.Position()
		return fail.At(file, line, col)
	}
	return nil
}

// siblings are the documents of a schema that belong to the package. In a template of
// several packages a bundle by image alone does not say its own: then those of the same
// image repository count.
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

func promote(d *Document, r kind.Request, o *kind.Outcome) error {
	if d.Node == nil {
		return d.at(failure.New(failure.EditRefused, "promoting %s: a rendered bundle names its image in several places", d.Name)).
			Fix("Render the bundle again from its new repository.")
	}
	_, image := d.Node.Fold("image")
	o.Changes = append(o.Changes, kind.Change{What: kind.BundlePromoted, Name: r.Bundle.Name, From: d.Image, To: r.Bundle.Image})
	return d.Edits.SetText(image, r.Bundle.Image)
}

// namesStand reports whether the bundles next to a new one carry their names.
func namesStand(bundles []Document) bool {
	return len(bundles) > 0 && bundles[len(bundles)-1].Name != ""
}

// nextBundle is the bundle before which a version is listed, nil at the end.
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
	list, standing := s.entryList(c)
	if e, i := find(standing, r.Bundle); i >= 0 {
		line, col := list.Items()[i].Position()
		return sameEdges(e, r, c.Name, c.File, line, col)
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
	v := entryValue(place.Entry)
	likes := s.entryLikes(c)
	switch {
	case list == nil:
		return c.Edits.AddField(c.Node, "", yamledit.Field{Key: "entries", Value: yamledit.List(v), Like: listLike(likes)})
	case list.IsNull():
		return c.Edits.Fill(list, yamledit.List(v), listLikes(likes)...)
	}
	return c.Edits.Insert(list, place.Index, v, append(nearestEntries(items, place.Index), likes...)...)
}

// nearestEntries are the items around a place, those with edges first shown: the
// style of a key is taken from the nearest item that has it.
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

func (s *Set) entryList(c *Document) (*yamledit.Node, []fbc.Entry) {
	_, list := c.Node.Fold("entries")
	return list, entries(c.Node)
}

// find returns the entry of the bundle's name, or of the same version under another.
func find(standing []fbc.Entry, b kind.Bundle) (fbc.Entry, int) {
	for i, e := range standing {
		if e.Name == b.Name {
			return e, i
		}
	}
	for i, e := range standing {
		if v, ok := graph.VersionOf(e.Name); ok && v.String() == b.Version.String() {
			return e, i
		}
	}
	return fbc.Entry{}, -1
}

// sameEdges accepts an entry that stands there if no edges were asked for or they are
// the same.
func sameEdges(e fbc.Entry, r kind.Request, channel, file string, line, col int) error {
	if e.Name != r.Bundle.Name {
		return failure.New(failure.BundleConflict, "inserting %s into channel %s: version %s stands there as %s", r.Bundle.Name, channel, r.Bundle.Version, e.Name).At(file, line, col)
	}
	if !r.Explicit() {
		return nil
	}
	asked := fbc.Entry{Name: e.Name, Replaces: r.Replaces, Skips: r.Skips, SkipRange: r.SkipRange}
	if e.Replaces == asked.Replaces && e.SkipRange == asked.SkipRange && sameSet(e.Skips, asked.Skips) {
		return nil
	}
	return failure.New(failure.EdgeConflict, "inserting %s into channel %s: it stands there and %s; asked was that it %s", e.Name, channel, e.InWords(), asked.InWords()).At(file, line, col)
}

func sameSet(a, b []string) bool {
	a, b = kind.Unique(a), kind.Unique(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

func rewire(c *Document, item *yamledit.Node, e fbc.Entry, to string, o *kind.Outcome) error {
	o.Changes = append(o.Changes, kind.Change{What: kind.EntryRewired, Channel: c.Name, Name: e.Name, From: e.Replaces, To: to})
	if _, replaces := item.Fold("replaces"); replaces != nil && !replaces.IsNull() {
		return c.Edits.SetText(replaces, to)
	}
	if key, replaces := item.Fold("replaces"); key != nil {
		return c.Edits.Fill(replaces, yamledit.Text(to))
	}
	key, _ := item.Fold("name")
	return c.Edits.AddField(item, key.Value, yamledit.Field{Key: "replaces", Value: yamledit.Text(to)}, append([]*yamledit.Node{item}, item.Parent.Children[:min(8, len(item.Parent.Children))]...)...)
}

func (s *Set) createChannel(pkg, name string, r kind.Request, adder Adder, o *kind.Outcome) error {
	place, err := s.place(nil, r)
	if err != nil {
		return err
	}
	siblings := s.siblings(fbc.SchemaChannel, pkg, r)
	v := yamledit.Map(
		yamledit.Field{Key: "schema", Value: yamledit.Text(fbc.SchemaChannel)},
		yamledit.Field{Key: "package", Value: yamledit.Text(pkg)},
		yamledit.Field{Key: "name", Value: yamledit.Text(name)},
		yamledit.Field{Key: "entries", Value: yamledit.List(entryValue(place.Entry))},
	)
	o.Changes = append(o.Changes, kind.Change{What: kind.ChannelCreated, Channel: name}, added(name, place.Entry))
	return adder.AddChannel(v, siblings)
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
			Fix("Name one of the package's channels, or insert into %s as well.", r.DefaultChannel)
	}
	_, v := d.Node.Fold("defaultChannel")
	if v.Text() == r.DefaultChannel {
		return nil
	}
	o.Changes = append(o.Changes, kind.Change{What: kind.DefaultChannelSet, From: v.Text(), To: r.DefaultChannel})
	if v.IsNull() {
		return d.Edits.AddField(d.Node, "name", yamledit.Field{Key: "defaultChannel", Value: yamledit.Text(r.DefaultChannel)})
	}
	return d.Edits.SetText(v, r.DefaultChannel)
}

// locate gives a failure without a place the place of the channel.
func locate(err error, c *Document) error {
	if f := failure.Of(err); f != nil && f.File == "" {
		line, col := c.Node.Position()
		if key, _ := c.Node.Fold("entries"); key != nil {
			line, col = key.Position()
		}
		f.Message += " (channel " + c.Name + ")"
		return f.At(c.File, line, col)
	}
	return err
}
