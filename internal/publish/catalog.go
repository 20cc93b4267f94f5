package publish

import (
	"bytes"
	"context"
	"errors"
	"io/fs"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/render"
	"github.com/olmgraft/graft/internal/template"
)

// catalog makes one catalog and holds it against the one that stands there.
func (p *preparation) catalog(ctx context.Context, from string, c plannedCatalog) (*Catalog, error) {
	out := &Catalog{Path: c.Path, Rendered: !c.raw}
	if c.Platform != nil {
		out.Platform = c.Platform.String()
	}
	if c.raw {
		return out, p.verifyRaw(out)
	}
	before, stands, err := readCatalog(&p.change, c.Path)
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
	docs, err := fbc.Read(c.Path, text)
	if err != nil {
		return nil, err
	}
	p.verify(out, before, docs)
	return out, nil
}

// renderCatalog makes a catalog's text upon the documents that stand there.
func (p *preparation) renderCatalog(ctx context.Context, from string, c plannedCatalog, before []fbc.Doc, out *Catalog) ([]byte, error) {
	tmpl, err := template.Open(&p.change, from, from)
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
	result, err := render.Render(ctx, template.Expansion{Template: tmpl}, o)
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

// readCatalog reads a catalog that may not stand there yet. One that cannot be read is
// rendered as if it did not: what it holds is of no use.
func readCatalog(fsys fs.FS, path string) (docs []fbc.Doc, stands bool, err error) {
	src, err := fs.ReadFile(fsys, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, unreadable(path, err).Fix("Name the catalog's file, not its directory.")
	}
	docs, err = fbc.Read(path, src)
	if err != nil {
		return nil, true, nil //nolint:nilerr // see above
	}
	return docs, true, nil
}

// verifyRaw verifies a catalog that is its own template, a file or a directory of files.
func (p *preparation) verifyRaw(out *Catalog) error {
	read := func(fsys fs.FS) ([]fbc.Doc, error) {
		info, err := fs.Stat(fsys, out.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil
		case err != nil:
			return nil, unreadable(out.Path, err)
		case info.IsDir():
			return fbc.ReadFS(fsys, out.Path)
		}
		src, err := fs.ReadFile(fsys, out.Path)
		if err != nil {
			return nil, unreadable(out.Path, err)
		}
		return fbc.Read(out.Path, src)
	}
	before, err := read(p.change.Base)
	if err != nil {
		return err
	}
	after, err := read(&p.change)
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
	text, err := fs.ReadFile(p.change.Base, file)
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
	_, err := fs.Stat(p.change.Base, p.sumFile)
	return p.write(p.sumFile, p.sum.Text(), err == nil)
}
