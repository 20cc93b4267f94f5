package publish

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/olmgraft/graft/internal/atomicfile"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/render"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
)

// Work is what publishing one bundle comes to, before anything is written.
type Work struct {
	Bundle  kind.Bundle
	Plan    *plan.Plan
	Targets []Target
	// Findings are those of all catalogs, errors among them only where none of the
	// run's checks is an error.
	Findings []graph.Finding

	change atomicfile.Change
}

// Target is what becomes of one template and its catalogs.
type Target struct {
	Template string
	Changes  []kind.Change
	Notes    []string
	Catalogs []Catalog
}

// Catalog is a rendered catalog beside the one that stands there.
type Catalog struct {
	Path           string
	Platform       string
	Before, After  *graph.Catalog
	Reused, Pulled int
}

// Changed are the paths of the files that differ, in order.
func (w *Work) Changed() []string { return w.change.Names() }

// File is a changed file's content before and after.
func (w *Work) File(name string) (before, after []byte) {
	p, _ := w.change.Get(name)
	return p.Before, p.After
}

// prepare inserts, renders and verifies upon the content of a repository. It is a
// function of that content and of the request, so that it can be done again upon
// another base.
func (r *run) prepare(ctx context.Context, base fs.FS) (*Work, error) {
	in := r.input
	var err error
	if in.Setup, err = r.Setup(base, in.Bundle); err != nil {
		return nil, err
	}
	p, err := plan.Make(base, in)
	if err != nil {
		return nil, err
	}
	w := &Work{Bundle: p.Bundle, Plan: p, change: atomicfile.Change{Base: base}}
	var errs []error
	for _, t := range p.Targets {
		if err := r.target(ctx, w, t); err != nil {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	graph.Sort(w.Findings)
	for _, f := range graph.Failures(w.Findings) {
		errs = append(errs, f)
	}
	return w, errors.Join(errs...)
}

func (r *run) target(ctx context.Context, w *Work, t plan.Target) error {
	out := Target{Template: t.Template, Notes: slices.Clone(t.Reasons)}
	for _, c := range t.Catalogs {
		for _, reason := range c.Reasons {
			out.Notes = append(out.Notes, c.Path+": "+reason)
		}
	}
	r.log("%s", t.Template)
	for _, request := range t.Requests {
		o, err := r.insert(&w.change, t, request)
		if err != nil {
			return err
		}
		for _, f := range o.Files {
			w.change.Set(f.Path, f.Before, f.After, f.New)
		}
		out.Changes = append(out.Changes, o.Changes...)
		out.Notes = append(out.Notes, o.Notes...)
	}
	for _, c := range t.Catalogs {
		rendered, err := r.catalog(ctx, w, t, c)
		if err != nil {
			return err
		}
		out.Catalogs = append(out.Catalogs, *rendered)
	}
	w.Targets = append(w.Targets, out)
	return nil
}

func (r *run) insert(fsys fs.FS, t plan.Target, request kind.Request) (*kind.Outcome, error) {
	tmpl, err := template.Open(fsys, t.Template, t.Template)
	if failure.Is(err, failure.TemplateNotFound) && t.Create {
		text, err := template.Create(t.Kind, request)
		if err != nil {
			return nil, err
		}
		return &kind.Outcome{
			Files:   []kind.Written{{Path: t.Template, After: text, New: true}},
			Changes: []kind.Change{{What: kind.TemplateCreated, Name: request.Bundle.Name, To: t.Kind}},
		}, nil
	}
	if err != nil {
		return nil, err
	}
	tmpl.Source.Catalogs = t.Names
	return tmpl.Insert(request)
}

// expansion is a template as the renderer wants it.
type expansion struct{ *template.Template }

func (e expansion) Images(tags func(string) ([]string, error)) ([]string, error) {
	return e.Template.Images(tags)
}

func (e expansion) Expand(b render.Bundles, tags func(string) ([]string, error)) (*fbc.Catalog, error) {
	return e.Template.Expand(b, kind.Options{Tags: tags})
}

// catalog renders one catalog upon the one that stands there, and holds the two
// against each other.
func (r *run) catalog(ctx context.Context, w *Work, t plan.Target, c plan.Catalog) (*Catalog, error) {
	before, stands, err := readCatalog(&w.change, c.Path)
	if err != nil {
		return nil, err
	}
	tmpl, err := template.Open(&w.change, t.Template, t.Template)
	if err != nil {
		return nil, err
	}
	if c.Name != "" {
		tmpl.Source.Catalogs = []string{c.Name}
	}
	o := render.Options{
		Registry: r.Registry, Format: c.Format, Metadata: c.Metadata, Base: render.NewBase(before), Jobs: r.Jobs, Cache: r.Cache, Progress: r.Progress,
	}
	result, err := render.Render(ctx, expansion{tmpl}, o)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := result.Write(&text); err != nil {
		return nil, err
	}
	if err := r.write(w, c.Path, text.Bytes(), stands); err != nil {
		return nil, err
	}
	return r.verify(w, c, before, text.Bytes(), result)
}

func (r *run) write(w *Work, path string, after []byte, stands bool) error {
	var before []byte
	if stands {
		var err error
		if before, err = fs.ReadFile(&w.change, path); err != nil {
			return failure.New(failure.EditRefused, "reading the catalog %s: %w", path, err).At(path, 0, 0)
		}
	}
	w.change.Set(path, before, after, !stands)
	return nil
}

// readCatalog reads a catalog that may not stand there yet. One that cannot be read is
// rendered as if it did not: what it holds is of no use.
func readCatalog(fsys fs.FS, path string) (docs []fbc.Doc, stands bool, err error) {
	src, err := fs.ReadFile(fsys, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, failure.New(failure.EditRefused, "reading the catalog %s: %w", path, err).At(path, 0, 0).
			Fix("Name the catalog's file, not its directory.")
	}
	docs, err = fbc.Read(path, src)
	if err != nil {
		return nil, true, nil //nolint:nilerr // see above
	}
	return docs, true, nil
}

func (r *run) verify(w *Work, c plan.Catalog, before []fbc.Doc, text []byte, result *render.Result) (*Catalog, error) {
	docs, err := fbc.Read(c.Path, text)
	if err != nil {
		return nil, err
	}
	old := graph.Builder{Light: true}
	old.Add(before)
	out := &Catalog{Path: c.Path, Before: old.Catalog(), Reused: result.Reused, Pulled: result.Pulled}
	if c.Platform != nil {
		out.Platform = c.Platform.String()
	}
	now := graph.Builder{Known: out.Before}
	now.Add(docs)
	out.After = now.Catalog()
	w.Findings = append(w.Findings, graph.Verify(out.After, out.Before, r.Levels)...)
	if len(before) > 0 {
		w.Findings = append(w.Findings, graph.CompareBase(out.Before, out.After, r.Levels)...)
	}
	return out, nil
}
