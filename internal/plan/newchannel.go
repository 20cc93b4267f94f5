package plan

import (
	"fmt"
	"slices"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
)

// LikePrevious has a new channel begin with the entries of the one before it.
const LikePrevious = "like-previous"

// newChannels decides how the channels begin that the template does not have yet, and says so
// where the setup does.
func (p *planner) newChannels(r *kind.Request, c candidate, o *opened, t *Target) {
	if c.NewChannel == "" || !o.hasEdges() && !template.Traits(o.kind).OfTemplates {
		return
	}
	r.LikePrevious = c.NewChannel == LikePrevious
	if o.file == nil || !o.hasEdges() {
		return
	}
	for _, channel := range r.Channels {
		previous := o.before(channel)
		switch {
		case slices.Contains(o.channelNames(), channel):
		case !r.LikePrevious:
			p.reason(&t.Reasons, "Channel %s is new and begins with the bundle alone, as %s says.", channel, p.setup.File)
		case previous == "":
			p.reason(&t.Reasons, "Channel %s is new and begins with the bundle alone: none comes before it.", channel)
		default:
			p.reason(&t.Reasons, "Channel %s is new and begins with the entries of %s, as %s says.", channel, previous, p.setup.File)
		}
	}
}

// channelNames are the channels of the template.
func (o *opened) channelNames() (names []string) {
	for _, c := range o.description().Channels {
		names = append(names, c.Name)
	}
	return names
}

// before is the channel that comes before another one by the version in its name.
func (o *opened) before(channel string) string {
	return graph.PreviousChannel(channel, o.channelNames())
}

// likePrevious are the edges of the first entry of a new channel: its range is as the newest
// entries of the channel before have it, and it replaces the head of that one where the first
// entry there replaces something that its channel does not list.
func likePrevious(previous string, entries []fbc.Entry, b kind.Bundle) (Edges, string, error) {
	e, _, err := likeSiblings(entries, b.Name, b.Version)
	if err != nil {
		return Edges{}, "", err
	}
	if !replacesUnlisted(entries) {
		e.Replaces = ""
	}
	if !e.Said() {
		return e, fmt.Sprintf("it is the first one there, and channel %s shows neither a range nor that the first one replaces another.", previous), nil
	}
	return e, fmt.Sprintf("it is the first one there, and %s as channel %s shows.", e.inWords(), previous), nil
}

func replacesUnlisted(entries []fbc.Entry) bool {
	return slices.ContainsFunc(entries, func(e fbc.Entry) bool {
		return e.Replaces != "" && !slices.ContainsFunc(entries, func(o fbc.Entry) bool { return o.Name == e.Replaces })
	})
}
