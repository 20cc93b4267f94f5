package publish

import (
	"bytes"
	"context"
	"errors"
	"io/fs"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/render"
	"github.com/olmgraft/graft/internal/template"
)

// catalog makes one catalog and holds it against the one that stands there.
func (p *preparation) catalog(ctx context.Context, from string, c plan.Catalog) (*Catalog, error) {
	out := &Catalog{Path: c.Path, Rendered: c.Path != from}
	if c.Platform != nil {
		out.Platform = c.Platform.String()
	}
	if !out.Rendered {
		return out, p.verifyRaw(out)
	}
	before, stands, err := p.standing(c.Path)
	if err != nil {
		return nil, err
	}
	text, err := p.renderCatalog(ctx, from, c, before, out)
	if err != nil {
		return nil, err
	}
	if err := p.write(c.Path, text, stands); err != nil {
		return nil, err
	}
	after, err := p.files.Catalog(c.Path)
	if err != nil {
		return nil, err
	}
	p.verify(out, before, after)
	return out, nil
}

// renderCatalog makes a catalog's text upon the documents that stand there.
func (p *preparation) renderCatalog(ctx context.Context, from string, c plan.Catalog, before []fbc.Doc, out *Catalog) ([]byte, error) {
	tmpl, err := template.Open(p.files, from, from)
	if err != nil {
		return nil, err
	}
	if c.Name != "" {
		tmpl.Source.Catalogs = []string{c.Name}
	}
	o := render.Options{
		Registry: pinned{p.Registry, p.pulled}, Format: c.Format, Metadata: c.Metadata, Base: render.NewBase(before), Jobs: p.Jobs, Cache: p.Cache, Progress: p.Progress,
	}
	if p.sum != nil {
		o.Sum = p.sum.Clone()
	}
	result, err := render.Render(ctx, tmpl, o)
	if err != nil {
		return nil, err
	}
	if p.sum != nil {
		p.sum.Add(o.Sum)
	}
	out.Reused, out.Pulled = result.Reused, result.Pulled
	var text bytes.Buffer
	err = result.Write(&text)
	return text.Bytes(), err
}

func unreadable(name string, err error) *failure.Error {
	return failure.New(failure.EditRefused, "reading the catalog %s: %w", name, err).At(name, 0, 0)
}

// standing reads a catalog that may not stand there yet. One that cannot be read is
// rendered as if it did not: what it holds is of no use.
func (p *preparation) standing(name string) (docs []fbc.Doc, stands bool, err error) {
	_, err = p.files.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, unreadable(name, err).Fix("Name the catalog's file, not its directory.")
	}
	docs, err = p.files.Catalog(name)
	if err != nil {
		return nil, true, nil //nolint:nilerr // see above
	}
	return docs, true, nil
}

// verifyRaw verifies a catalog that is its own template, a file or a directory of files.
func (p *preparation) verifyRaw(out *Catalog) error {
	read := func(files *template.Files) ([]fbc.Doc, error) {
		info, err := fs.Stat(files, out.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil
		case err != nil:
			return nil, unreadable(out.Path, err)
		case info.IsDir():
			return fbc.ReadFS(files, out.Path)
		}
		if _, err := files.ReadFile(out.Path); err != nil {
			return nil, unreadable(out.Path, err)
		}
		return files.Catalog(out.Path)
	}
	before, err := read(p.base.Files)
	if err != nil {
		return err
	}
	after, err := read(p.files)
	if err != nil {
		return err
	}
	p.verify(out, before, after)
	return nil
}

func (p *preparation) verify(out *Catalog, before, after []fbc.Doc) {
	old := graph.Builder{Light: true}
	old.Add(before)
	out.Before = old.Catalog()
	now := graph.Builder{Known: out.Before}
	now.Add(after)
	out.After = now.Catalog()
	p.Findings = append(p.Findings, graph.Verify(out.After, out.Before, p.Levels)...)
	if len(before) > 0 {
		p.Findings = append(p.Findings, graph.CompareBase(out.Before, out.After, p.Levels)...)
	}
}

// useSum reads the repository's catalog.sum, where it keeps one.
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
	_, err := fs.Stat(p.base, p.sumFile)
	return p.write(p.sumFile, p.sum.Text(), err == nil)
}
