// Package survey finds the templates and catalogs of a repository, and which catalogs are rendered from which
// templates. It compares their contents first, then their folders, and last their names. It states the reason for
// each decision and for each file that it leaves alone.
package survey

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/reference"
	"github.com/olmgraft/graft/internal/template"
)

// Survey is the result for a repository.
type Survey struct {
	Targets []Target
	Left    []plan.LeftOut
}

// Target is a template, several templates that differ only in their platform, or a catalog without a template.
type Target struct {
	Template  string   // a path or a pattern
	Templates []string // templates that it matches
	About     string   // what several files, or a catalog without a template, are; empty: a template
	Notes     []string // notes for people
	Kind      string
	Package   string // empty if unknown
	Rules     []Rule
	// DefaultChannel is a pattern if it moves with the newest bundle.
	DefaultChannel string
	NewChannel     string // like-previous; empty: with only the new bundle
	Edges          string // from-csv or like-siblings; empty: the natural place
	EdgesWhy       []string
	Catalogs       []Catalog
	Rewrites       reference.Rewrites // of images in the catalogs
	// Repositories are the bundles' repositories.
	Repositories []string
	Newest       Bundle
}

// Bundle is a bundle of a template or catalog. Its image is empty if there is none, and its name if the repository
// does not contain it.
type Bundle struct {
	Name, Image string
	version     semver.Version
}

// Newest returns the newest bundle of all targets.
func (s *Survey) Newest() (top Bundle) {
	for _, t := range s.Targets {
		if t.Newest.Image != "" && (top.Image == "" || t.Newest.version.GT(top.version)) {
			top = t.Newest
		}
	}
	return top
}

// Rule assigns versions to channels.
type Rule struct {
	Versions string // a range; empty: all
	Channels []string
	Why      []string
}

// Catalog is a catalog of a target, or a pattern for several.
type Catalog struct {
	Path     string // may have placeholders
	Metadata string // set if the platform does not imply it; empty: auto
	Exclude  []Exclusion
	Heads    map[string]string // bundle at which a channel ends
	Closed   bool              // edges to excluded bundles are removed
	Pairs    []Pair
}

// Pair is a template and a catalog rendered from it. The template has Held of the Of bundles and entries of the
// catalog. Chosen is the reason if other templates have about as many.
type Pair struct {
	Template, Catalog string
	Held, Of          int
	Chosen            string
}

// source is a template, or a catalog in a file or directory.
type source struct {
	path      string
	kind      string
	catalog   bool // it is a catalog
	directory bool
	pkg       string
	inputs    []string
	facts     facts
	platform  *plan.Platform
	aside     string // why it may not belong to the repository itself; empty: it does
	unusable  string // why no bundle can be inserted; empty: one can

	catalogs []paired
}

// paired is a catalog of a template.
type paired struct {
	*source
	match
}

func (s *source) hidden() bool { return strings.HasSuffix(s.aside, hiddenFolder) }

// Of surveys a repository.
func Of(fsys fs.FS) (*Survey, error) {
	f, err := find(fsys)
	if err != nil {
		return nil, err
	}
	s := &Survey{Left: f.left}
	templates, catalogs := f.templates, f.catalogs
	templates, catalogs = s.leaveAside(templates, catalogs)
	templates = s.leaveStale(templates, catalogs)
	alone := s.leaveOlder(s.pair(templates, catalogs))
	written, err := writers(fsys, append(slices.Clone(templates), alone...))
	if err != nil {
		return nil, err
	}
	templates = s.leaveUnusable(s.leaveEmpty(templates), written)
	s.Targets = targets(append(templates, alone...), written, fsys)
	slices.SortStableFunc(s.Left, func(a, b plan.LeftOut) int { return strings.Compare(a.Path(), b.Path()) })
	return s, nil
}

func (s *Survey) leave(path, reason string) {
	s.Left = append(s.Left, plan.LeftOut{Template: path, Reason: reason})
}

// leaveAside removes sources in hidden folders and in folders of tests, unless the package occurs nowhere else.
func (s *Survey) leaveAside(templates, catalogs []*source) (ours, ourCatalogs []*source) {
	ownTemplates, ownCatalogs := own(templates), own(catalogs)
	keep := func(t *source, first, second map[string]string) bool {
		if t.aside == "" {
			return true
		}
		other, ok := first[t.pkg]
		if !ok && !t.hidden() {
			other, ok = second[t.pkg]
		}
		if ok {
			s.leave(t.path, t.aside+", and "+other+" has the same package")
		}
		return !ok
	}
	return only(templates, func(t *source) bool { return keep(t, ownTemplates, ownCatalogs) }),
		only(catalogs, func(c *source) bool { return keep(c, ownCatalogs, ownTemplates) })
}

// own maps the packages of sources that certainly belong to the repository to one of these sources.
func own(list []*source) map[string]string {
	all := map[string]string{}
	for _, t := range list {
		if t.aside == "" && (!t.catalog || len(t.facts.entries) > 0) {
			all[t.pkg] = cmp.Or(all[t.pkg], t.path)
		}
	}
	return all
}

func only(list []*source, keep func(*source) bool) []*source {
	return slices.DeleteFunc(list, func(t *source) bool { return !keep(t) })
}

// leaveUnusable removes templates into which no bundle can be inserted, because they are generated or cannot be
// read.
func (s *Survey) leaveUnusable(templates []*source, written map[string]string) []*source {
	return only(templates, func(t *source) bool {
		if t.unusable == "" {
			return true
		}
		why := t.unusable
		if by := written[t.path]; by != "" {
			why = by + " generates it from a source that is not a template: edit that source; " + why
		}
		s.leave(t.path, why)
		for _, c := range t.catalogs {
			s.Left = append(s.Left, plan.LeftOut{Template: t.path, Catalog: c.path, Reason: "it belongs to " + t.path + ", which Graft leaves alone"})
		}
		return false
	})
}

// leaveStale removes templates that are older than every catalog that can be of them: each has several newer
// bundles, of a higher minor version, so the catalogs are changed without the template. One bundle that a template
// lacks is a slip.
func (s *Survey) leaveStale(templates, catalogs []*source) []*source {
	names := map[string]string{}
	for _, c := range catalogs {
		for k, i := range c.facts.images {
			names[k] = i.name
		}
	}
	return only(templates, func(t *source) bool {
		top := t.facts.newestOf(names, anyOf)
		if !top.known || t.unusable != "" {
			return true
		}
		why := ""
		for _, c := range catalogs {
			if c.pkg != t.pkg && (t.pkg != "" || overlap(c, t) == 0) || t.platform != nil && (c.platform == nil || *c.platform != *t.platform) {
				continue
			}
			of := c.facts.newestOf(nil, anyOf)
			if !of.known || !minorBelow(top.version, of.version) || c.facts.above(top.version) < 2 {
				return true
			}
			why = fmt.Sprintf("its newest bundle is %s, and that of %s is %s: people edit the catalogs without this template", top.name, c.path, of.name)
		}
		if why != "" {
			s.leave(t.path, why)
		}
		return why == ""
	})
}

// leaveEmpty removes templates without bundles, platform and catalogs if another template of the package has
// bundles: a script copies them.
func (s *Survey) leaveEmpty(templates []*source) []*source {
	empty := func(t *source) bool { return len(t.facts.images)+len(t.facts.entries)+len(t.catalogs) == 0 }
	return only(templates, func(t *source) bool {
		i := slices.IndexFunc(templates, func(o *source) bool {
			return o.kind == t.kind && (t.pkg == "" || o.pkg == t.pkg) && len(o.facts.images) > 0
		})
		if i < 0 || t.platform != nil || !empty(t) || len(t.inputs) > 0 || t.facts.placeholder != "" {
			return true
		}
		s.leave(t.path, "it has no bundles and no catalogs, and "+templates[i].path+" has both")
		return false
	})
}

// pair assigns the catalogs to their templates. It returns the catalogs that are templates themselves.
func (s *Survey) pair(templates, catalogs []*source) (alone []*source) {
	for _, c := range catalogs {
		m, why := matchOf(c, templates)
		switch {
		case m.template != nil:
			m.template.catalogs = append(m.template.catalogs, paired{c, m})
		case slices.ContainsFunc(templates, func(t *source) bool { return t.pkg == c.pkg || t.pkg == "" && overlap(c, t) > 0 }):
			s.leave(c.path, why)
		case len(c.facts.entries) == 0:
			s.leave(c.path, "it has no channels: it is a part of a catalog")
		default:
			alone = append(alone, c)
		}
	}
	for _, t := range templates {
		for _, c := range t.catalogs {
			t.pkg = cmp.Or(t.pkg, c.pkg)
		}
		slices.SortFunc(t.catalogs, func(a, b paired) int { return byPlatform(a.source, b.source) })
	}
	return alone
}

// leaveOlder removes catalogs without template and platform if a catalog for a platform has newer bundles,
// because nobody maintains them any more.
func (s *Survey) leaveOlder(alone []*source) []*source {
	tops := map[*source]newest{}
	for _, c := range alone {
		tops[c] = c.facts.newestOf(nil, anyOf)
	}
	return only(alone, func(c *source) bool {
		i := slices.IndexFunc(alone, func(o *source) bool {
			return c.platform == nil && o.platform != nil && o.pkg == c.pkg && tops[o].known && (!tops[c].known || minorBelow(tops[c].version, tops[o].version))
		})
		if i >= 0 {
			s.leave(c.path, fmt.Sprintf("it is for no platform, and older than %s: its newest bundle is %s, and that of the other is %s", alone[i].path, cmp.Or(tops[c].name, "unknown"), tops[alone[i]].name))
		}
		return i < 0
	})
}

// byPlatform compares by platform, then by path.
func byPlatform(a, b *source) int {
	if a.platform != nil && b.platform != nil {
		if c := a.platform.Compare(*b.platform); c != 0 {
			return c
		}
	}
	return strings.Compare(a.path, b.path)
}

func archetypes(t *source) []string { return template.Traits(t.kind).Archetypes }
