package plan

import (
	"slices"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
)

// edges returns the requests for one: several if its channels get different edges.
//
//  1. Requested edges apply unchanged, or else those of a release-config.yaml.
//  2. Otherwise the bundle's ClusterServiceVersion, the newest entries or patterns decide, for
//     channels that do not have the bundle yet. Existing entries stay, because they may have been
//     rewired since.
//  3. A pattern for only the range leaves the predecessor to the natural place.
//  4. Otherwise the place is natural.
func (p *planner) edges(r kind.Request, rule EdgeRule, c candidate, o *opened, t *Target) ([]kind.Request, error) {
	said, whose := p.in.Asked.Edges, "as asked for"
	if !said.Said() {
		said, whose = c.Said, "as "+p.setup.File+" says"
	}
	switch {
	case said.Said():
		r.Replaces, r.Skips, r.SkipRange = said.Replaces, said.Skips, said.SkipRange
		if o.hasEdges() {
			p.reason(&t.Reasons, "It %s, %s.", said.inWords(), whose)
		}
	case !o.hasEdges():
		p.reason(&t.Reasons, "A %s template makes the edges itself.", o.kind)
	case rule.Explicit:
		return nil, failure.New(failure.Usage, "planning for %s: %s leaves the edges to be said, and none are", r.Bundle.Name, p.setup.File).At(p.setup.File, c.Line, c.Col).
			Fix("Give what the bundle replaces or skips, or the range that it skips.")
	case rule.From == FromCSV && p.in.Stated.Said():
		return p.eachChannel(r, o, t, func(string, []fbc.Entry) (Edges, string, error) {
			return p.in.Stated, "it " + p.in.Stated.inWords() + ", as its ClusterServiceVersion says.", nil
		})
	case rule.From == LikeSiblings:
		return p.eachChannel(r, o, t, func(channel string, entries []fbc.Entry) (Edges, string, error) {
			if previous := o.before(channel); len(entries) == 0 && previous != "" {
				return likePrevious(previous, o.standing[previous], r.Bundle)
			}
			return likeSiblings(entries, r.Bundle.Name, r.Bundle.Version)
		})
	case rule.Replaces != "" || rule.SkipRange != "":
		return p.patterned(r, rule, c, o, t)
	default:
		p.reason(&t.Reasons, "%s", natural)
	}
	return []kind.Request{r}, nil
}

const natural = "No edges are given: it takes its place by version."

// hasEdges reports whether the template lists edges. The parts of a composite template have their own kinds, and
// accept only explicit edges.
func (o *opened) hasEdges() bool {
	_, ok := template.Named(o.kind).(kind.HasEdges)
	return ok
}

func (p *planner) patterned(r kind.Request, rule EdgeRule, c candidate, o *opened, t *Target) ([]kind.Request, error) {
	skipRange, err := rule.SkipRange.For(r.Bundle)
	if err != nil {
		return nil, p.misconfigured(c.TargetSetup, "making the skip range: %w", err)
	}
	// If there is no previous patch, or it is the bundle itself, the pattern names nothing.
	replaces, err := rule.Replaces.For(r.Bundle)
	if err != nil || replaces == r.Bundle.Name {
		replaces = ""
	}
	return p.eachChannel(r, o, t, func(_ string, entries []fbc.Entry) (Edges, string, error) {
		return patternEdges(entries, r, replaces, skipRange)
	})
}

// eachChannel applies a rule for edges to each channel that does not have the bundle yet. It returns one request
// for all channels with the same edges.
func (p *planner) eachChannel(r kind.Request, o *opened, t *Target, rule func(channel string, entries []fbc.Entry) (Edges, string, error)) ([]kind.Request, error) {
	var err error
	if o.standing, err = channelEntries(o.file, r.Bundle.Package); err != nil {
		return nil, err
	}
	var out []kind.Request
	for _, channel := range r.Channels {
		one := r
		one.Channels = []string{channel}
		e, why := Edges{}, "the channel has it, and its edges stay."
		entries, stands := o.standing[channel]
		if !stands && r.LikePrevious {
			entries = o.standing[o.before(channel)]
		}
		has := func(name string) bool {
			return slices.ContainsFunc(entries, func(e fbc.Entry) bool { return e.Name == name })
		}
		switch {
		case r.InsteadOf != "" && has(r.InsteadOf):
			why = "it takes the place of " + r.InsteadOf + ", whose edges stay."
		case !has(r.Bundle.Name):
			if e, why, err = rule(channel, entries); err != nil {
				return nil, err
			}
		}
		one.Replaces, one.Skips, one.SkipRange = e.Replaces, e.Skips, e.SkipRange
		p.reason(&t.Reasons, "Channel %s: %s", channel, why)
		out = joined(out, one)
	}
	return out, nil
}

// patternEdges returns the edges in one channel, and the reason.
func patternEdges(entries []fbc.Entry, r kind.Request, replaces, skipRange string) (Edges, string, error) {
	if replaces != "" {
		e := Edges{Replaces: replaces, SkipRange: skipRange}
		return e, "it " + e.inWords() + ", by the pattern.", nil
	}
	if skipRange == "" {
		return Edges{}, "the pattern names no predecessor, so it takes its natural place by version.", nil
	}
	if len(entries) == 0 {
		e := Edges{SkipRange: skipRange}
		return e, "it " + e.inWords() + ", by the pattern; it is the first one there.", nil
	}
	place, err := graph.PlaceIn(entries, graph.Newcomer{Name: r.Bundle.Name, Version: r.Bundle.Version}, graph.VersionOf,
		graph.PlaceRules{NoRewire: r.NoRewire})
	if err != nil {
		return Edges{}, "", err
	}
	if place.Entry.Replaces == "" {
		return Edges{}, "it is below all others there, and has nothing to skip.", nil
	}
	e := Edges{Replaces: place.Entry.Replaces, SkipRange: skipRange}
	return e, "it " + e.inWords() + ": the version below it, and the pattern for the range.", nil
}

// joined adds a request to one with the same edges, if there is one.
func joined(list []kind.Request, r kind.Request) []kind.Request {
	for i, o := range list {
		if o.Replaces == r.Replaces && o.SkipRange == r.SkipRange && slices.Equal(o.Skips, r.Skips) {
			list[i].Channels = append(slices.Clone(o.Channels), r.Channels...)
			return list
		}
	}
	return append(list, r)
}

// channelEntries returns the entries of a package's channels in a template.
func channelEntries(t *template.Template, pkg string) (map[string][]fbc.Entry, error) {
	out := map[string][]fbc.Entry{}
	if t == nil {
		return out, nil
	}
	docs, err := t.Kind.(kind.HasEdges).Documents(&t.Source)
	for i := range docs {
		d := &docs[i]
		if d.Schema != fbc.SchemaChannel || d.Package != pkg && d.Package != "" {
			continue
		}
		ch, err := d.Channel()
		if err != nil {
			return nil, err
		}
		out[ch.Name] = append(out[ch.Name], ch.Entries...)
	}
	return out, err
}

// defaultChannel decides whether the default channel moves. A default channel that depends on the version moves
// only forward: a late, older version does not move it back.
func (p *planner) defaultChannel(rule placed, c candidate, o *opened, t *Target) (string, error) {
	if asked := p.in.Asked.DefaultChannel; asked != "" {
		p.reason(&t.Reasons, "The default channel is %s, as requested.", asked)
		return asked, nil
	}
	if has := template.Traits(o.kind); rule.defaultChannel == "" || len(has.Archetypes) > 0 || has.OfTemplates {
		return "", nil
	}
	name, err := rule.defaultChannel.For(p.in.Bundle)
	if err != nil {
		return "", p.misconfigured(c.TargetSetup, "naming the default channel: %w", err)
	}
	if higher := p.higher(o); !rule.defaultChannel.Constant() && higher != "" {
		p.reason(&t.Reasons, "The default channel stays: %s is a higher version.", higher)
		return "", nil
	}
	// Do not keep a default channel that does not exist.
	now := o.description().DefaultChannel
	if !rule.defaultChannel.Constant() && slices.Contains(o.channelNames(), now) && graph.PreviousChannel(now, []string{name}) == name {
		p.reason(&t.Reasons, "The default channel stays: %s comes after %s.", now, name)
		return "", nil
	}
	p.reason(&t.Reasons, "The default channel is %s, as %s says.", name, p.setup.File)
	return name, nil
}

// higher returns an entry of the template with a higher version than the bundle's, or "".
func (p *planner) higher(o *opened) string {
	for _, ch := range o.description().Channels {
		for _, name := range ch.Entries {
			if v, ok := graph.VersionOf(name); ok && v.GT(p.in.Bundle.Version) {
				return name
			}
		}
	}
	return ""
}
