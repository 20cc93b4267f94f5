package survey

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/reference"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
)

// news holds the newest bundles of all sources. They decide where new bundles go.
type news struct {
	of map[*source]newest
	// releases and prereleases hold the newest of each.
	releases, prereleases map[*source]newest
	all                   []*source
}

func newNews(list []*source) *news {
	n := &news{map[*source]newest{}, map[*source]newest{}, map[*source]newest{}, list}
	for _, t := range list {
		names := map[string]string{}
		for _, c := range t.catalogs {
			for k, i := range c.facts.images {
				names[k] = i.name
			}
		}
		n.of[t], n.releases[t], n.prereleases[t] = t.facts.newestOf(names, anyOf), t.facts.newestOf(names, releaseOf), t.facts.newestOf(names, prereleaseOf)
	}
	return n
}

// bundle returns the newest bundle of a source. If none of its images is known to be that of the newest bundle, it
// returns the last one, without a name.
func (n *news) bundle(t *source) (last Bundle) {
	top := n.of[t]
	for _, k := range slices.Sorted(maps.Keys(t.facts.images)) {
		i := t.facts.images[k]
		name := i.name
		for _, c := range t.catalogs {
			name = cmp.Or(name, c.facts.images[k].name)
		}
		b := Bundle{Image: k, version: top.version}
		if reference.IsDigest(k) {
			b.Image = i.repository + "@" + k
		}
		if v, ok := kind.ImageVersion(b.Image); top.known && (name == top.name || ok && name == "" && v.EQ(top.version)) {
			b.Name = name
			return b
		}
		if k == t.facts.last {
			last = b
		}
	}
	return last
}

// said returns everything that a configuration says about a source, except paths.
func (n *news) said(t *source) string {
	edges, _ := n.edges(t)
	said := []string{edges, n.newChannel(t), n.defaultChannel(t)}
	for _, r := range rewrites([]*source{t}) {
		said = append(said, r.From, r.To)
	}
	if t.platform != nil {
		for _, c := range t.catalogs {
			said = append(said, patternFor(t, c.source), metadata(c.source))
		}
	}
	for _, r := range n.rules(t) {
		said = append(said, r.Versions, strings.Join(r.Channels, ","))
	}
	return strings.Join(said, "\x00")
}

// rules put new bundles into the channels of the newest one. If a template for a later platform has a higher
// minor version, this template gets no versions above its own minor version. If each minor version has its own
// channel, and the template begins with a higher minor version than others, it gets no lower ones.
func (n *news) rules(t *source) []Rule {
	top := n.of[t]
	if !top.known {
		if like := n.last(t); like != nil {
			r := n.rules(like)
			r[0].Why = []string{"This template has no bundles yet. It gets the settings of " + like.path + "."}
			for i := range r {
				r[i].beginWith(t.facts.defaultChannel)
			}
			return r
		}
		return n.unversioned(t)
	}
	if pre, rel := n.prereleases[t], n.releases[t]; pre.known && rel.known && !slices.Equal(pre.in, rel.in) && (len(archetypes(t)) > 0 || pre.version.GT(rel.version)) {
		return []Rule{
			{Versions: string(plan.Prerelease), Channels: patterns(t, pre), Why: []string{"Prereleases go into the channels of the newest one, " + pre.name + "."}},
			n.bounded(t, n.releases, "Releases"),
		}
	}
	return []Rule{n.bounded(t, n.of, "New bundles")}
}

// beginWith gives a rule the versions from that of a default channel on, if the rule's channels have minor versions.
// A template for a new platform declares its first channel so.
func (r *Rule) beginWith(defaultChannel string) {
	if r.Versions == string(plan.Prerelease) {
		return
	}
	for _, ch := range r.Channels {
		before, after, ok := strings.Cut(ch, "{major}.{minor}")
		if !ok || !strings.HasPrefix(defaultChannel, before) || !strings.HasSuffix(defaultChannel, after) || len(defaultChannel) < len(before)+len(after) {
			continue
		}
		if v, err := semver.Parse(defaultChannel[len(before):len(defaultChannel)-len(after)] + ".0"); err == nil {
			r.Versions = fmt.Sprintf(">=%d.%d.0-0", v.Major, v.Minor)
			r.Why = append(r.Why, fmt.Sprintf("Its default channel %s begins with version %d.%d.", defaultChannel, v.Major, v.Minor))
			return
		}
	}
}

// bounded is the rule for the versions of a template, between those of templates for other platforms.
func (n *news) bounded(t *source, tops map[*source]newest, which string) Rule {
	top := tops[t]
	r := Rule{Channels: patterns(t, top), Why: []string{which + " go into the channels of the newest one, " + top.name + "."}}
	perMinor := !slices.ContainsFunc(r.Channels, func(ch string) bool { return !strings.Contains(ch, "{minor}") })
	var bounds []string
	if o := n.find(t, tops, func(o newest) bool { return perMinor && minorBelow(o.lowest, top.lowest) }, nil); o != nil {
		bounds = append(bounds, fmt.Sprintf(">=%d.%d.0-0", top.lowest.Major, top.lowest.Minor))
		r.Why = append(r.Why, fmt.Sprintf("Versions before %d.%d go into other templates, such as %s.", top.lowest.Major, top.lowest.Minor, o.path))
	}
	if o := n.find(t, tops, func(o newest) bool { return minorBelow(top.version, o.version) }, t.platform); o != nil {
		bounds = append(bounds, fmt.Sprintf("<%d.%d.0-0", top.version.Major, top.version.Minor+1))
		r.Why = append(r.Why, fmt.Sprintf("Versions from %d.%d on go into templates for later platforms, such as %s in %s.", top.version.Major, top.version.Minor+1, tops[o].name, o.path))
	}
	r.Versions = strings.Join(bounds, " ")
	return r
}

// find returns a template that differs only in its platform and satisfies is. If later is given, its platform
// must be later.
func (n *news) find(t *source, tops map[*source]newest, is func(newest) bool, later *plan.Platform) *source {
	for _, o := range n.all {
		if t.platform != nil && tops[o].known && n.like(o, t) && (later == nil || o.platform.Compare(*later) > 0) && is(tops[o]) {
			return o
		}
	}
	return nil
}

// last returns, for a template without bundles, the template of the same shape with bundles for the latest
// platform.
func (n *news) last(t *source) (last *source) {
	for _, o := range n.all {
		if t.platform != nil && len(t.facts.images) == 0 && n.of[o].known && n.like(o, t) && (last == nil || o.platform.Compare(*last.platform) > 0) {
			last = o
		}
	}
	return last
}

// like reports whether the paths of two templates differ only in their platform.
func (n *news) like(o, t *source) bool {
	return o.platform != nil && o.pkg == t.pkg && o.kind == t.kind && shape(o.path, o.platform) == shape(t.path, t.platform)
}

// unversioned returns a rule with the archetypes that have bundles, if the versions of these are unknown.
func (n *news) unversioned(t *source) []Rule {
	var in []string
	for _, ch := range t.facts.channels {
		if len(archetypes(t)) > 0 && len(t.facts.entries[ch]) > 0 {
			in = append(in, ch)
		}
	}
	if len(in) == 0 {
		return nil
	}
	return []Rule{{Channels: in, Why: []string{"New bundles go into all of these, because each has bundles.", "Remove those that a new bundle enters later: the versions of the bundles are unknown without a registry."}}}
}

// minorBelow reports whether a version has a lower minor version than another.
func minorBelow(v, o semver.Version) bool {
	return v.Major < o.Major || v.Major == o.Major && v.Minor < o.Minor
}

var numbers = regexp.MustCompile(`[0-9]+(?:\.[0-9]+)*`)

// patterns returns the channels of a bundle as patterns for new bundles.
func patterns(t *source, top newest) (channels []string) {
	for _, ch := range top.in {
		if len(archetypes(t)) == 0 {
			ch = channelPattern(ch, top)
		}
		channels = append(channels, ch)
	}
	return channels
}

// channelPattern replaces the numbers of the newest bundle's version in a channel's name by placeholders.
func channelPattern(name string, top newest) string {
	at := numbers.FindAllStringIndex(name, -1)
	if len(at) == 0 {
		return name
	}
	last := at[len(at)-1]
	before, number, after := name[:last[0]], name[last[0]:last[1]], name[last[1]:]
	switch number {
	case fmt.Sprintf("%d.%d", top.version.Major, top.version.Minor):
		return before + "{major}.{minor}" + after
	case fmt.Sprint(top.version.Major):
		return before + "{major}" + after
	}
	return name
}

// newChannel reports whether the channel of the newest minor version begins with the entries of the previous
// channel.
func (n *news) newChannel(t *source) string {
	top := n.of[t]
	if like := n.last(t); !top.known && like != nil {
		return n.newChannel(like)
	}
	for _, ch := range top.in {
		before := t.facts.entries[graph.PreviousChannel(ch, t.facts.channels)]
		if !t.facts.edges || len(before) == 0 || channelPattern(ch, top) == ch {
			continue
		}
		all := !slices.ContainsFunc(before, func(e fbc.Entry) bool {
			v, ok := graph.VersionOf(e.Name)
			return ok && v.LT(lowestHead(t.facts.entries[ch], top)) && !slices.ContainsFunc(t.facts.entries[ch], func(o fbc.Entry) bool { return o.Name == e.Name })
		})
		if all {
			return plan.LikePrevious
		}
	}
	return ""
}

// lowestHead returns the lowest version of the newest minor version among the entries.
func lowestHead(entries []fbc.Entry, top newest) semver.Version {
	low := top.version
	for _, e := range entries {
		if v, ok := graph.VersionOf(e.Name); ok && v.Major == low.Major && v.Minor == low.Minor && v.LT(low) {
			low = v
		}
	}
	return low
}

// defaultChannel returns the pattern of a default channel that exists for several minor versions and contains the
// newest bundle, because such a default channel has moved before.
func (n *news) defaultChannel(t *source) string {
	top := n.of[t]
	if like := n.last(t); !top.known && like != nil {
		return n.defaultChannel(like)
	}
	ch := t.facts.defaultChannel
	if pattern := channelPattern(ch, top); slices.Contains(top.in, ch) && strings.Contains(pattern, "{minor}") && graph.PreviousChannel(ch, t.facts.channels) != "" {
		return pattern
	}
	return ""
}

// mostLooked is the number of newest entries whose edges are examined.
const mostLooked = 3

// edges returns the rule that would have produced the edges of the newest entries.
func (n *news) edges(t *source) (rule string, why []string) {
	top := n.of[t]
	if like := n.last(t); !top.known && like != nil {
		return n.edges(like)
	}
	if !t.facts.edges || !top.known || template.Traits(t.kind).OfTemplates {
		return "", nil
	}
	natural, siblings, seen := 0, 0, 0
	for _, ch := range top.in {
		entries := sorted(t.facts.entries[ch])
		for i := len(entries) - 1; i > 0 && i >= len(entries)-mostLooked; i-- {
			e, below := entries[i], entries[:i]
			v, _ := graph.VersionOf(e.Name)
			seen++
			if place, err := graph.PlaceIn(below, graph.Newcomer{Name: e.Name, Version: v}, graph.VersionOf, graph.PlaceRules{}); err == nil && sameEdges(e, plan.Edges{Replaces: place.Entry.Replaces}) {
				natural++
			}
			if like, err := plan.SiblingEdges(below, e.Name, v); err == nil && like.Said() && sameEdges(e, like) {
				siblings++
			}
		}
	}
	switch {
	case seen > 0 && natural == seen || natural > 0 && natural >= siblings:
		return "", nil
	case siblings > 0:
		return plan.LikeSiblings, []string{"A new entry gets edges like those of the entries below it.", fmt.Sprintf("This rule gives %d of the %d newest entries their edges.", siblings, seen)}
	}
	if next, ok := n.next(t); ok {
		return plan.LikeSiblings, []string{"A new entry gets edges like those of " + top.name + ": the next one " + next + "."}
	}
	if seen == 0 {
		return "", nil
	}
	return "", []string{"The edges of " + top.name + " and of the entries below it follow no pattern.", "Set edges here, or give the edges of each bundle to graft publish, with --replaces and --skips."}
}

// next returns the edges of the next bundle, derived from the newest one. ok is false if the pattern of its range
// is unknown.
func (n *news) next(t *source) (edges string, ok bool) {
	top := n.of[t]
	next := top.version
	next.Patch++
	next.Pre, next.Build = nil, nil
	e, err := plan.SiblingEdges(t.facts.entries[top.in[0]], t.pkg+".v"+next.String(), next)
	return fbc.Entry{Replaces: e.Replaces, Skips: e.Skips, SkipRange: e.SkipRange}.InWords(), err == nil && e.SkipRange != ""
}

func sameEdges(e fbc.Entry, edges plan.Edges) bool {
	return e.Replaces == edges.Replaces && e.SkipRange == edges.SkipRange && slices.Equal(e.Skips, edges.Skips)
}

// sorted returns the entries with a known version, lowest first.
func sorted(entries []fbc.Entry) []fbc.Entry {
	known := slices.DeleteFunc(slices.Clone(entries), func(e fbc.Entry) bool {
		_, ok := graph.VersionOf(e.Name)
		return !ok
	})
	slices.SortStableFunc(known, func(a, b fbc.Entry) int {
		v, _ := graph.VersionOf(a.Name)
		w, _ := graph.VersionOf(b.Name)
		return cmp.Or(v.Compare(w), strings.Compare(a.Name, b.Name))
	})
	return known
}
