package graph

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
)

// PathQuery asks how a cluster with one bundle can get another. The cluster starts at the first stage. Each
// stage's name is its platform's version.
type PathQuery struct {
	Package  string
	From, To string
	Channel  string // the channel at the start; "" lets the path choose
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

// The kinds of steps.
const (
	UpgradeBundle  StepKind = "upgrade"
	ChangeChannel  StepKind = "channel"
	UpgradeCluster StepKind = "cluster"
)

// PathStep is one step of a path and its result.
type PathStep struct {
	Kind StepKind `json:"kind"`
	PathPlace
	// Deprecated marks an upgrade to a deprecated bundle. Pinned marks one for which OLM v1 would choose another
	// bundle unless the version is requested.
	Deprecated bool `json:"deprecated,omitempty"`
	Pinned     bool `json:"pinned,omitempty"`
}

// Path is a sequence of steps.
type Path struct {
	Start PathPlace  `json:"start"`
	Steps []PathStep `json:"steps"`
}

// FindPath returns the path with the fewest upgrades to deprecated bundles; among those the one with the fewest
// bundle upgrades, then channel changes, then cluster upgrades. Of equal paths it returns the one that upgrades
// bundles earliest. The installed bundle need not be in the catalogs. It stays installed during a cluster upgrade
// unless its olm.maxOpenShiftVersion forbids that. OLM v0 makes its own upgrades, each approved by hand; OLM v1
// can upgrade to any successor of the installed bundle. Without a path FindPath returns a NoPath.
func FindPath(stages []Stage, q PathQuery) (*Path, *NoPath) {
	s := newPathSearch(stages, q)
	if path := s.run(); path != nil {
		return path, nil
	}
	return nil, s.why()
}

// pathState is a PathPlace with the index of its stage.
type pathState struct {
	stage           int
	channel, bundle string
}

// pathCost lists costs in order of weight: deprecated bundles, bundle upgrades, channel changes, cluster
// upgrades, versions that must be requested, and how late bundles are upgraded, so that upgrades on a platform
// come before the next cluster upgrade.
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
	packages  []*Package // nil for stages without the package
	versions  []semver.Version
	installed []*Bundle // all bundles that may be installed
	byName    map[string]*Bundle
	choices   map[channelAt]map[string][]pathChoice
	// unbound ignores olm.maxOpenShiftVersion.
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

// starts returns the states in which the cluster may be: in the requested channel, or in those that contain the
// bundle, the default channel first. If no channel contains it, any channel is possible.
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

// moves returns the possible moves from a state.
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

// forbids reports whether a bundle prevents the upgrade of the cluster to a stage.
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

// choices returns the possible upgrades of each bundle that may be installed. OLM v0 makes its own choice. OLM v1
// does too, unless a version is requested, which must succeed the installed bundle. Bundles that OLM v1 does not
// install are left out.
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

// pathQueue holds states to visit, the cheapest first, and the earliest of equally cheap ones.
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

// run searches from the starts until it reaches the goal or has visited every reachable state.
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

// versionAfter returns the version at the end of a bundle's name, as in etcd.v1.2.3.
func versionAfter(name string) (semver.Version, bool) {
	_, text, _ := strings.Cut(name, ".v")
	v, err := semver.Parse(text)
	return v, err == nil
}
