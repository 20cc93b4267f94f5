package publish

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/render"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
)

// catalog makes one catalog. It does not render one that is its own template.
func (p *preparation) catalog(ctx context.Context, from string, c plan.Catalog) (*Catalog, error) {
	out := &Catalog{Path: c.Path, Rendered: c.Path != from, begun: c.New, planned: c}
	if c.Platform != nil {
		out.Platform = c.Platform.String()
	}
	standing := p.base.Files
	if out.Rendered {
		standing = p.files
	}
	var err error
	out.before, err = documents(standing, c.Path)
	if out.Rendered && (err == nil || !c.Folder) {
		// An unreadable catalog is rendered as if it were missing, because its content is useless.
		err = p.renderCatalog(ctx, from, c, out.before, out)
	}
	return out, err
}

// verify compares all new catalogs with the old ones and with each other.
func (p *preparation) verify(ctx context.Context) error {
	var errs []error
	total, n := p.countCatalogs(), 0
	if total > 0 {
		p.Step("verifying " + count(total, "catalog"))
	}
	for i := range p.Targets {
		t := &p.Targets[i]
		for j := range t.Catalogs {
			c := &t.Catalogs[j]
			n++
			p.Part("verifying "+c.Path, n, total)
			after, err := documents(p.files, c.Path)
			if errs = append(errs, err); err == nil {
				p.verifyCatalog(t.Template, c, after)
			}
			if err == nil && c.Rendered {
				p.drift(ctx, t.Template, c.planned, c.before, after, c)
			}
			c.before = nil
		}
	}
	p.skew()
	return errors.Join(errs...)
}

// documents returns the documents of a catalog file or folder, or none if it is missing.
func documents(files *template.Files, name string) ([]fbc.Doc, error) {
	info, err := fs.Stat(files, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err == nil && info.IsDir():
		return files.Catalog(name)
	case err == nil:
		_, err = files.ReadFile(name)
	}
	if err != nil {
		return nil, failure.New(failure.EditRefused, "reading the catalog %s: %w", name, err).At(name, 0, 0)
	}
	return files.Catalog(name)
}

// renderCatalog renders a catalog on top of its present documents.
func (p *preparation) renderCatalog(ctx context.Context, from string, c plan.Catalog, before []fbc.Doc, out *Catalog) error {
	o := render.Options{Registry: pinned{p.Registry, p.pulled}, Base: render.NewBase(p.reusable(before, c)), Cache: p.Cache, Progress: p.Progress}
	if p.sum != nil {
		o.Sum = p.sum.Clone()
		for image, anew := range p.anew {
			if anew {
				o.Sum.Forget(image)
			}
		}
	}
	result, err := p.rendering(ctx, p.files, from, c, o)
	if err != nil {
		return err
	}
	p.Warnings = kind.Unique(append(p.Warnings, result.Catalog.Notes...))
	if p.sum != nil {
		p.sum.Add(o.Sum)
	}
	out.Reused, out.Pulled = result.Reused, result.Pulled
	for _, image := range result.Repeated {
		p.Warnings = kind.Unique(append(p.Warnings, fmt.Sprintf("%s names the image %s more than once; its catalogs have it once", from, image)))
	}
	return p.writeCatalog(c, before, result)
}

// rendering renders a catalog from a template in the files.
func (p *preparation) rendering(ctx context.Context, files *template.Files, from string, c plan.Catalog, o render.Options) (*render.Result, error) {
	return p.renderingWith(ctx, p.semverSkips[from], files, from, c, o)
}

func (p *preparation) renderingWith(ctx context.Context, skips kind.SemverSkips, files *template.Files, from string, c plan.Catalog, o render.Options) (*render.Result, error) {
	tmpl, err := template.Open(files, from, from)
	if err != nil {
		return nil, err
	}
	tmpl.Source.SemverSkips = skips
	if c.Name != "" {
		tmpl.Source.Catalogs = []string{c.Name}
	}
	o.Format, o.Metadata, o.Rewrite, o.Jobs, o.Once, o.Seen = c.Format, c.Metadata, c.Rewrite, p.Jobs, true, p.seen
	p.cut(&o, tmpl, c)
	return render.Render(ctx, tmpl, o)
}

func (p *preparation) verifyCatalog(from string, out *Catalog, after []fbc.Doc) {
	old := graph.Builder{Light: true}
	old.Add(out.before)
	out.Before = old.Catalog()
	now := graph.Builder{Known: out.Before}
	now.Add(after)
	out.After = now.Catalog()
	p.explore(out, after)
	found := graph.Verify(out.After, out.Before, p.Levels)
	if len(out.before) > 0 {
		graph.MarkEarlier(found, out.Before, p.Levels)
		found = append(found, p.lost(out.Before, out.After)...)
	}
	p.Findings = append(p.Findings, found...)
	p.verifyForUsers(from, out.planned.Platform, out.After, found)
}

// lost returns findings about losses of a catalog's users, except losses of bundles that no user has.
func (p *preparation) lost(before, after *graph.Catalog) (found []graph.Finding) {
	for _, f := range graph.CompareBase(before, after, p.Levels) {
		if p.givenUp[f.Bundle] && len(f.Bundles) == 0 {
			continue // as the request says
		}
		found = append(found, p.asMeant(f))
	}
	return found
}

// asMeant makes a finding a warning if the request asked for it.
func (p *preparation) asMeant(f graph.Finding) graph.Finding {
	if slices.ContainsFunc(p.meant, func(meant func(graph.Finding) bool) bool { return meant(f) }) {
		f.Level = graph.Warning
	}
	return f
}

// useSum reads the repository's catalog.sum, if there is one.
func (p *preparation) useSum(file string) error {
	if file == "" || p.sum != nil {
		return nil
	}
	text, err := p.base.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failure.New(failure.Config, "reading the sum: %w", err).At(file, 0, 0).Fix("Name a file.")
	}
	p.sumFile = file
	p.sum, err = render.ParseSum(file, text)
	return err
}

func (p *preparation) writeSum() error {
	if p.sum == nil {
		return nil
	}
	return p.write(p.sumFile, p.sum.Text())
}
