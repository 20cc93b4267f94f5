package survey

import (
	"maps"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/bundle"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/reference"
)

// catalogs returns the catalogs of a group of templates, as patterns for those that are alike.
func catalogs(group, all []*source) []Catalog {
	var out []Catalog
	var of [][]*source
	cuts := map[*source]cutting{}
	for _, t := range group {
		for _, c := range t.catalogs {
			if cut, ok := cuttingOf(t, c.source); ok {
				cuts[c.source] = cut
			}
		}
	}
	for _, t := range group {
		for _, c := range t.catalogs {
			p := c.path
			switch {
			case !sameHeads(group, cuts):
			case len(group) > 1:
				p = patternFor(t, c.source)
			case t.platform == nil && c.platform != nil:
				if s := shape(c.path, c.platform); alike(t, s) > 1 && !others(t, s, all) && sameMetadata(t, s) {
					p = s
				}
			}
			i := slices.IndexFunc(out, func(o Catalog) bool { return o.Path == p })
			if i < 0 {
				i = len(out)
				out, of = append(out, Catalog{Path: p, Metadata: metadata(c.source), Heads: cuts[c.source].heads}), append(of, nil)
			}
			out[i].Pairs = append(out[i].Pairs, Pair{t.path, c.path, c.held, c.of, c.chosen})
			out[i].Closed = out[i].Closed || cuts[c.source].closed
			of[i] = append(of[i], c.source)
		}
	}
	for i := range out {
		out[i].Exclude = exclusions(of[i], cuts)
	}
	return out
}

// sameHeads reports whether channels end at the same bundles in all catalogs. A pattern cannot express differing
// heads.
func sameHeads(group []*source, cuts map[*source]cutting) bool {
	first := cuts[group[0].firstCatalog()].heads
	return !slices.ContainsFunc(group, func(t *source) bool {
		return slices.ContainsFunc(t.catalogs, func(c paired) bool { return !maps.Equal(cuts[c.source].heads, first) })
	})
}

func (s *source) firstCatalog() *source {
	if len(s.catalogs) == 0 {
		return nil
	}
	return s.catalogs[0].source
}

// patternFor returns a catalog's path with placeholders for its template.
func patternFor(t, c *source) string {
	p := c.path
	folder := ""
	if i := strings.LastIndexByte(t.path, '/'); i > 0 {
		folder = t.path[:i+1]
	}
	if rest, ok := strings.CutPrefix(p, folder); ok && folder != "" {
		return "{folder}/" + shape(rest, t.platform)
	}
	return shape(p, t.platform)
}

// alike counts the catalogs of a template that have the shape.
func alike(t *source, s string) (n int) {
	for _, c := range t.catalogs {
		if c.platform != nil && shape(c.path, c.platform) == s {
			n++
		}
	}
	return n
}

// others reports whether another template has a catalog of the shape.
func others(t *source, s string, all []*source) bool {
	return slices.ContainsFunc(all, func(o *source) bool { return o != t && alike(o, s) > 0 })
}

// metadata returns the setting for the form of metadata that a catalog has, if its platform does not imply it.
// Without the setting, each of its bundles would change.
func metadata(c *source) string {
	has, implied := plan.CSVMetadata, plan.CSVMetadata
	if c.facts.objects {
		has = plan.BundleObject
	}
	if c.platform != nil && c.platform.OpenShift() && c.platform.Metadata() == bundle.BundleObjects {
		implied = plan.BundleObject
	}
	if has == implied || c.facts.objects == c.facts.metadata {
		return ""
	}
	return string(has)
}

// sameMetadata reports whether one setting for metadata fits all catalogs of a template that have the shape.
func sameMetadata(t *source, s string) bool {
	all := map[string]bool{}
	for _, c := range t.catalogs {
		if c.platform != nil && shape(c.path, c.platform) == s {
			all[metadata(c.source)] = true
		}
	}
	return len(all) < 2
}

// rewrites returns rules for the repositories that catalogs name differently from their templates, with the same
// digest. It returns no rule if a catalog has bundles under both names.
func rewrites(group []*source) (rules reference.Rewrites) {
	for _, t := range group {
		for _, c := range t.catalogs {
			for k, i := range c.facts.images {
				from := t.facts.images[k].repository
				rule := reference.Rewrite{From: t.facts.anyVersion(from), To: i.repository}
				if from == "" || from == i.repository || slices.Contains(rules, rule) {
					continue
				}
				rules = append(rules, rule)
			}
		}
	}
	both := func(from string) bool {
		return slices.ContainsFunc(group, func(t *source) bool {
			return slices.ContainsFunc(t.catalogs, func(c paired) bool {
				return slices.ContainsFunc(c.facts.repositories, func(r string) bool { return reference.Matches(from, r) })
			})
		})
	}
	rules = slices.DeleteFunc(rules, func(r reference.Rewrite) bool { return both(r.From) })
	slices.SortFunc(rules, func(a, b reference.Rewrite) int { return strings.Compare(a.From+"\x00"+a.To, b.From+"\x00"+b.To) })
	if rules.Check() != nil {
		return nil
	}
	return rules
}
