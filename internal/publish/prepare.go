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

// Work is the result of preparing a change, before anything is written.
type Work struct {
	Targets []Target
	// LeftOut are templates and catalogs that do not get the bundles.
	LeftOut  []plan.LeftOut
	Reasons  []string
	Warnings []string
	// Findings are the findings in all catalogs.
	Findings []graph.Finding

	subjects   []subject // with changes; all if nothing changes
	nowhere    []string  // bundles for no template
	unserved   []string  // catalog images that manifests name by digest and the registry no longer has
	ran        []string  // files changed by the repository's commands
	byHand     string    // why a person must merge
	skewBefore []skewBefore
	remote     bool   // based on a commit of the base branch rather than on a work tree
	base       string // the base branch, unless it is the default branch
	levels     graph.Levels
	// flags are those of the run that requests lack.
	flags []string
	// artifacts is the place of the explorer, or "".
	artifacts string
	change    atomicfile.Change
}

// Target is the result for one template and its catalogs.
type Target struct {
	Template string
	Changes  []kind.Change
	Notes    []string
	Catalogs []Catalog

	archetypes bool     // its channels are archetypes
	inMemory   *Catalog // verified and not stored
	unverified string   // why it is not verified
	entries    bool     // operands or a CatalogSource: no graph changes
}

func (t *Target) note(text string) { t.Notes = kind.Unique(append(t.Notes, text)) }

// Catalog is a new catalog with the present one. A catalog that is its own template is not rendered.
type Catalog struct {
	Path           string
	Platform       string
	Before, After  *graph.Catalog
	Rendered       bool
	Reused, Pulled int

	begun    bool             // new
	differed []string         // from its template before the change
	skips    kind.SemverSkips // the rule that gives the present edges; empty: as rendered
	standing *graph.Catalog   // from the old template
	before   []fbc.Doc
	planned  plan.Catalog
	whole    *graph.Catalog // After, for the explorer
}

// Changed returns the paths of the changed files, in order.
func (w *Work) Changed() []string { return w.change.Names() }

// File returns a changed file before and after.
func (w *Work) File(name string) atomicfile.Pending {
	p, _ := w.change.Get(name)
	return p
}

// Unchanged returns why nothing changes.
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

// preparation makes a Work: it inserts, renders and verifies on the content of a repository.
type preparation struct {
	*publisher
	*Work
	base    Base
	files   *template.Files // with the changes
	several bool            // whether texts must name their subject
	// catalogs are the catalogs of the bundles, by template.
	catalogs map[string][]plan.Catalog
	// semverSkips are the configured values, by template.
	semverSkips map[string]kind.SemverSkips
	// anew are the images to render again whatever the catalogs have.
	anew map[string]bool
	// givenUp are the replaced bundles.
	givenUp map[string]bool
	// seen are the bundles of rendered catalogs.
	seen  render.Seen
	users users
	lines lines
	// meant selects findings that the request asked for: they become warnings.
	meant   []func(graph.Finding) bool
	fetched []fbc.Doc // rendered in memory
	sum     *render.Sum
	sumFile string
	after   plan.AfterSetup
	// operators are the bundles' operators in community catalogs.
	operators []plan.Community
}

// prepare depends only on the content and the subjects, so that it can be repeated on another base. The order
// of the subjects does not matter.
func (p *publisher) prepare(ctx context.Context, base Base, subjects []subject) (*Work, error) {
	w := &Work{change: atomicfile.Change{Base: base}, remote: base.Commit != "", base: p.OtherBase, flags: p.Flags}
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
		w.subjects = subjects // rendered bundles were inserted earlier
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

// without prepares a change without a bundle from a sweep whose name is there with another build: no one
// requested it, and it must not delay the others.
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

// render renders the catalogs of all templates, and the manifests that name them.
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

// rendered adds the catalogs of a target to those of other bundles. A catalog that is its own template counts too.
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

// take adds the files of an edit.
func (p *preparation) take(files []kind.Written) {
	for _, f := range files {
		if f.Gone {
			p.change.Remove(f.Path, f.Before)
			continue
		}
		p.change.Set(f.Path, f.Before, f.After, f.New)
	}
}

// write adds a file to the change.
func (p *preparation) write(name string, after []byte) error {
	before, err := p.files.ReadFile(name)
	isNew := errors.Is(err, fs.ErrNotExist)
	if err != nil && !isNew {
		return failure.New(failure.EditRefused, "reading %s: %w", name, err).At(name, 0, 0)
	}
	p.change.Set(name, before, after, isNew)
	return nil
}
