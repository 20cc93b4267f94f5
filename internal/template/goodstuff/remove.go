package goodstuff

import (
	"cmp"
	"errors"
	"slices"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/yamledit"
)

// Remove implements kind.Remover: it removes the names from the order of upgrades and from the tombstones, and
// removes their images. Tail edges stay as they are.
func (Kind) Remove(s *kind.Source, r kind.Removal) (*kind.Outcome, error) {
	t, o, e := parse(s), &kind.Outcome{}, s.File.Edit()
	if pkg := t.pkg.FoldText("name"); r.Package != "" && pkg != r.Package {
		return nil, failure.New(failure.Usage, "%s of package %s in %s, which holds package %s", r.Doing(), r.Package, s.Name, pkg)
	}
	if r.Tombstone {
		return t.bury(r)
	}
	stands := map[string]bool{}
	gone := slices.Clone(r.Bundles)
	var errs []error
	for _, c := range t.graphs {
		rest := c.without(r)
		for _, name := range rest {
			stands[name] = true
		}
		if r.Whole(c.name) {
			gone = append(gone, c.entries.Strings()...)
		}
		if !r.Whole(c.name) && len(rest) == len(c.entries.Items()) {
			continue
		}
		if err := t.refuses(c, rest, r); err != nil {
			errs = append(errs, c.node.At(err))
			continue
		}
		if err := t.cut(e, c, rest, r, o); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if err := t.setDefault(e, kind.Request{DefaultChannel: r.DefaultChannel}, nil, o); err != nil {
		return nil, err
	}
	for _, name := range r.Channels {
		if !slices.Contains(t.channelNames(), name) {
			o.Notes = append(o.Notes, r.Nothing("channel", name))
		}
	}
	if err := t.removeImages(e, r, slices.DeleteFunc(kind.Unique(gone), func(name string) bool { return stands[name] }), o); err != nil {
		return nil, err
	}
	return o, o.Edited(s.Path, s.File, e)
}

// without returns the names that the channel has after the edit.
func (c channel) without(r kind.Removal) []string {
	names := c.entries.Strings()
	switch {
	case r.Whole(c.name):
		return nil
	case r.From(c.name):
		return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(r.Bundles, name) })
	}
	return names
}

func (t template) refuses(c channel, rest []string, r kind.Removal) *failure.Error {
	switch {
	case len(rest) == 0 && cmp.Or(r.DefaultChannel, t.pkg.FoldText("defaultChannel")) == c.name:
		return r.Default(c.name)
	case len(rest) == 0 && t.list == nil:
		return failure.New(failure.EditRefused, "%s: nothing would be left in the template", r.Doing()).Fix("Remove the template.")
	case len(rest) > 0 && !c.ends(rest):
		return failure.New(failure.EditRefused, "%s: no live entry of %s would come after the tombstone %s", r.Doing(), c.name, rest[len(rest)-1]).
			Fix("Also name the tombstones at the end.")
	}
	return r.Strands(c.name, c.edges(c.entries.Strings()), c.edges(rest), graph.VersionOf)
}

func (t template) cut(e *yamledit.Edits, c channel, rest []string, r kind.Removal, o *kind.Outcome) error {
	if len(rest) == 0 {
		o.Changes = append(o.Changes, kind.Change{What: kind.ChannelRemoved, Channel: c.name})
		return e.Remove(c.node)
	}
	for _, item := range c.entries.Items() {
		if !slices.Contains(r.Bundles, item.Text()) {
			continue
		}
		o.Changes = append(o.Changes, kind.Change{What: kind.EntryRemoved, Channel: c.name, Name: item.Text()})
		if err := e.Remove(item); err != nil {
			return err
		}
	}
	tombstones := c.node.FoldValue("tombstones")
	return removeTexts(e, c.node, "tombstones", slices.DeleteFunc(slices.Clone(tombstones.Items()), func(item *yamledit.Node) bool { return !slices.Contains(r.Bundles, item.Text()) }))
}

// removeTexts removes items from the list under a key, and removes the key if no item is left.
func removeTexts(e *yamledit.Edits, m *yamledit.Node, key string, items []*yamledit.Node) error {
	if len(items) > 0 && len(items) == len(m.FoldValue(key).Items()) {
		return e.RemoveField(m, key)
	}
	for _, item := range items {
		if err := e.Remove(item); err != nil {
			return err
		}
	}
	return nil
}

// removeImages removes the images of bundles that no channel lists any more.
func (t template) removeImages(e *yamledit.Edits, r kind.Removal, gone []string, o *kind.Outcome) error {
	var standing []kind.Standing
	for _, item := range t.images.Items() {
		standing = append(standing, kind.Standing{Image: item.Text()})
	}
	var cut []*yamledit.Node
	listed := t.names()
	for _, name := range gone {
		live := slices.Contains(listed, name)
		at, untold, err := r.Find(standing, name, listed, live)
		switch {
		case err != nil:
			return t.images.At(err)
		case len(at) == 0 && live && t.repo != "":
			return t.bundles.Failure(failure.EditRefused, "removing %s: repo, tagRegex and semverRange find its image", name).
				Fix("Make it a tombstone with graft remove --tombstone, or narrow semverRange.")
		case untold != "" && live:
			return t.images.At(r.Conflict(name, untold))
		case len(at) == 0 && !live && !slices.ContainsFunc(t.graphs, func(c channel) bool { return slices.Contains(c.tombstones, name) }):
			o.Notes = append(o.Notes, r.Nothing("bundle", name))
		}
		for _, i := range at {
			o.Changes = append(o.Changes, kind.Change{What: kind.BundleRemoved, Name: name, From: standing[i].Image})
			cut = append(cut, t.images.Items()[i])
		}
	}
	return removeTexts(e, t.bundles, "images", cut)
}
