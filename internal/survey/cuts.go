package survey

import (
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/plan"
)

// Exclusion describes versions or channels of a template that catalogs leave out, for a range of platforms.
type Exclusion struct {
	Versions string // a range; empty: all
	Channel  string // empty: all
	Min, Max string // platforms; empty: unbounded
}

// cutting describes the parts of a template that one catalog leaves out.
type cutting struct {
	below, above string            // ranges of versions
	channels     []string          // channels that it lacks entirely
	heads        map[string]string // bundle at which a channel ends
	closed       bool              // entries that would replace a missing bundle replace nothing
}

// cuttingOf compares a catalog with its template. It returns false if the missing versions are neither below nor
// above the rest.
func cuttingOf(t, c *source) (cut cutting, ok bool) {
	kept := map[string]bool{}
	var lowest, highest semver.Version
	for _, entries := range c.facts.entries {
		for _, e := range entries {
			v, known := graph.VersionOf(e.Name)
			if !known {
				return cut, false
			}
			if len(kept) == 0 || v.LT(lowest) {
				lowest = v
			}
			if len(kept) == 0 || v.GT(highest) {
				highest = v
			}
			kept[e.Name] = true
		}
	}
	if len(kept) == 0 || !t.facts.edges {
		return cut, false
	}
	var below, above []semver.Version
	for _, entries := range t.facts.entries {
		for _, e := range entries {
			v, known := graph.VersionOf(e.Name)
			switch {
			case kept[e.Name]:
			case !known || v.GTE(lowest) && v.LTE(highest):
				return cut, false
			case v.LT(lowest):
				below = append(below, v)
			default:
				above = append(above, v)
			}
		}
	}
	if len(below) > 0 {
		cut.below = "<" + bound(lowest, slices.MaxFunc(below, semver.Version.Compare))
	}
	if len(above) > 0 {
		first := slices.MinFunc(above, semver.Version.Compare)
		cut.above = ">=" + bound(first, highest)
	}
	return cut, cut.channelsOf(t, c, kept)
}

// bound returns the start of v's minor version if below has a lower minor version, otherwise v.
func bound(v, below semver.Version) string {
	if minorBelow(below, v) {
		return fmt.Sprintf("%d.%d.0-0", v.Major, v.Minor)
	}
	return v.String()
}

// channelsOf records channels that are missing or end earlier although the catalog has their bundles.
func (cut *cutting) channelsOf(t, c *source, kept map[string]bool) bool {
	for _, ch := range t.facts.channels {
		stay := slices.DeleteFunc(slices.Clone(t.facts.entries[ch]), func(e fbc.Entry) bool { return !kept[e.Name] })
		has := c.facts.entries[ch]
		switch {
		case len(stay) == 0:
		case len(has) == 0:
			cut.channels = append(cut.channels, ch)
		default:
			names := map[string]fbc.Entry{}
			for _, e := range has {
				names[e.Name] = e
			}
			in := sorted(has)
			head := in[len(in)-1].Name
			end, _ := graph.VersionOf(head)
			for _, e := range stay {
				standing, there := names[e.Name]
				v, _ := graph.VersionOf(e.Name)
				switch {
				case there && !kept[e.Replaces] && e.Replaces != "" && standing.Replaces == "":
					cut.closed = true
				case !there && v.GT(end):
					if cut.heads == nil {
						cut.heads = map[string]string{}
					}
					cut.heads[ch] = head
				case !there:
					return false
				}
			}
		}
	}
	return true
}

// exclusions returns for which platforms each part is left out. If every platform leaves out at least what the
// previous one does, a rule has no upper end, so that it also applies to future platforms.
func exclusions(catalogs []*source, cuts map[*source]cutting) (rules []Exclusion) {
	type side struct {
		of   func(cutting) []string
		make func(what string, from, to *plan.Platform, first, last bool) Exclusion
	}
	ends := func(e Exclusion, from, to *plan.Platform, first, last bool) Exclusion {
		if !first {
			e.Min = from.String()
		}
		if !last {
			e.Max = to.String()
		}
		return e
	}
	one := func(s string) []string {
		if s == "" {
			return nil
		}
		return []string{s}
	}
	versions := func(what string, from, to *plan.Platform, first, last bool) Exclusion {
		return ends(Exclusion{Versions: what}, from, to, first, last)
	}
	for _, s := range []side{
		{func(c cutting) []string { return one(c.below) }, versions},
		{func(c cutting) []string { return one(c.above) }, versions},
		{func(c cutting) []string { return c.channels }, func(what string, from, to *plan.Platform, first, last bool) Exclusion {
			return ends(Exclusion{Channel: what}, from, to, first, last)
		}},
	} {
		var whats []string
		for _, c := range catalogs {
			for _, what := range s.of(cuts[c]) {
				if !slices.Contains(whats, what) {
					whats = append(whats, what)
				}
			}
		}
		for _, what := range whats {
			for i := 0; i < len(catalogs); i++ {
				j := i
				for j < len(catalogs) && slices.Contains(s.of(cuts[catalogs[j]]), what) {
					j++
				}
				if j > i {
					rules = append(rules, s.make(what, catalogs[i].platform, catalogs[j-1].platform, i == 0, j == len(catalogs)))
					i = j
				}
			}
		}
	}
	return rules
}

func (e Exclusion) String() string {
	var said []string
	if e.Versions != "" {
		said = append(said, "versions "+e.Versions)
	}
	if e.Channel != "" {
		said = append(said, "channel "+e.Channel)
	}
	switch {
	case e.Min != "" && e.Min == e.Max:
		said = append(said, "for "+e.Min)
	case e.Min != "" && e.Max != "":
		said = append(said, "for "+e.Min+" to "+e.Max)
	case e.Min != "":
		said = append(said, "for "+e.Min+" and later")
	case e.Max != "":
		said = append(said, "up to "+e.Max)
	}
	return strings.Join(said, " ")
}
