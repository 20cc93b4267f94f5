package semver

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/yamledit"
)

// Remove implements kind.Remover: it removes images from the archetypes, and removes an archetype that is left
// empty. It computes the channels and edges before and after to compare them.
func (Kind) Remove(s *kind.Source, r kind.Removal) (*kind.Outcome, error) {
	root, o, e := s.Root(), &kind.Outcome{}, s.File.Edit()
	all := archetypes(root)
	for i, c := range r.Channels {
		if !isArchetype(c) {
			return nil, root.Failure(failure.ChannelUnknown, "%s: a semver template has %s", r.Doing(), strings.Join(Archetypes, ", "))
		}
		if i == 0 {
			r.Channels = slices.Clone(r.Channels)
		}
		r.Channels[i] = canonical(c)
	}
	if r.DefaultChannel != "" {
		o.Notes = append(o.Notes, "a semver template computes its default channel; the one asked for does not apply")
	}
	gone, err := leaving(root, all, &r, o)
	if err != nil {
		return nil, err
	}
	if len(gone) == 0 {
		return o, nil
	}
	if err := checkChannels(s, all, r, gone, o); err != nil {
		return nil, err
	}
	left := 0
	for _, a := range all {
		kept := slices.DeleteFunc(slices.Clone(a.images), func(img image) bool { return gone[img.node] != "" })
		left += len(kept)
		if err := cut(e, root, a, kept, gone, o); err != nil {
			return nil, err
		}
	}
	if left == 0 {
		return nil, root.Failure(failure.EditRefused, "%s: nothing would be left in the template", r.Doing()).Fix("Remove the template.")
	}
	return o, o.Edited(s.Path, s.File, e)
}

// leaving returns the images to remove, with the names that users know for them.
func leaving(root *yamledit.Node, all []archetype, r *kind.Removal, o *kind.Outcome) (map[*yamledit.Node]string, error) {
	gone := map[*yamledit.Node]string{}
	var images []image
	var standing []kind.Standing
	for _, a := range all {
		for _, img := range a.images {
			if r.Whole(canonical(a.name)) {
				gone[img.node] = name(*r, img.ref)
			}
			if r.From(canonical(a.name)) {
				images = append(images, img)
				standing = append(standing, kind.Standing{Image: img.ref})
			}
		}
	}
	for _, name := range r.Bundles {
		at, untold, err := r.Find(standing, name, nil, true)
		switch {
		case err != nil:
			return nil, root.At(err)
		case untold != "":
			o.Notes = append(o.Notes, untold)
		case len(at) == 0:
			o.Notes = append(o.Notes, r.Nothing("bundle", name))
		}
		for _, i := range at {
			gone[images[i].node] = name
			r.Names = maps.Clone(r.Names)
			if r.Names == nil {
				r.Names = map[string]string{}
			}
			r.Names[images[i].ref] = name
		}
	}
	return gone, nil
}

// name returns the name that users know for an image.
func name(r kind.Removal, image string) string {
	if name := r.NameOf(image); name != "" {
		return name
	}
	return image
}

// checkChannels refuses to remove the archetype of the default channel, and an edit after which versions could no
// longer reach a head. If only bundles are removed, another channel may become the default.
func checkChannels(s *kind.Source, all []archetype, r kind.Removal, gone map[*yamledit.Node]string, o *kind.Outcome) error {
	opt, err := readOptions(s)
	if err != nil {
		return err
	}
	before, after, versions, unknown := members(all, r, gone)
	if unknown != "" && !r.AllowStranded {
		return s.Root().Failure(failure.BundleConflict, "%s: the version of %s is unknown, so the channels cannot be compared", r.Doing(), unknown).
			Fix("Give a rendered catalog: with graft insert --base or graft remove --base, or in catalogs of graft.yaml.")
	}
	was, is := build(before, opt, "", r.SemverSkips), build(after, opt, "", r.SemverSkips)
	if def, now := defaultOf(was), defaultOf(is); def != now && now != "" {
		o.Notes = append(o.Notes, "the default channel moves from "+def+" to "+now)
	}
	told := func(name string) (semver.Version, bool) { v, ok := versions[name]; return v, ok }
	var errs []error
	for _, c := range was {
		var rest []fbc.Entry
		if i := slices.IndexFunc(is, func(n *channel) bool { return n.Name == c.Name }); i >= 0 {
			rest = is[i].Entries
		}
		if len(rest) == 0 && c.isDefault && len(r.Bundles) == 0 {
			errs = append(errs, s.Root().At(r.Default(c.Name).Fix("Remove bundles from it: the default channel then moves.")))
		} else if err := r.Strands(c.Name, c.Entries, rest, told); err != nil {
			errs = append(errs, s.Root().At(err))
		}
	}
	return errors.Join(errs...)
}

func defaultOf(channels []*channel) string {
	if i := slices.IndexFunc(channels, func(c *channel) bool { return c.isDefault }); i >= 0 {
		return channels[i].Name
	}
	return ""
}

// members returns the bundles before and after the edit, with their versions. unknown is an image whose version
// is unknown.
func members(all []archetype, r kind.Removal, gone map[*yamledit.Node]string) (before, after []member, versions map[string]semver.Version, unknown string) {
	versions = map[string]semver.Version{}
	for _, a := range all {
		rank := slices.IndexFunc(Archetypes, func(n string) bool { return strings.EqualFold(n, a.name) })
		for _, img := range a.images {
			is := name(r, img.ref)
			v, ok := graph.VersionOf(is)
			if tag, tagged := kind.ImageVersion(img.ref); !ok && tagged {
				v, ok = tag, true
			}
			if !ok {
				unknown = img.ref
				continue
			}
			versions[is] = v
			m := member{rank, is, img.ref, v}
			before = append(before, m)
			if gone[img.node] == "" {
				after = append(after, m)
			}
		}
	}
	return before, after, versions, unknown
}

func cut(e *yamledit.Edits, root *yamledit.Node, a archetype, kept []image, gone map[*yamledit.Node]string, o *kind.Outcome) error {
	for _, img := range a.images {
		if gone[img.node] == "" {
			continue
		}
		o.Changes = append(o.Changes, kind.Change{What: kind.BundleRemoved, Channel: a.name, Name: gone[img.node], From: img.ref})
		if len(kept) == 0 {
			continue
		}
		if err := e.Remove(img.entry); err != nil {
			return err
		}
	}
	if len(kept) > 0 || len(a.images) == 0 {
		return nil
	}
	o.Changes = append(o.Changes, kind.Change{What: kind.ChannelRemoved, Channel: a.name})
	return e.RemoveField(root, a.key.Value)
}
