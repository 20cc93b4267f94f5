package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
)

// mostSiblings are looked at for a pattern, the newest of a channel.
const mostSiblings = 3

// sibling is an entry whose version is known, and that of the entry that it replaces.
type sibling struct {
	fbc.Entry
	version     semver.Version
	predecessor string // version of what it replaces, "" where that is not known
}

// beginning is one of the ways in which ranges begin.
type beginning struct {
	name  string
	begin func(s sibling) string
}

// bounds are those that are known, the most telling first.
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
		return "-" // no range begins so
	}
	return ">=" + version + " "
}

func minor(v semver.Version, back uint64) string {
	if v.Minor < back {
		return "-"
	}
	return fmt.Sprintf(">=%d.%d.0 ", v.Major, v.Minor-back)
}

// SiblingEdges are the edges that a bundle has by LikeSiblings in a channel of these entries.
func SiblingEdges(entries []fbc.Entry, name string, version semver.Version) (Edges, error) {
	e, _, err := likeSiblings(entries, name, version)
	return e, err
}

// likeSiblings are the edges that a bundle has where it has them as the newest entries of the
// channel below it do, and which pattern that is. Where they follow none, the place is natural.
func likeSiblings(entries []fbc.Entry, name string, version semver.Version) (e Edges, why string, err error) {
	newest := newestBelow(entries, version)
	if len(newest) == 0 {
		return Edges{}, "nothing is below it that could show a pattern, so it takes its natural place by version.", nil
	}
	place, err := graph.PlaceIn(entries, graph.Newcomer{Name: name, Version: version}, graph.VersionOf, graph.PlaceRules{})
	if err != nil {
		return Edges{}, "", err
	}
	// The lowest entry replaces nothing because nothing is below it.
	if newest[0].Replaces != "" || len(newest) == 1 {
		e.Replaces = place.Entry.Replaces
	}
	var seen string
	one := sibling{Entry: fbc.Entry{Name: name}, version: version, predecessor: versionText(e.Replaces)}
	// Where the three newest do not agree, the last word is that of fewer.
	for n := len(newest); n > 0 && e.SkipRange == ""; n-- {
		e.SkipRange, seen = rangeLike(newest[:n], one, n > 1 || len(newest) == 1)
	}
	if !e.Said() {
		return e, fmt.Sprintf("%s shows no pattern, so it takes its natural place by version.", newest[0].Name), nil
	}
	replaced := "what is below it is replaced"
	if e.Replaces == "" {
		replaced = "nothing is replaced"
	}
	return e, fmt.Sprintf("it %s, as %s and the entries below that have it: %s, %s.", e.inWords(), newest[0].Name, replaced, seen), nil
}

// rangeLike is the range that a bundle has where it has one as the siblings have theirs, and how
// that is made. A beginning that is always the same counts where constant says that enough of
// them have it.
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

// newestBelow are the highest entries below a version, the highest first.
func newestBelow(entries []fbc.Entry, version semver.Version) (all []sibling) {
	for _, e := range entries {
		if v, ok := graph.VersionOf(e.Name); ok && v.LT(version) {
			all = append(all, sibling{e, v, versionText(e.Replaces)})
		}
	}
	slices.SortStableFunc(all, func(a, b sibling) int { return b.version.Compare(a.version) })
	return all[:min(len(all), mostSiblings)]
}

func versionText(name string) string {
	if v, ok := graph.VersionOf(name); ok {
		return v.String()
	}
	return ""
}

// boundOf is the first of the bounds that the ranges of all siblings have, -1 where none is.
func boundOf(newest []sibling) int {
	return slices.IndexFunc(bounds, func(b beginning) bool { return ranged(newest, b.begin) })
}

// constantBound is the beginning that the ranges of all siblings have, "" where they differ.
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

// ranged reports whether the newest has a range that begins so and ends below its version, and
// so have those of the others that have one which ends below theirs.
func ranged(newest []sibling, begin func(sibling) string) bool {
	for i, s := range newest {
		end := "<" + s.version.String()
		if (i == 0 || strings.HasSuffix(s.SkipRange, end)) && s.SkipRange != begin(s)+end {
			return false
		}
	}
	return true
}
