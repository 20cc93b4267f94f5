package publish

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/atomicfile"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/render"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
)

// Work is what a change comes to, before anything is written.
type Work struct {
	Targets []Target
	// LeftOut are templates and catalogs that the bundles do not go to.
	LeftOut  []plan.LeftOut
	Reasons  []string
	Warnings []string
	// Findings are those of all catalogs.
	Findings []graph.Finding

	subjects []subject // that change something; where nothing changes, all
	nowhere  []string  // bundles that go into no template
	unserved []string  // catalog images that manifests name by digest, and the registry has no more
	ran      []string  // files that commands of the repository changed
	byHand   string    // why a person is to merge
	remote   bool      // it is upon a commit of the base branch, not upon a work tree
	base     string    // the base branch, where it is not the default branch
	levels   graph.Levels
	// artifacts is where the run has the explorer, "" where it has none.
	artifacts string
	change    atomicfile.Change
}

// Target is what becomes of one template and its catalogs.
type Target struct {
	Template string
	Changes  []kind.Change
	Notes    []string
	Catalogs []Catalog

	archetypes bool     // its channels are made of them
	inMemory   *Catalog // verified, and kept nowhere
	unverified string   // why it is not
	entries    bool     // of operands, or a CatalogSource: no graph changes
}

func (t *Target) note(text string) { t.Notes = kind.Unique(append(t.Notes, text)) }

// Catalog is a catalog as it becomes, beside the one that stands there. A catalog that is
// its own template is not rendered.
type Catalog struct {
	Path           string
	Platform       string
	Before, After  *graph.Catalog
	Rendered       bool
	Reused, Pulled int

	begun    bool             // it did not stand
	differed []string         // from its template before
	skips    kind.SemverSkips // with which its template makes the edges that stand there; empty: as it is rendered
	standing *graph.Catalog   // what the template made before
	before   []fbc.Doc
	planned  plan.Catalog
	whole    *graph.Catalog // After for the explorer
}

// Changed are the paths of the files that differ, in order.
func (w *Work) Changed() []string { return w.change.Names() }

// File is a changed file before and after.
func (w *Work) File(name string) atomicfile.Pending {
	p, _ := w.change.Get(name)
	return p
}

// Unchanged says why nothing changes.
func (w *Work) Unchanged() string {
	switch {
	case len(w.unserved) > 0:
		return strings.Join(w.unserved, ", ") + " is not in the registry"
	case len(w.nowhere) == 0:
		return newest(w.subjects).unchanged()
	}
	text := strings.Join(w.nowhere, ", ") + " goes into no template"
	if len(w.LeftOut) > 0 {
		text += ": " + w.LeftOut[0].Template + " is left out: " + w.LeftOut[0].Reason
	}
	if n := len(w.LeftOut) - 1; n > 0 {
		text += fmt.Sprintf(" (and %d more)", n)
	}
	return text
}

func (w *Work) target(template string) *Target {
	i := slices.IndexFunc(w.Targets, func(t Target) bool { return t.Template == template })
	if i < 0 {
		i = len(w.Targets)
		w.Targets = append(w.Targets, Target{Template: template})
	}
	return &w.Targets[i]
}

// preparation makes a Work: it inserts, renders and verifies upon the content of a repository.
type preparation struct {
	*publisher
	*Work
	base    Base
	files   *template.Files // with what is changed
	several bool            // subjects, so that texts say which one is meant
	// catalogs are those that bundles go to, by template.
	catalogs map[string][]plan.Catalog
	// semverSkips are what is said of them, by template.
	semverSkips map[string]kind.SemverSkips
	// anew are the images that are rendered as they are now, whatever catalogs hold.
	anew map[string]bool
	// givenUp are the bundles in whose place others come.
	givenUp map[string]bool
	// seen are the bundles of catalogs that were rendered.
	seen  render.Seen
	users users
	lines lines
	// meant are findings that somebody asked for: they are warnings.
	meant   []func(graph.Finding) bool
	fetched []fbc.Doc // bundles that were rendered in memory
	sum     *render.Sum
	sumFile string
	after   plan.AfterSetup
	// operators are those of the community catalogs that bundles go to.
	operators []plan.Community
}

// prepare is a function of the content and of the subjects, so that it can be done again upon
// another base. The order of the subjects does not matter.
func (p *publisher) prepare(ctx context.Context, base Base, subjects []subject) (*Work, error) {
	w := &Work{change: atomicfile.Change{Base: base}, remote: base.Commit != "", base: p.OtherBase}
	one := &preparation{publisher: p, Work: w, base: base, files: base.over(&w.change), several: len(subjects) > 1, catalogs: map[string][]plan.Catalog{}, semverSkips: map[string]kind.SemverSkips{}, anew: map[string]bool{}, givenUp: map[string]bool{}, seen: render.Seen{}, users: newUsers()}
	subjects = inOrder(subjects)
	var errs []error
	for i, s := range subjects {
		edited, err := s.edit(ctx, one)
		if s.request().Swept != nil && failure.Is(err, failure.BundleConflict) {
			return p.without(ctx, base, subjects, i, err)
		}
		if edited != nil {
			w.subjects = append(w.subjects, edited)
		}
		errs = append(errs, err)
	}
	if err := errors.Join(append(errs, one.someArePublished())...); err != nil {
		return nil, err
	}
	if len(w.subjects) == 0 {
		w.subjects = subjects // what is rendered now was inserted before
	}
	for _, step := range []func(context.Context) error{one.render, one.runAfter, one.verify} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	if err := one.community(ctx); err != nil {
		return nil, err
	}
	return w, one.findings()
}

// without prepares a change without a bundle that a sweep found, and that stands there as another
// build: it does not hold up the others, and nobody asked for it.
func (p *publisher) without(ctx context.Context, base Base, subjects []subject, i int, why error) (w *Work, err error) {
	rest := slices.Delete(slices.Clone(subjects), i, i+1)
	if len(rest) == 0 {
		w = &Work{change: atomicfile.Change{Base: base}, subjects: subjects}
	} else if w, err = p.prepare(ctx, base, rest); err != nil {
		return nil, err
	}
	w.Warnings = append(w.Warnings, "passed over: "+failure.Of(why).Error())
	return w, nil
}

// render makes the catalogs of all templates, and the manifests that name them.
func (p *preparation) render(ctx context.Context) error {
	var errs []error
	total, n := p.countCatalogs(), 0
	if total > 0 {
		p.Step("rendering " + count(total, "catalog"))
	}
	for i := range p.Targets {
		t := &p.Targets[i]
		for _, c := range p.catalogs[t.Template] {
			n++
			p.Part("rendering "+c.Path, n, total)
			made, err := p.catalog(ctx, t.Template, c)
			errs = append(errs, err)
			if err == nil {
				t.Catalogs = append(t.Catalogs, *made)
			}
		}
		errs = append(errs, p.inMemory(ctx, t))
	}
	errs = append(errs, p.catalogSources(ctx))
	return errors.Join(append(errs, p.writeSum())...)
}

func (p *preparation) countCatalogs() (n int) {
	for _, t := range p.Targets {
		n += len(p.catalogs[t.Template])
	}
	return n
}

func (p *preparation) findings() error {
	graph.Sort(p.Findings)
	p.Findings = slices.CompactFunc(p.Findings, func(a, b graph.Finding) bool {
		return a.ID == b.ID && a.File == b.File && a.Line == b.Line && a.Message == b.Message
	})
	errs := p.refuseSwitch()
	if p.RefuseDrift {
		errs = append(errs, p.refuseDrift()...)
	}
	for _, f := range graph.Failures(p.Findings) {
		errs = append(errs, f)
	}
	return errors.Join(errs...)
}

// rendered adds the catalogs of a target to those that other bundles brought. A catalog that is
// its own template is one of them.
func (p *preparation) rendered(t plan.Target) {
	p.semverSkips[t.Template] = t.SemverSkips
	catalogs := t.Catalogs
	if template.Traits(t.Kind).IsCatalog && len(catalogs) == 0 {
		catalogs = []plan.Catalog{{Path: t.Template}}
	}
	if platform, ok := plan.PlatformOf(t.Template); ok && len(t.Catalogs) == 0 && len(catalogs) > 0 {
		catalogs[0].Platform = &platform
	}
	for _, c := range catalogs {
		list := p.catalogs[t.Template]
		if !slices.ContainsFunc(list, func(o plan.Catalog) bool { return o.Path == c.Path }) {
			p.catalogs[t.Template] = append(list, c)
		}
	}
}

// take takes the files of an edit.
func (p *preparation) take(files []kind.Written) {
	for _, f := range files {
		if f.Gone {
			p.change.Remove(f.Path, f.Before)
			continue
		}
		p.change.Set(f.Path, f.Before, f.After, f.New)
	}
}

// write puts a file into the change.
func (p *preparation) write(name string, after []byte) error {
	before, err := p.files.ReadFile(name)
	isNew := errors.Is(err, fs.ErrNotExist)
	if err != nil && !isNew {
		return failure.New(failure.EditRefused, "reading %s: %w", name, err).At(name, 0, 0)
	}
	p.change.Set(name, before, after, isNew)
	return nil
}
