package publish

import (
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/markdown"
	"github.com/olmgraft/graft/internal/template/kind"
)

// nextUpgrade is a range of versions with its next version, in all catalogs that have it.
type nextUpgrade struct {
	graph.NextRange
	in []string
}

// nextUpgrades returns each range once, in the order of channels. Ranges that begin at the lowest version of
// their catalog and differ in nothing else are one.
func (w *Work) nextUpgrades() (all []*nextUpgrade) {
	by := map[string]*nextUpgrade{}
	for _, c := range w.catalogs() {
		for _, r := range graph.Diff(c.Before, c.After).NextRanges() {
			same := r
			if r.Lowest {
				same.First = ""
			}
			key := nextLine(same, true)
			one := by[key]
			if one == nil {
				one = &nextUpgrade{NextRange: r}
				by[key], all = one, append(all, one)
			}
			if lowerVersion(r.First, one.First) {
				one.First = r.First
			}
			one.in = kind.Unique(append(one.in, c.Path))
		}
	}
	order := w.channelOrder()
	slices.SortStableFunc(all, func(a, b *nextUpgrade) int { return order(a.Channel, b.Channel) })
	return all
}

func lowerVersion(a, b string) bool {
	v, err := semver.Parse(a)
	other, otherErr := semver.Parse(b)
	return err == nil && otherErr == nil && v.LT(other)
}

// paths writes the next upgrade of installed versions, before and after: one line for each range of versions,
// once for catalogs with the same change. It names the catalogs of a line that does not concern all catalogs with
// such changes.
func (w *Work) paths(b *strings.Builder) {
	all, several := w.nextUpgrades(), len(w.packages()) > 1
	var lines, changed []string
	for _, one := range all {
		changed = kind.Unique(append(changed, one.in...))
	}
	for _, one := range all {
		line := nextLine(one.NextRange, several)
		if len(one.in) < len(changed) {
			line += ", in " + someOf(one.in, len(changed), "catalog")
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return
	}
	const shown = 6
	first := lines[:min(len(lines), shown)]
	b.WriteString("Next upgrades of installed versions:\n\n" + markdown.List(first))
	if rest := lines[len(first):]; len(rest) > 0 {
		b.WriteString(markdown.Details(count(len(rest), "more upgrade"), markdown.List(rest)))
	}
}

// nextLine returns a line such as "stable: 1.0.0 to 1.2.9: next 1.3.0, was 1.2.10".
func nextLine(r graph.NextRange, several bool) string {
	version := func(v string) string {
		if v == "" {
			return "none"
		}
		return markdown.Code(v)
	}
	text := markdown.Code(r.Channel)
	if several {
		text += " of " + markdown.Code(r.Package)
	}
	text += ": " + version(r.First)
	if r.Last != r.First {
		text += " to " + version(r.Last)
	}
	text += ": next " + version(r.Next.To) + ", was " + version(r.Next.From)
	if len(r.Rules) == 1 {
		text += " (OLM " + r.Rules[0].String() + ")"
	}
	return text
}
