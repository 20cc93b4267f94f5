package plan

import (
	"fmt"
	"slices"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
)

// LikePrevious lets a new channel begin with the entries of the previous channel.
const LikePrevious = "like-previous"

// newChannels decides how new channels of the template begin, and reports it if the setup decided it.
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

// channelNames returns the channels of the template.
func (o *opened) channelNames() (names []string) {
	for _, c := range o.description().Channels {
		names = append(names, c.Name)
	}
	return names
}

// before returns the channel that precedes another by the version in its name, or "".
func (o *opened) before(channel string) string {
	return graph.PreviousChannel(channel, o.channelNames())
}

// likePrevious returns the edges of the first entry of a new channel. Its range follows the newest entries of the
// previous channel. It replaces the head of that channel if the first entry there replaces a bundle that its
// channel does not list.
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
