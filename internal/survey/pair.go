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

// match returns the template from which a catalog is rendered, and the reason. Without a template it returns the
// reason why there is none.
func match(c *source, templates []*source) (*source, string) {
	var all []likeness
	for _, t := range templates {
		if t.pkg != "" && t.pkg != c.pkg || c.platform != nil && t.platform != nil && *c.platform != *t.platform {
			continue
		}
		all = append(all, compare(c, t))
	}
	if len(all) == 0 {
		return nil, "no template of package " + c.pkg + " is for its platform"
	}
	best := slices.MaxFunc(all, func(a, b likeness) int { return compareFloat(a.share(), b.share()) })
	if best.of > 0 && best.share() < leastShare {
		return nil, fmt.Sprintf("no template holds it: %s has %d of its %d bundles and entries", best.template.path, best.held, best.of)
	}
	if best.of == 0 {
		all = slices.DeleteFunc(all, func(l likeness) bool { return !related(c, l.template) })
	}
	all = slices.DeleteFunc(all, func(l likeness) bool { return l.share() < best.share()-sameShare })
	why := ""
	for _, rule := range rules(c) {
		if len(all) < 2 {
			break
		}
		if kept := rule.keep(all); len(kept) < len(all) {
			all, why = kept, rule.why
		}
	}
	switch len(all) {
	case 0:
		return nil, "its name and folder tell none of the templates of package " + c.pkg
	case 1:
		held := fmt.Sprintf("%d of its %d bundles and entries are the template's", all[0].held, all[0].of)
		if all[0].of == 0 {
			held = "it is empty"
		}
		return all[0].template, held + why
	}
	return nil, fmt.Sprintf("it can be of %s as well as of %s", all[0].template.path, all[1].template.path)
}

type rule struct {
	keep func([]likeness) []likeness
	why  string
}

// rules choose among templates that contain the catalog about equally.
func rules(c *source) []rule {
	return []rule{
		{func(all []likeness) []likeness { return least(all, func(l likeness) float64 { return float64(l.far) }) }, ", and its folder is the nearest"},
		{func(all []likeness) []likeness { return least(all, func(l likeness) float64 { return -l.share() }) }, ", more than of others"},
		{func(all []likeness) []likeness { return least(all, func(l likeness) float64 { return -l.both }) }, ", and that has the least besides"},
		{func(all []likeness) []likeness {
			named := slices.DeleteFunc(slices.Clone(all), func(l likeness) bool { return !namedAfter(c.path, l.template.path) })
			if len(named) == 0 {
				return all
			}
			return named
		}, ", which has its name"},
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
