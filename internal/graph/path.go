package graph

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
)

// PathQuery asks how a cluster with one bundle comes to have another. The cluster begins at
// the first stage, and each stage's name is its platform's version.
type PathQuery struct {
	Package  string
	From, To string
	Channel  string // that is followed at the start; "" leaves it to the path
	Rules    Generation
	Anywhere bool // the path may end before the last stage
}

// PathPlace is a cluster with an installed bundle and the channel that it follows.
type PathPlace struct {
	Platform string `json:"platform"`
	Channel  string `json:"channel"`
	Bundle   string `json:"bundle"`
}

// StepKind says what a step of a path changes.
type StepKind string

// The kinds of step.
const (
	UpgradeBundle  StepKind = "upgrade"
	ChangeChannel  StepKind = "channel"
	UpgradeCluster StepKind = "cluster"
)

// PathStep is one step of a path, and where it leads.
type PathStep struct {
	Kind StepKind `json:"kind"`
	PathPlace
	// Deprecated is set for an upgrade to a bundle that the catalog deprecates; Pinned where
	// OLM v1 would choose another bundle unless the version is asked for.
	Deprecated bool `json:"deprecated,omitempty"`
	Pinned     bool `json:"pinned,omitempty"`
}

// Path is what to do, in order.
type Path struct {
	Start PathPlace  `json:"start"`
	Steps []PathStep `json:"steps"`
}

// FindPath gives the path that upgrades to the fewest deprecated bundles; of those the one of
// the fewest bundle upgrades, then channel changes, then cluster upgrades. Of equals it upgrades bundles early. The installed bundle
// need not stand in the catalogs, and stays while the cluster is upgraded, unless its
// olm.maxOpenShiftVersion forbids that. OLM v0 goes where it goes by itself, each upgrade
// approved by hand; OLM v1 goes to any bundle that succeeds the installed one. Without a path
// there is NoPath.
func FindPath(stages []Stage, q PathQuery) (*Path, *NoPath) {
	s := newPathSearch(stages, q)
	if path := s.run(); path != nil {
		return path, nil
	}
	return nil, s.why()
}

// pathState is a PathPlace by the stage's index.
type pathState struct {
	stage           int
	channel, bundle string
}

// pathCost is in the order of what weighs most: deprecated bundles, bundle upgrades, channel
// changes, cluster upgrades, versions that have to be asked for, and how late bundles are
// upgraded: what a platform has is taken before the cluster goes on.
type pathCost [6]int

func (c pathCost) compare(o pathCost) int { return slices.Compare(c[:], o[:]) }

func (c pathCost) plus(o pathCost) pathCost {
	for i := range c {
		c[i] += o[i]
	}
	return c
}

type pathMove struct {
	to   pathState
	cost pathCost
	step PathStep
}

type channelAt struct {
	stage   int
	channel string
}

type pathSearch struct {
	PathQuery
	stages    []Stage
	packages  []*Package // nil where a stage has none
	versions  []semver.Version
	installed []*Bundle // all that may be
	byName    map[string]*Bundle
	choices   map[channelAt]map[string][]pathChoice
	// unbound leaves olm.maxOpenShiftVersion aside.
	unbound bool
	reached map[pathState]pathReached
}

type pathReached struct {
	from  pathState
	move  pathMove
	total pathCost
	first bool
}

func newPathSearch(stages []Stage, q PathQuery) *pathSearch {
	s := &pathSearch{PathQuery: q, stages: stages, byName: map[string]*Bundle{}, choices: map[channelAt]map[string][]pathChoice{}}
	for _, stage := range stages {
		p := stage.Catalog.Package(q.Package)
		s.packages = append(s.packages, p)
		v, _ := semver.ParseTolerant(stage.Name)
		s.versions = append(s.versions, v)
		if p != nil {
			s.know(p.Bundles...)
		}
	}
	for _, p := range s.packages {
		if p == nil {
			continue
		}
		for _, ch := range p.Channels {
			for _, e := range ch.Entries {
				s.know(ch.Bundle(e.Name))
			}
		}
	}
	if s.byName[q.From] == nil {
		b := &Bundle{Package: q.Package, Name: q.From}
		b.Version.Version, b.HasVersion = versionAfter(q.From)
		s.know(b)
	}
	return s
}

func (s *pathSearch) know(bundles ...*Bundle) {
	for _, b := range bundles {
		if s.byName[b.Name] == nil {
			s.byName[b.Name] = b
			s.installed = append(s.installed, b)
		}
	}
}

// starts are the states in which the cluster may be: in the channel that is asked for, or in
// those that have the bundle, the default channel first. Where none has it, it may be any.
func (s *pathSearch) starts() (all []pathState) {
	if s.Channel != "" {
		return []pathState{{0, s.Channel, s.From}}
	}
	var elsewhere []pathState
	seen := map[string]bool{}
	for i, p := range s.packages {
		if p == nil {
			continue
		}
		channels := slices.Clone(p.Channels)
		slices.SortStableFunc(channels, func(a, b *Channel) int {
			return bit(b.Name == p.DefaultChannel) - bit(a.Name == p.DefaultChannel)
		})
		for _, ch := range channels {
			at := pathState{0, ch.Name, s.From}
			if i == 0 && ch.Entry(s.From) != nil {
				all = append(all, at)
			}
			if !seen[ch.Name] {
				seen[ch.Name] = true
				elsewhere = append(elsewhere, at)
			}
		}
	}
	if len(all) == 0 {
		return elsewhere
	}
	return all
}

func (s *pathSearch) isGoal(at pathState) bool {
	return at.bundle == s.To && (s.Anywhere || at.stage == len(s.stages)-1)
}

func (s *pathSearch) place(at pathState) PathPlace {
	return PathPlace{s.stages[at.stage].Name, at.channel, at.bundle}
}

// moves gives what can be done in a state.
func (s *pathSearch) moves(at pathState) (all []pathMove) {
	add := func(kind StepKind, to pathState, cost pathCost, c pathChoice) {
		all = append(all, pathMove{to, cost, PathStep{kind, s.place(to), c.deprecated, c.pinned}})
	}
	p := s.packages[at.stage]
	if p != nil {
		for _, c := range s.choicesOf(at.stage, at.channel)[at.bundle] {
			add(UpgradeBundle, pathState{at.stage, at.channel, c.to}, pathCost{bit(c.deprecated), 1, 0, 0, bit(c.pinned), at.stage}, c)
		}
		for _, ch := range p.Channels {
			if ch.Name != at.channel {
				add(ChangeChannel, pathState{at.stage, ch.Name, at.bundle}, pathCost{2: 1}, pathChoice{})
			}
		}
	}
	if at.stage+1 < len(s.stages) && !s.forbids(at.bundle, at.stage+1) {
		add(UpgradeCluster, pathState{at.stage + 1, at.channel, at.bundle}, pathCost{3: 1}, pathChoice{})
	}
	return all
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// forbids tells whether a bundle keeps the cluster from a platform.
func (s *pathSearch) forbids(bundle string, stage int) bool {
	most := s.byName[bundle].maxOpenShift
	return !s.unbound && most != nil && s.versions[stage].GT(*most)
}

// pathChoice is a bundle to which another may be upgraded.
type pathChoice struct {
	to                 string
	deprecated, pinned bool
}

func (s *pathSearch) choicesOf(stage int, channel string) map[string][]pathChoice {
	at := channelAt{stage, channel}
	found, ok := s.choices[at]
	if ch := s.packages[stage].Channel(channel); !ok && ch != nil {
		found = ch.choices(s.Rules, s.installed)
		s.choices[at] = found
	}
	return found
}

// choices gives for each bundle that may be installed what it may be upgraded to. OLM v0
// chooses itself. OLM v1 chooses unless it is asked for a version, which must be one that
// succeeds the installed bundle; what it does not install is none.
func (ch *Channel) choices(g Generation, installed []*Bundle) map[string][]pathChoice {
	all := map[string][]pathChoice{}
	own := ch.Upgrades(g, installed...)
	if g == V0 {
		for from, to := range own.next {
			all[from] = []pathChoice{{to, ch.Package.Deprecated(to), false}}
		}
		return all
	}
	for _, equals := range ch.choicesV1() {
		for _, e := range equals {
			if ch.Bundle(e.Name).refusedByV1() != "" {
				continue
			}
			pool, one := newPool(ch, installed), &Upgrades{next: map[string]string{}}
			pool.settleVersion(ch.Bundle(e.Name))
			one.take(pool, e)
			for from, to := range one.next {
				all[from] = append(all[from], pathChoice{to, ch.Package.Deprecated(to), own.Next(from) != to})
			}
		}
	}
	return all
}

// pathQueue holds what is to be looked at, the cheapest first, and what came first of equals.
type pathQueue []pathQueued

type pathQueued struct {
	state    pathState
	total    pathCost
	sequence int
}

func (q pathQueue) Len() int { return len(q) }
func (q pathQueue) Less(i, j int) bool {
	return cmp.Or(q[i].total.compare(q[j].total), q[i].sequence-q[j].sequence) < 0
}
func (q pathQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *pathQueue) Push(x any)   { *q = append(*q, x.(pathQueued)) }
func (q *pathQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// run goes from the starts until the goal, or until there is nothing more to reach.
func (s *pathSearch) run() *Path {
	s.reached = map[pathState]pathReached{}
	done := map[pathState]bool{}
	var queue pathQueue
	sequence := 0
	reach := func(to pathState, r pathReached) {
		if known, ok := s.reached[to]; ok && known.total.compare(r.total) <= 0 {
			return
		}
		s.reached[to] = r
		sequence++
		heap.Push(&queue, pathQueued{to, r.total, sequence})
	}
	for _, at := range s.starts() {
		reach(at, pathReached{first: true})
	}
	for queue.Len() > 0 {
		at := heap.Pop(&queue).(pathQueued).state
		if done[at] {
			continue
		}
		done[at] = true
		if s.isGoal(at) {
			return s.pathTo(at)
		}
		for _, m := range s.moves(at) {
			reach(m.to, pathReached{at, m, s.reached[at].total.plus(m.cost), false})
		}
	}
	return nil
}

func (s *pathSearch) pathTo(at pathState) *Path {
	path := &Path{Steps: []PathStep{}}
	for {
		r := s.reached[at]
		if r.first {
			break
		}
		path.Steps = append(path.Steps, r.move.step)
		at = r.from
	}
	slices.Reverse(path.Steps)
	path.Start = s.place(at)
	return path
}

// versionAfter gives the version that a bundle's name ends with, as that of etcd.v1.2.3 does.
func versionAfter(name string) (semver.Version, bool) {
	_, text, _ := strings.Cut(name, ".v")
	v, err := semver.Parse(text)
	return v, err == nil
}
