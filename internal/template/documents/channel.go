package documents

import (
	"slices"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/yamledit"
)

// createChannel adds a channel that contains only the bundle. If the request asks for it and there is a previous
// channel, the new channel also gets that one's entries.
func (s *Set) createChannel(pkg, name string, r kind.Request, adder Adder, o *kind.Outcome) error {
	previous, list := s.previous(pkg, name, r)
	created := kind.Change{What: kind.ChannelCreated, Channel: name, From: previous}
	o.Changes = append(o.Changes, created)
	if i := find(list, r.Bundle); i < 0 {
		place, err := s.place(list, r)
		if err != nil {
			return err
		}
		o.Notes = append(o.Notes, headNotes(name, list, place)...)
		for _, i := range place.Rewired {
			o.Changes = append(o.Changes, kind.Change{What: kind.EntryRewired, Channel: name, Name: list[i].Name, From: list[i].Replaces, To: r.Bundle.Name})
			list[i].Replaces = r.Bundle.Name
		}
		o.Changes = append(o.Changes, added(name, place.Entry))
		list = slices.Insert(list, place.Index, place.Entry)
	} else if err := sameEdges(list[i], r, name, s.entriesOf(pkg, list[i].Name)[0].item); err != nil {
		return err
	}
	values := make([]yamledit.Value, len(list))
	for i, e := range list {
		values[i] = entryValue(e)
	}
	v := yamledit.Map(
		textField("schema", fbc.SchemaChannel),
		textField("package", pkg),
		textField("name", name),
		yamledit.Field{Key: "entries", Value: yamledit.List(values...)},
	)
	return adder.AddChannel(v, s.siblings(fbc.SchemaChannel, pkg, r))
}

// previous returns the channel whose entries a new one begins with, and these entries, or none if the request
// does not ask for them.
func (s *Set) previous(pkg, name string, r kind.Request) (string, []fbc.Entry) {
	if !r.LikePrevious {
		return "", nil
	}
	var names []string
	for _, c := range s.channels(pkg) {
		names = append(names, c.Name)
	}
	c := s.channel(pkg, graph.PreviousChannel(name, names))
	if c == nil {
		return "", nil
	}
	return c.Name, entries(c.Node)
}
