package publish

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/atomicfile"
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

	items    []item   // whose bundles the change adds
	nowhere  []string // bundles that go into no template
	unserved []string // catalog images that manifests name by digest, and the registry has no more
	change   atomicfile.Change
	registry render.Registry
	sum      *render.Sum
	sumFile  string
}

// Target is what becomes of one template and its catalogs.
type Target struct {
	Template string
	Changes  []kind.Change
	Notes    []string
	Catalogs []Catalog

	entries bool // of operands, or a CatalogSource: no graph changes
}

// Catalog is a catalog as it becomes, beside the one that stands there. A catalog that is
// its own template is not rendered.
type Catalog struct {
	Path           string
	Platform       string
	Before, After  *graph.Catalog
	Rendered       bool
	Reused, Pulled int
}

// Changed are the paths of the files that differ, in order.
func (w *Work) Changed() []string { return w.change.Names() }

// File is a changed file's content before and after.
func (w *Work) File(name string) (before, after []byte) {
	p, _ := w.change.Get(name)
	return p.Before, p.After
}

// Nowhere says why nothing changes.
func (w *Work) Nowhere() string {
	switch {
	case len(w.unserved) > 0:
		return strings.Join(w.unserved, ", ") + " is not in the registry"
	case onlyImages(w.items):
		return "the CatalogSources are as they should be"
	case len(w.nowhere) == 0:
		return "every catalog has it already"
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

// prepare inserts, renders and verifies upon the content of a repository. It is a function
// of that content and of the requests, so that it can be done again upon another base. The
// order of the requests does not matter.
func (p *publisher) prepare(ctx context.Context, base fs.FS, items []item) (*Work, error) {
	w := &Work{change: atomicfile.Change{Base: base}, registry: p.pinned(items)}
	items = byVersion(items)
	catalogs := map[string][]planned{}
	var errs []error
	for _, it := range items {
		switch {
		case it.catalogImage:
			errs = append(errs, p.point(ctx, w, it))
		case it.operand != nil:
			errs = append(errs, p.enter(w, it))
		default:
			errs = append(errs, p.insertAll(w, it, len(items) > 1, catalogs))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if len(w.items) == 0 {
		w.items = items // what is rendered now was inserted before
	}
	for i := range w.Targets {
		t := &w.Targets[i]
		for _, c := range catalogs[t.Template] {
			made, err := p.catalog(ctx, w, t.Template, c)
			errs = append(errs, err)
			if err == nil {
				t.Catalogs = append(t.Catalogs, *made)
			}
		}
	}
	errs = append(errs, p.catalogSources(ctx, w, catalogs))
	if err := errors.Join(append(errs, w.writeSum())...); err != nil {
		return nil, err
	}
	graph.Sort(w.Findings)
	w.Findings = slices.CompactFunc(w.Findings, func(a, b graph.Finding) bool {
		return a.ID == b.ID && a.File == b.File && a.Line == b.Line && a.Message == b.Message
	})
	for _, f := range graph.Failures(w.Findings) {
		errs = append(errs, f)
	}
	return w, errors.Join(errs...)
}

// planned is a catalog that one or several bundles of the change go to.
type planned struct {
	plan.Catalog
	raw bool // it is the template itself
}

// insertAll puts one bundle into all of its templates. Each bundle is planned upon what
// those before it left.
func (p *publisher) insertAll(w *Work, it item, several bool, catalogs map[string][]planned) error {
	in := it.input
	var err error
	if in.Setup, err = p.Setup(w.change.Base, in.Bundle); err != nil {
		return err
	}
	made, err := plan.Make(&w.change, in)
	if err != nil {
		return err
	}
	if err := w.useSum(in.Setup.Sum); err != nil {
		return err
	}
	if w.sum != nil {
		if err := w.sum.Check(made.Bundle.Image, it.Digest); err != nil {
			return err
		}
	}
	w.add(made, several)
	if len(made.Targets) == 0 {
		w.nowhere = append(w.nowhere, in.Bundle.Name)
	}
	added := false
	for _, t := range made.Targets {
		p.log("%s: %s", in.Bundle.Name, t.Template)
		changes, err := p.insertInto(w, t, several, in.Bundle.Name)
		if err != nil {
			return err
		}
		added = added || len(changes) > 0
		catalogs[t.Template] = join(catalogs[t.Template], t)
	}
	if added {
		it.input.Bundle = made.Bundle
		w.items = append(w.items, it)
	}
	return nil
}

// add takes what a plan has to say. Of several bundles it is said which one is meant.
func (w *Work) add(made *plan.Plan, several bool) {
	about := func(text string) string {
		if several {
			return made.Bundle.Name + ": " + text
		}
		return text
	}
	for _, left := range made.LeftOut {
		left.Reason = about(left.Reason)
		w.LeftOut = append(w.LeftOut, left)
	}
	for _, reason := range made.Reasons {
		w.Reasons = append(w.Reasons, about(reason))
	}
	for _, warning := range made.Warnings {
		w.Warnings = kind.Unique(append(w.Warnings, about(warning)))
	}
}

// join adds the catalogs of a target to those that other bundles brought.
func join(list []planned, t plan.Target) []planned {
	add := func(c planned) {
		if !slices.ContainsFunc(list, func(o planned) bool { return o.Path == c.Path }) {
			list = append(list, c)
		}
	}
	if template.Traits(t.Kind).IsCatalog && len(t.Catalogs) == 0 {
		add(planned{plan.Catalog{Path: t.Template}, true})
	}
	for _, c := range t.Catalogs {
		add(planned{c, false})
	}
	return list
}

func (w *Work) target(template string) *Target {
	i := slices.IndexFunc(w.Targets, func(t Target) bool { return t.Template == template })
	if i < 0 {
		i = len(w.Targets)
		w.Targets = append(w.Targets, Target{Template: template})
	}
	return &w.Targets[i]
}

func (p *publisher) insertInto(w *Work, t plan.Target, several bool, name string) ([]kind.Change, error) {
	out := w.target(t.Template)
	note := func(text string) {
		if several {
			text = name + ": " + text
		}
		out.Notes = kind.Unique(append(out.Notes, text))
	}
	for _, reason := range t.Reasons {
		note(reason)
	}
	for _, c := range t.Catalogs {
		for _, reason := range c.Reasons {
			out.Notes = kind.Unique(append(out.Notes, c.Path+": "+reason))
		}
	}
	var changes []kind.Change
	for _, request := range t.Requests {
		create := ""
		if t.Create {
			create = t.Kind
		}
		o, err := template.Insert(&w.change, t.Template, t.Template, create, t.Names, request)
		if err != nil {
			return nil, err
		}
		for _, f := range o.Files {
			w.change.Set(f.Path, f.Before, f.After, f.New)
		}
		changes = append(changes, o.Changes...)
		for _, n := range o.Notes {
			note(n)
		}
	}
	out.Changes = append(out.Changes, changes...)
	return changes, nil
}
