package plan

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
)

// mostSiblings is the number of a channel's newest entries that are searched for a pattern.
const mostSiblings = 3

// sibling is an entry with a known version, and the version of its predecessor.
type sibling struct {
	fbc.Entry
	version     semver.Version
	predecessor string // version of the entry that it replaces; "" if unknown
	spaced      bool   // its range has blanks behind the operators, which SkipRange lacks here
}

// operators matches those of a range with the blanks behind them.
var operators = regexp.MustCompile(`([<>=]+) *`)

// beginning is a known way in which ranges begin.
type beginning struct {
	name  string
	begin func(s sibling) string
}

// bounds lists the known beginnings, the most specific first.
var bounds = []beginning{
	{"<{version}", func(sibling) string { return "" }},
	{">={version of what it replaces} <{version}", func(s sibling) string { return bound(s.predecessor) }},
	{">{version of what it replaces} <{version}", func(s sibling) string { return strings.Replace(bound(s.predecessor), ">=", ">", 1) }},
	{">={major}.{minor}.0 <{version}", func(s sibling) string { return minor(s.version, 0) }},
	{">={major}.{minor-1}.0 <{version}", func(s sibling) string { return minor(s.version, 1) }},
	{">={major}.{minor-2}.0 <{version}", func(s sibling) string { return minor(s.version, 2) }},
	{">={major}.0.0 <{version}", func(s sibling) string { return fmt.Sprintf(">=%d.0.0 ", s.version.Major) }},
	{">=0.0.0 <{version}", func(sibling) string { return ">=0.0.0 " }},
}

func bound(version string) string {
	if version == "" {
		return "-" // no range begins like this
	}
	return ">=" + version + " "
}

func minor(v semver.Version, back uint64) string {
	if v.Minor < back {
		return "-"
	}
	return fmt.Sprintf(">=%d.%d.0 ", v.Major, v.Minor-back)
}

// SiblingEdges returns the edges that a bundle gets by LikeSiblings in a channel with these entries.
func SiblingEdges(entries []fbc.Entry, name string, version semver.Version) (Edges, error) {
	e, _, err := likeSiblings(entries, name, version)
	return e, err
}

// likeSiblings returns the edges of a bundle that follow the pattern of the newest lower entries of the channel,
// and that pattern. If there is no pattern, the place is natural.
func likeSiblings(entries []fbc.Entry, name string, version semver.Version) (e Edges, why string, err error) {
	newest := newestBelow(entries, version)
	if len(newest) == 0 {
		return Edges{}, "nothing is below it that could show a pattern, so it takes its natural place by version.", nil
	}
	place, err := graph.PlaceIn(entries, graph.Newcomer{Name: name, Version: version}, graph.VersionOf, graph.PlaceRules{})
	if err != nil {
		return Edges{}, "", err
	}
	// The lowest entry replaces nothing because there is no lower one.
	if newest[0].Replaces != "" || len(newest) == 1 {
		e.Replaces = place.Entry.Replaces
	}
	var seen string
	one := sibling{Entry: fbc.Entry{Name: name}, version: version, predecessor: versionText(e.Replaces)}
	// If the three newest entries disagree, fewer of the newest decide.
	for n := len(newest); n > 0 && e.SkipRange == ""; n-- {
		e.SkipRange, seen = rangeLike(newest[:n], one, n > 1 || len(newest) == 1)
	}
	if newest[0].spaced {
		e.SkipRange = operators.ReplaceAllString(e.SkipRange, "$1 ")
	}
	e.Skips = commonSkips(newest)
	if !e.Said() {
		return e, fmt.Sprintf("%s shows no pattern, so it takes its natural place by version.", newest[0].Name), nil
	}
	replaced := "it replaces the entry below it"
	if e.Replaces == "" {
		replaced = "it replaces nothing"
	}
	return e, fmt.Sprintf("it %s, as %s and the entries below that have it: %s, %s.", e.inWords(), newest[0].Name, replaced, seen), nil
}

// rangeLike returns the range of a bundle by the pattern of its siblings, and the pattern. It accepts a constant
// beginning only if constant is set, which means that enough siblings have it.
func rangeLike(newest []sibling, one sibling, constant bool) (skipRange, seen string) {
	end := "<" + one.version.String()
	if i := boundOf(newest); i >= 0 && bounds[i].begin(one) != "-" {
		return bounds[i].begin(one) + end, "the range " + bounds[i].name
	}
	if begin := constantBound(newest); constant && begin != "" {
		return begin + end, "the range " + begin + "<{version}"
	}
	return "", "no range"
}

// newestBelow returns the highest entries below a version, highest first.
func newestBelow(entries []fbc.Entry, version semver.Version) (all []sibling) {
	for _, e := range entries {
		if v, ok := graph.VersionOf(e.Name); ok && v.LT(version) {
			tight := operators.ReplaceAllString(e.SkipRange, "$1")
			spaced := tight != e.SkipRange
			e.SkipRange = tight
			all = append(all, sibling{e, v, versionText(e.Replaces), spaced})
		}
	}
	slices.SortStableFunc(all, func(a, b sibling) int { return b.version.Compare(a.version) })
	return all[:min(len(all), mostSiblings)]
}

// commonSkips returns the skips of the newest entries if several have the same ones: bundles that nobody should stay at.
func commonSkips(newest []sibling) []string {
	if len(newest) < 2 || slices.ContainsFunc(newest, func(s sibling) bool { return !slices.Equal(s.Skips, newest[0].Skips) }) {
		return nil
	}
	return slices.Clone(newest[0].Skips)
}

func versionText(name string) string {
	if v, ok := graph.VersionOf(name); ok {
		return v.String()
	}
	return ""
}

// boundOf returns the index of the first bound that the ranges of all siblings have, or -1.
func boundOf(newest []sibling) int {
	return slices.IndexFunc(bounds, func(b beginning) bool { return ranged(newest, b.begin) })
}

// constantBound returns the common beginning of all siblings' ranges, or "" if they differ.
func constantBound(newest []sibling) string {
	end := "<" + newest[0].version.String()
	r := newest[0].SkipRange
	if len(r) <= len(end) || r[len(r)-len(end):] != end {
		return ""
	}
	begin := r[:len(r)-len(end)]
	if !ranged(newest, func(sibling) string { return begin }) {
		return ""
	}
	return begin
}

// ranged reports whether the newest sibling has a range with this beginning that ends below its version, and
// whether those of the other siblings that have a range ending below their version begin in the same way.
func ranged(newest []sibling, begin func(sibling) string) bool {
	for i, s := range newest {
		end := "<" + s.version.String()
		if (i == 0 || strings.HasSuffix(s.SkipRange, end)) && s.SkipRange != begin(s)+end {
			return false
		}
	}
	return true
}
