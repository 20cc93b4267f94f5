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
func (p *publisher) catalog(ctx context.Context, w *Work, from string, c planned) (*Catalog, error) {
	out := &Catalog{Path: c.Path, Rendered: !c.raw}
	if c.Platform != nil {
		out.Platform = c.Platform.String()
	}
	if c.raw {
		return out, p.verifyRaw(w, out)
	}
	before, stands, err := readCatalog(&w.change, c.Path)
	if err != nil {
		return nil, err
	}
	text, err := p.render(ctx, w, from, c, before, out)
	if err != nil {
		return nil, err
	}
	if err := w.write(c.Path, text, stands); err != nil {
		return nil, err
	}
	docs, err := fbc.Read(c.Path, text)
	if err != nil {
		return nil, err
	}
	p.verify(w, out, before, docs)
	return out, nil
}

// render makes a catalog's text upon the documents that stand there.
func (p *publisher) render(ctx context.Context, w *Work, from string, c planned, before []fbc.Doc, out *Catalog) ([]byte, error) {
	tmpl, err := template.Open(&w.change, from, from)
	if err != nil {
		return nil, err
	}
	if c.Name != "" {
		tmpl.Source.Catalogs = []string{c.Name}
	}
	o := render.Options{
		Registry: w.registry, Format: c.Format, Metadata: c.Metadata, Base: render.NewBase(before), Jobs: p.Jobs, Cache: p.Cache, Progress: p.Progress,
	}
	if w.sum != nil {
		o.Sum = w.sum.Clone()
	}
	result, err := render.Render(ctx, template.Expansion{Template: tmpl}, o)
	if err != nil {
		return nil, err
	}
	if w.sum != nil {
		w.sum.Add(o.Sum)
	}
	out.Reused, out.Pulled = result.Reused, result.Pulled
	var text bytes.Buffer
	err = result.Write(&text)
	return text.Bytes(), err
}

func (w *Work) write(path string, after []byte, stands bool) error {
	var before []byte
	if stands {
		var err error
		if before, err = fs.ReadFile(&w.change, path); err != nil {
			return failure.New(failure.EditRefused, "reading %s: %w", path, err).At(path, 0, 0)
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

// verifyRaw verifies a catalog that is its own template, a file or a directory of files.
func (p *publisher) verifyRaw(w *Work, out *Catalog) error {
	read := func(fsys fs.FS) ([]fbc.Doc, error) {
		info, err := fs.Stat(fsys, out.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil
		case err != nil:
			return nil, failure.New(failure.EditRefused, "reading the catalog %s: %w", out.Path, err).At(out.Path, 0, 0)
		case info.IsDir():
			return fbc.ReadFS(fsys, out.Path)
		}
		src, err := fs.ReadFile(fsys, out.Path)
		if err != nil {
			return nil, failure.New(failure.EditRefused, "reading the catalog %s: %w", out.Path, err).At(out.Path, 0, 0)
		}
		return fbc.Read(out.Path, src)
	}
	before, err := read(w.change.Base)
	if err != nil {
		return err
	}
	after, err := read(&w.change)
	if err != nil {
		return err
	}
	p.verify(w, out, before, after)
	return nil
}

func (p *publisher) verify(w *Work, out *Catalog, before, after []fbc.Doc) {
	old := graph.Builder{Light: true}
	old.Add(before)
	out.Before = old.Catalog()
	now := graph.Builder{Known: out.Before}
	now.Add(after)
	out.After = now.Catalog()
	w.Findings = append(w.Findings, graph.Verify(out.After, out.Before, p.Levels)...)
	if len(before) > 0 {
		w.Findings = append(w.Findings, graph.CompareBase(out.Before, out.After, p.Levels)...)
	}
}

// useSum reads the repository's catalog.sum, where it keeps one.
func (w *Work) useSum(file string) error {
	if file == "" || w.sum != nil {
		return nil
	}
	text, err := fs.ReadFile(w.change.Base, file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failure.New(failure.Config, "reading the sum: %w", err).At(file, 0, 0).Fix("Name a file.")
	}
	w.sumFile = file
	w.sum, err = render.ParseSum(file, text)
	return err
}

func (w *Work) writeSum() error {
	if w.sum == nil {
		return nil
	}
	_, err := fs.Stat(w.change.Base, w.sumFile)
	return w.write(w.sumFile, w.sum.Text(), err == nil)
}
