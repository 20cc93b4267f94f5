package graph

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// NoPath explains why there is no path, and what would create one.
type NoPath struct {
	// Furthest is the place of the highest reachable version.
	Furthest PathPlace `json:"furthest"`
	Why      string    `json:"why"`
	// Edge is a single edge that would create a path, or nil.
	Edge *MissingEdge `json:"edge,omitempty"`
}

// MissingEdge is an edge that an entry could have.
type MissingEdge struct {
	Platform string `json:"platform"`
	Channel  string `json:"channel"`
	Bundle   string `json:"bundle"` // of the entry
	Kind     string `json:"kind"`   // replaces, skips or skipRange
	To       string `json:"to"`
}

// String describes the edge, as in: in channel stable of 4.20, op.v2.0.0 replaces op.v1.9.0.
func (e MissingEdge) String() string {
	return fmt.Sprintf("in channel %s of %s, %s %s %s", e.Channel, e.Platform, e.Bundle, e.Kind, e.To)
}

// why explains a complete search without success.
func (s *pathSearch) why() *NoPath {
	var furthest pathState
	found := false
	for at, r := range s.reached {
		if !found || cmp.Or(s.byName[at.bundle].Version.Compare(s.byName[furthest.bundle].Version), at.stage-furthest.stage,
			s.reached[furthest].total.compare(r.total), cmp.Compare(furthest.channel, at.channel)) > 0 {
			furthest, found = at, true
		}
	}
	no := &NoPath{Furthest: s.place(furthest)}
	last := s.stages[len(s.stages)-1].Name
	switch blocked := s.blocked(); {
	case !s.offered():
		no.Why = fmt.Sprintf("no channel of the catalogs to %s has bundle %s", last, s.To)
	case s.Rules == V1 && s.To != s.From && s.byName[s.To].refusedByV1() != "":
		no.Why = fmt.Sprintf("%s: %s", s.To, s.byName[s.To].refusedByV1())
	case blocked != nil:
		no.Why = fmt.Sprintf("olm.maxOpenShiftVersion of %s is %d.%d, so the cluster cannot be upgraded to %s while it is installed",
			blocked.Bundle, s.byName[blocked.Bundle].maxOpenShift.Major, s.byName[blocked.Bundle].maxOpenShift.Minor, blocked.Platform)
		no.Edge = s.edge()
	case s.version(s.To).Compare(s.version(s.From)) < 0:
		no.Why = fmt.Sprintf("%s is below %s, and no edge leads back", s.To, s.From)
	case s.Rules == V0 && s.version(furthest.bundle).Compare(s.version(s.To)) > 0:
		no.Why = fmt.Sprintf("OLM v0 passes over %s on the way from %s to %s", s.To, s.From, furthest.bundle)
		no.Edge = s.edge()
	default:
		no.Why = fmt.Sprintf("the upgrades from %s end at %s, and none leads from there to %s", s.From, furthest.bundle, s.To)
		no.Edge = s.edge()
	}
	return no
}

// offered reports whether any catalog can install the requested bundle.
func (s *pathSearch) offered() bool {
	return slices.ContainsFunc(s.packages, func(p *Package) bool {
		return p != nil && slices.ContainsFunc(p.Channels, func(ch *Channel) bool { return ch.Entry(s.To) != nil && ch.installable(s.To) })
	})
}

// blocked returns the first forbidden cluster upgrade on a path that would exist without such bounds, or nil.
func (s *pathSearch) blocked() *PathStep {
	free := *s
	free.unbound = true
	path := free.run()
	if path == nil {
		return nil
	}
	for i := range path.Steps {
		step := &path.Steps[i]
		stage := slices.IndexFunc(s.stages, func(stage Stage) bool { return stage.Name == step.Platform })
		if step.Kind == UpgradeCluster && s.forbids(step.Bundle, stage) {
			return step
		}
	}
	return nil
}

// triedEdges bounds the number of edges to try.
const triedEdges = 60

// edge looks for a single edge that creates a path, from a reachable state to one that leads to the goal, the
// shortest step first. It tries each edge, because under OLM v0 an edge can hide others.
func (s *pathSearch) edge() *MissingEdge {
	leads := s.leading()
	type gap struct{ from, to pathState }
	var gaps []gap
	for at := range s.reached {
		p := s.packages[at.stage]
		if p == nil || p.Channel(at.channel) == nil {
			continue
		}
		for _, e := range p.Channel(at.channel).Entries {
			to := pathState{at.stage, at.channel, e.Name}
			if p.Channel(at.channel).installable(e.Name) && leads[to] && s.version(e.Name).Compare(s.version(at.bundle)) > 0 {
				gaps = append(gaps, gap{at, to})
			}
		}
	}
	slices.SortFunc(gaps, func(a, b gap) int {
		return cmp.Or(s.version(b.from.bundle).Compare(s.version(a.from.bundle)), s.version(a.to.bundle).Compare(s.version(b.to.bundle)),
			a.to.stage-b.to.stage, cmp.Compare(a.to.channel, b.to.channel), cmp.Compare(a.from.bundle, b.from.bundle), cmp.Compare(a.to.bundle, b.to.bundle))
	})
	for _, g := range gaps[:min(len(gaps), triedEdges)] {
		if e := s.try(g.from.bundle, g.to); e != nil {
			return e
		}
	}
	return nil
}

func (s *pathSearch) version(name string) Version {
	if b := s.byName[name]; b != nil {
		return b.Version
	}
	return Version{}
}

// leading returns the states from which the goal can be reached.
func (s *pathSearch) leading() map[pathState]bool {
	back := map[pathState][]pathState{}
	leads := map[pathState]bool{}
	var queue []pathState
	for i := range s.stages {
		for name := range s.channelNames() {
			for _, b := range s.installed {
				at := pathState{i, name, b.Name}
				if s.isGoal(at) {
					leads[at] = true
					queue = append(queue, at)
				}
				for _, m := range s.moves(at) {
					back[m.to] = append(back[m.to], at)
				}
			}
		}
	}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for _, from := range back[at] {
			if !leads[from] {
				leads[from] = true
				queue = append(queue, from)
			}
		}
	}
	return leads
}

func (s *pathSearch) channelNames() map[string]bool {
	names := map[string]bool{}
	for _, p := range s.packages {
		if p != nil {
			for _, ch := range p.Channels {
				names[ch.Name] = true
			}
		}
	}
	return names
}

// try returns the edge from a bundle to an entry that creates a path, in the first of three forms that does, or
// nil.
func (s *pathSearch) try(from string, to pathState) *MissingEdge {
	ch := s.packages[to.stage].Channel(to.channel)
	entry := ch.Entry(to.bundle)
	forms := []struct {
		kind, text string
		set        func(e *Entry, text string)
		free       bool
	}{
		{"replaces", from, func(e *Entry, text string) { e.Replaces = text }, entry.Replaces == ""},
		{"skips", from, func(e *Entry, text string) { e.Skips = append(slices.Clone(e.Skips), text) }, true},
		{"skipRange", fmt.Sprintf(">=%s <%s", s.version(from), s.version(to.bundle)), func(e *Entry, text string) { e.SkipRange = text }, entry.SkipRange == ""},
	}
	for _, form := range forms {
		if !form.free {
			continue
		}
		changed := *ch
		changed.Entries = slices.Clone(ch.Entries)
		form.set(changed.Entry(to.bundle), form.text)
		trial := *s
		trial.choices = maps.Clone(s.choices)
		trial.choices[channelAt{to.stage, to.channel}] = changed.choices(s.Rules, s.installed)
		if trial.run() != nil {
			return &MissingEdge{s.stages[to.stage].Name, to.channel, to.bundle, form.kind, form.text}
		}
	}
	return nil
}
