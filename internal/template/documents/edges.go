package documents

import (
	"errors"
	"slices"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/yamledit"
)

// SetEdges sets what the entries of a bundle replace and skip, in the documents of the template with this name.
// If the edges are invalid in one channel, it changes none.
func (s *Set) SetEdges(e kind.Edges, name string, o *kind.Outcome) error {
	pkg, err := s.packageOf(e.Doing(), stem(e.Bundle), e.Package, "in "+name, o)
	if err != nil {
		return err
	}
	var errs []error
	for _, c := range e.Channels {
		if s.channel(pkg, c) == nil {
			errs = append(errs, failure.New(failure.ChannelUnknown, "%s in channel %s, which package %s does not have", e.Doing(), c, pkg).At(name, 0, 0))
		}
	}
	found := false
	for _, c := range s.channels(pkg) {
		if len(e.Channels) > 0 && !slices.Contains(e.Channels, c.Name) {
			continue
		}
		before := entries(c.Node)
		at := slices.IndexFunc(before, func(entry fbc.Entry) bool { return entry.Name == e.Bundle })
		switch {
		case at >= 0:
			found = true
			errs = append(errs, s.setEdges(&c, before, at, e, o))
		case len(e.Channels) > 0:
			errs = append(errs, c.at(e.NoEntry("channel "+c.Name)))
		}
	}
	if !found && len(errs) == 0 {
		return e.NoEntry(name).At(name, 0, 0)
	}
	return errors.Join(errs...)
}

// setEdges checks and applies the change of one entry.
func (s *Set) setEdges(c *Document, before []fbc.Entry, at int, e kind.Edges, o *kind.Outcome) error {
	item := c.Node.FoldValue("entries").Items()[at].Resolve()
	was, is := before[at], e.Of(before[at])
	if was.Replaces == is.Replaces && was.SkipRange == is.SkipRange && slices.Equal(was.Skips, is.Skips) {
		return nil
	}
	if err := editableEntry(item, c.Name, was.SkipRange == is.SkipRange); err != nil {
		return err
	}
	after := slices.Clone(before)
	after[at] = is
	if err := s.checkEdges(c.Name, before, after, at, e); err != nil {
		return item.At(err)
	}
	o.Changes = append(o.Changes, e.Change(c.Name, was, is))
	if heads := manyHeads(c.Name, before, after); heads != "" {
		o.Notes = append(o.Notes, heads)
	}
	// A new key goes after an existing one that stays.
	behindReplaces := []string{"name"}
	if is.Replaces != "" {
		behindReplaces = append([]string{"replaces"}, behindReplaces...)
	}
	behindSkips := behindReplaces
	if len(is.Skips) > 0 {
		behindSkips = append([]string{"skips"}, behindSkips...)
	}
	return errors.Join(
		s.setText(c, item, "replaces", []string{"name"}, is.Replaces),
		s.setSkips(c, item, behindReplaces, is.Skips),
		s.setText(c, item, "skipRange", behindSkips, is.SkipRange),
	)
}

// checkEdges refuses edges to unknown bundles, cycles, and edges that would keep users from reaching the head.
func (s *Set) checkEdges(channel string, before, after []fbc.Entry, at int, e kind.Edges) *failure.Error {
	is := after[at]
	others := slices.Delete(slices.Clone(before), at, at+1)
	switch {
	case is.Replaces == e.Bundle || slices.Contains(is.Skips, e.Bundle) && !slices.Contains(before[at].Skips, e.Bundle):
		return failure.New(failure.Usage, "%s: it is to replace or skip itself", e.Doing()).Fix("Name another bundle.")
	case is.Replaces != before[at].Replaces && graph.LeadsTo(others, is.Replaces, e.Bundle):
		return failure.New(failure.EdgeConflict, "%s: %s, which it is to replace, comes after it (channel %s)", e.Doing(), is.Replaces, channel).
			Fix("Name a bundle that comes before it.")
	case len(graph.HeadNames(after)) == 0 && len(graph.HeadNames(before)) > 0:
		return failure.New(failure.EdgeConflict, "%s: channel %s would have no head, for each of its entries is replaced or skipped", e.Doing(), channel).
			Fix("Name bundles that come before it.")
	case is.Replaces != before[at].Replaces && !e.AllowMissingPredecessor && !graph.Knows(others, is.Replaces):
		return failure.New(failure.PredecessorMissing, "%s: it is to replace %s, which is nowhere in channel %s", e.Doing(), is.Replaces, channel)
	case e.AllowStranded:
		return nil
	}
	return kind.Stranded(e.Doing(), channel, graph.Stranded(before, after, s.versions()), len(after))
}

// setText sets a key of an entry to a text, or removes the key.
func (s *Set) setText(c *Document, item *yamledit.Node, key string, after []string, text string) error {
	standing, v := item.Fold(key)
	switch {
	case v.Text() == text:
		return nil
	case text == "":
		return c.Edits.RemoveField(item, standing.Value)
	case standing == nil:
		return c.Edits.AddField(item, lastOf(item, after), textField(key, text), s.edgeLikes(c, item)...)
	case v.IsNull():
		return c.Edits.Fill(v, yamledit.Text(text))
	}
	return c.Edits.SetText(v, text)
}

// setSkips sets the bundles that an entry skips. Those that are already in the list keep their place.
func (s *Set) setSkips(c *Document, item *yamledit.Node, after, skips []string) error {
	standing, list := item.Fold("skips")
	was := list.Strings()
	switch {
	case slices.Equal(was, skips):
		return nil
	case len(skips) == 0:
		return c.Edits.RemoveField(item, standing.Value)
	case standing == nil:
		return c.Edits.AddField(item, lastOf(item, after), yamledit.Field{Key: "skips", Value: yamledit.Texts(skips)}, s.edgeLikes(c, item)...)
	case len(was) == 0:
		return c.Edits.Fill(list, yamledit.Texts(skips))
	}
	// A list must not become empty. If all items go, the first one is replaced by the first new one.
	if !slices.ContainsFunc(was, func(name string) bool { return slices.Contains(skips, name) }) {
		if err := c.Edits.SetText(list.Items()[0], skips[0]); err != nil {
			return err
		}
		was[0] = skips[0]
	}
	for i, name := range was {
		if !slices.Contains(skips, name) {
			if err := c.Edits.Remove(list.Items()[i]); err != nil {
				return err
			}
		}
	}
	at := 0
	for _, name := range skips {
		if i := slices.Index(was, name); i >= 0 {
			at = i + 1
			continue
		}
		if err := c.Edits.Insert(list, at, yamledit.Text(name)); err != nil {
			return err
		}
	}
	return nil
}

// edgeLikes returns entries that show the place and style of a key.
func (s *Set) edgeLikes(c *Document, item *yamledit.Node) []*yamledit.Node {
	items := c.Node.FoldValue("entries").Items()
	near := nearestEntries(items, slices.IndexFunc(items, func(n *yamledit.Node) bool { return n.Resolve() == item }))
	return append(near, s.entryLikes(c)...)
}

// lastOf returns the first of the keys that an item has, in the item's spelling.
func lastOf(item *yamledit.Node, keys []string) string {
	for _, key := range keys {
		if k, _ := item.Fold(key); k != nil {
			return k.Value
		}
	}
	return ""
}

// SetEdges sets what the entries of a bundle replace and skip.
func (f *File) SetEdges(e kind.Edges) (*kind.Outcome, error) {
	o := &kind.Outcome{}
	if err := f.Set.SetEdges(e, f.source.Name, o); err != nil {
		return nil, err
	}
	return o, f.Edited(o)
}
