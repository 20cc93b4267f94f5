package publish

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/plan"
)

// lines are the catalogs of a configuration, with the packages in them that a change concerns.
type lines struct {
	catalogs []plan.Catalog
	packages map[string]bool
}

func (l *lines) add(catalogs []plan.Catalog, pkg string) {
	if l.packages == nil {
		l.packages = map[string]bool{}
	}
	l.packages[pkg] = true
	for _, c := range catalogs {
		if c.Path != "" && c.Platform != nil && !slices.ContainsFunc(l.catalogs, func(o plan.Catalog) bool { return o.Path == c.Path }) {
			l.catalogs = append(l.catalogs, c)
		}
	}
}

// inOrder returns the catalogs that clusters pass through in upgrades, ordered by platform. If a platform has
// several, catalogs whose paths differ only in the platform belong together.
func (l *lines) inOrder() (all [][]plan.Catalog) {
	single, seen := true, map[plan.Platform]bool{}
	for _, c := range l.catalogs {
		single = single && !seen[*c.Platform]
		seen[*c.Platform] = true
	}
	byPath := map[string][]plan.Catalog{}
	for _, c := range l.catalogs {
		key := "OpenShift "
		if !c.Platform.OpenShift() {
			key = "Kubernetes "
		}
		if text := c.Platform.String(); !single {
			key += strings.NewReplacer(text, "*", strings.ReplaceAll(text, ".", "-"), "*").Replace(path.Clean(c.Path))
		}
		byPath[key] = append(byPath[key], c)
	}
	for _, key := range slices.Sorted(maps.Keys(byPath)) {
		line := byPath[key]
		slices.SortStableFunc(line, func(a, b plan.Catalog) int { return a.Platform.Compare(*b.Platform) })
		all = append(all, line)
	}
	return all
}

// skewBefore are findings between platforms from before the change, with the command that shows them.
type skewBefore struct {
	findings int
	command  string
}

// skew finds versions that a cluster upgrade leaves without a next version. Those that existed before are not
// the change's fault, so the body only counts them.
func (p *preparation) skew() {
	for _, line := range p.lines.inOrder() {
		var before, after []graph.Stage
		for _, c := range line {
			was, is, err := p.stages(c)
			if err != nil {
				p.Warnings = append(p.Warnings, fmt.Sprintf("%s cannot be read, so that upgrades of clusters to it were not verified: %s", c.Path, failure.Of(err).Error()))
			}
			if was != nil {
				before = append(before, graph.Stage{Name: c.Path, Catalog: was})
			}
			if is != nil {
				after = append(after, graph.Stage{Name: c.Path, Catalog: is})
			}
		}
		known, stood := graph.CompareNext(before, p.Levels), 0
		for _, f := range graph.CompareNext(after, p.Levels) {
			if !p.lines.packages[f.Package] {
				continue
			}
			if slices.ContainsFunc(known, func(o graph.Finding) bool { return noMore(f, o) }) {
				stood++
				continue
			}
			p.Findings = append(p.Findings, p.asMeant(f))
		}
		if stood > 0 {
			p.skewBefore = append(p.skewBefore, skewBefore{stood, "graft verify --next " + Quoted(strings.Join(namesOf(after[1:]), ",")) + " " + Quoted(after[0].Name)})
		}
	}
}

func namesOf(stages []graph.Stage) (names []string) {
	for _, s := range stages {
		names = append(names, s.Name)
	}
	return names
}

// noMore reports whether a finding concerns nothing beyond an earlier one.
func noMore(now, before graph.Finding) bool {
	return now.ID == before.ID && now.Package == before.Package && now.Channel == before.Channel && now.File == before.File &&
		!slices.ContainsFunc(now.Bundles, func(name string) bool { return !slices.Contains(before.Bundles, name) })
}

// stages returns a catalog before and after the change; nil if it is absent. A catalog that declares the packages
// and has none of their bundles waits for their first release on its platform, and says nothing about upgrades.
func (p *preparation) stages(c plan.Catalog) (before, after *graph.Catalog, err error) {
	for _, made := range p.Work.catalogs() {
		if made.Path == c.Path {
			if len(made.Before.Packages) > 0 {
				before = made.Before
			}
			return before, made.After, nil
		}
	}
	docs, err := documents(p.base.Files, c.Path)
	if err != nil || len(docs) == 0 {
		return nil, nil, err
	}
	var own []fbc.Doc
	for pkg := range p.lines.packages {
		own = append(own, fbc.OfPackage(docs, pkg)...)
	}
	if len(own) > 0 && !slices.ContainsFunc(own, func(d fbc.Doc) bool { return d.Schema == fbc.SchemaBundle }) {
		return nil, nil, nil
	}
	b := graph.Builder{Light: true}
	b.Add(own)
	standing := b.Catalog()
	return standing, standing, nil
}
