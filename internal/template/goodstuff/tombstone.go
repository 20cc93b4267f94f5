package goodstuff

import (
	"errors"
	"slices"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/yamledit"
)

// bury turns bundles into tombstones: their entries stay, the next live entry skips them, and the images that no
// channel lists any more are removed.
func (t template) bury(r kind.Removal) (*kind.Outcome, error) {
	o, e := &kind.Outcome{}, t.source.File.Edit()
	found, live := map[string]bool{}, map[string]bool{}
	var errs []error
	for _, c := range t.graphs {
		names, dead := c.entries.Strings(), c
		for _, name := range names {
			switch {
			case !r.From(c.name) || !slices.Contains(r.Bundles, name):
				live[name] = live[name] || !slices.Contains(c.tombstones, name)
				continue
			case !slices.Contains(c.tombstones, name):
				dead.tombstones = append(slices.Clone(dead.tombstones), name)
			}
			found[name] = true
		}
		if len(dead.tombstones) == len(c.tombstones) {
			continue
		}
		if err := dead.allows(r, c.edges(names), names); err != nil {
			errs = append(errs, c.node.At(err))
			continue
		}
		added := dead.tombstones[len(c.tombstones):]
		for _, name := range added {
			o.Changes = append(o.Changes, kind.Change{What: kind.TombstoneAdded, Channel: c.name, Name: name})
		}
		if err := c.addTombstones(e, added); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	for _, name := range r.Bundles {
		if !found[name] {
			o.Notes = append(o.Notes, r.Nothing("entry", name))
		}
	}
	gone := slices.DeleteFunc(slices.Clone(r.Bundles), func(name string) bool { return !found[name] || live[name] })
	if err := t.buryImages(e, r, gone, o); err != nil {
		return nil, err
	}
	return o, o.Edited(t.source.Path, t.source.File, e)
}

func (c channel) addTombstones(e *yamledit.Edits, names []string) error {
	values := make([]yamledit.Value, len(names))
	for i, name := range names {
		values[i] = yamledit.Text(name)
	}
	list := c.node.FoldValue("tombstones")
	switch {
	case list == nil:
		return e.AddField(c.node, "entries", yamledit.Field{Key: "tombstones", Value: yamledit.List(values...), Like: c.entries})
	case list.IsNull() || len(list.Items()) == 0:
		return e.Fill(list, yamledit.List(values...), c.entries)
	}
	for _, v := range values {
		if err := e.Insert(list, len(list.Items()), v); err != nil {
			return err
		}
	}
	return nil
}

// allows checks the channel with its new tombstones against the rules.
func (c channel) allows(r kind.Removal, before []fbc.Entry, names []string) *failure.Error {
	if !c.ends(names) {
		return failure.New(failure.EditRefused, "%s: no live entry of %s would come after the tombstone %s", r.Doing(), c.name, names[len(names)-1]).
			Fix("Insert the version that supersedes it first.")
	}
	return r.Strands(c.name, before, c.edges(names), graph.VersionOf)
}

// buryImages removes the images of tombstones from the list. An image that is found in the registry is not
// listed.
func (t template) buryImages(e *yamledit.Edits, r kind.Removal, gone []string, o *kind.Outcome) error {
	var standing []kind.Standing
	for _, item := range t.images.Items() {
		standing = append(standing, kind.Standing{Image: item.Text()})
	}
	var cut []*yamledit.Node
	for _, name := range gone {
		at, untold, err := r.Find(standing, name, t.names(), t.repo == "")
		switch {
		case err != nil:
			return t.images.At(err)
		case untold != "" && t.repo == "":
			return t.images.At(r.Conflict(name, untold))
		}
		for _, i := range at {
			o.Changes = append(o.Changes, kind.Change{What: kind.BundleRemoved, Name: name, From: standing[i].Image})
			cut = append(cut, t.images.Items()[i])
		}
	}
	return removeTexts(e, t.bundles, "images", cut)
}
