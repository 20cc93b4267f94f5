package survey

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// likeness measures how much of a catalog a template contains.
type likeness struct {
	template *source
	held, of int     // facts of the catalog that the template has, and all its facts
	both     float64 // common facts as a share of the facts of either
	far      int     // folders between them
}

func (l likeness) share() float64 {
	if l.of == 0 {
		return 0
	}
	return float64(l.held) / float64(l.of)
}

// Thresholds for similar likeness. They let an outdated catalog stay with its near template even if a template in
// another folder has slightly more in common with it.
const (
	leastShare = 0.5
	sameShare  = 0.25
)

// match is the template of a catalog, with the evidence as in Pair.
type match struct {
	template *source
	held, of int
	chosen   string
}

// matchOf returns the template from which a catalog is rendered. If there is none, it returns the reason.
func matchOf(c *source, templates []*source) (m match, why string) {
	var all []likeness
	for _, t := range templates {
		if t.pkg != "" && t.pkg != c.pkg || c.platform != nil && t.platform != nil && *c.platform != *t.platform {
			continue
		}
		all = append(all, compare(c, t))
	}
	if len(all) == 0 {
		return m, "no template of package " + c.pkg + " is for its platform"
	}
	best := slices.MaxFunc(all, func(a, b likeness) int { return compareFloat(a.share(), b.share()) })
	if best.of > 0 && best.share() < leastShare {
		return m, fmt.Sprintf("it belongs to no template: %s has %d of its %d bundles and entries, and no other has more", best.template.path, best.held, best.of)
	}
	if best.of == 0 {
		all = slices.DeleteFunc(all, func(l likeness) bool { return !related(c, l.template) })
	}
	all = slices.DeleteFunc(all, func(l likeness) bool { return l.share() < best.share()-sameShare })
	for _, rule := range rules(c) {
		if len(all) < 2 {
			break
		}
		if kept := rule.keep(all); len(kept) < len(all) {
			all, m.chosen = kept, rule.why
		}
	}
	switch len(all) {
	case 0:
		return m, "it is empty, and no template of package " + c.pkg + " has its name or folder"
	case 1:
		m.template, m.held, m.of = all[0].template, all[0].held, all[0].of
		return m, ""
	}
	return match{}, fmt.Sprintf("it can belong to %s or to %s", all[0].template.path, all[1].template.path)
}

type rule struct {
	keep func([]likeness) []likeness
	why  string // empty: the numbers of the match show it
}

// rules choose among templates that contain the catalog about equally.
func rules(c *source) []rule {
	return []rule{
		{func(all []likeness) []likeness { return least(all, func(l likeness) float64 { return float64(l.far) }) }, "this one is in the nearest folder"},
		{func(all []likeness) []likeness { return least(all, func(l likeness) float64 { return -l.share() }) }, ""},
		{func(all []likeness) []likeness { return least(all, func(l likeness) float64 { return -l.both }) }, "this one has the fewest others"},
		{func(all []likeness) []likeness {
			named := slices.DeleteFunc(slices.Clone(all), func(l likeness) bool { return !namedAfter(c.path, l.template.path) })
			if len(named) == 0 {
				return all
			}
			return named
		}, "this one has its name"},
	}
}

func least(all []likeness, of func(likeness) float64) []likeness {
	low := of(slices.MinFunc(all, func(a, b likeness) int { return compareFloat(of(a), of(b)) }))
	return slices.DeleteFunc(slices.Clone(all), func(l likeness) bool { return of(l) > low })
}

func compareFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func compare(c, t *source) likeness {
	edges := c.facts.edges && t.facts.edges
	mine, theirs := c.facts.list(edges), t.facts.list(edges)
	held := 0
	for fact := range mine {
		if theirs[fact] {
			held++
		}
	}
	l := likeness{template: t, held: held, of: len(mine), far: distance(t, c)}
	if either := len(mine) + len(theirs) - held; either > 0 {
		l.both = float64(held) / float64(either)
	}
	return l
}

func overlap(c, t *source) int { return compare(c, t).held }

// distance counts the folders on the path from a template to a catalog.
func distance(t, c *source) int {
	from, to := folders(path.Dir(t.path)), folders(path.Dir(c.path))
	common := 0
	for common < min(len(from), len(to)) && from[common] == to[common] {
		common++
	}
	return len(from) + len(to) - 2*common
}

func folders(dir string) []string {
	if dir == "." {
		return nil
	}
	return strings.Split(dir, "/")
}

// related reports whether a catalog without contents can still belong to a template.
func related(c, t *source) bool {
	return c.platform != nil && t.platform != nil || namedAfter(c.path, t.path) || t.path != c.path && path.Dir(t.path) != "." && strings.HasPrefix(c.path, path.Dir(t.path)+"/")
}

// namedAfter reports whether the catalog or one of its folders has the name of the template or of its folder.
func namedAfter(catalog, template string) bool {
	names := append(folders(path.Dir(catalog)), stem(catalog))
	own := path.Base(path.Dir(template))
	return slices.Contains(names, stem(template)) ||
		own != "." && slices.Contains(names, own) && !strings.HasPrefix(catalog, path.Dir(template)+"/")
}

func stem(p string) string { return strings.TrimSuffix(path.Base(p), path.Ext(p)) }
