// Package catalogs reads and verifies what a person names as a catalog on the command line.
package catalogs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"github.com/olmgraft/graft/internal/cli/files"
	"github.com/olmgraft/graft/internal/cli/output"
	"github.com/olmgraft/graft/internal/cli/registry"
	"github.com/olmgraft/graft/internal/event"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/oci"
	"github.com/olmgraft/graft/internal/render"
	"github.com/olmgraft/graft/internal/template"
)

// Reader reads what a person names as a catalog: a file, a directory, - for
// standard input, a catalog image of a registry or on the disk, or a template, which is
// rendered first.
type Reader struct {
	registry.Options
	In          io.Reader
	Err         io.Writer // takes what a template leaves out of its catalog; nil: nobody does
	SemverSkips string    // with which templates are rendered; empty: graft.yaml says
	Progress    *output.Progress
}

// Flags are those of the registry, and of rendering.
func (c *Reader) Flags(f *pflag.FlagSet) {
	c.Options.Flags(f)
	SkipsFlag(f, &c.SemverSkips)
}

// Docs are the documents of the catalog. A template need not be made of documents of a catalog:
// one of goodstuff is none.
func (c *Reader) Docs(ctx context.Context, name string) ([]fbc.Doc, error) {
	docs, err := c.AsItStands(ctx, name)
	if IsImage(name) || err == nil && !isTemplate(docs) {
		return docs, err
	}
	t, otherwise := files.OpenTemplate(c.In, name)
	switch {
	case err == nil && otherwise != nil:
		return nil, otherwise
	case err != nil && (otherwise != nil || t.Kind.Traits().IsCatalog):
		return docs, err
	}
	return c.rendered(ctx, t)
}

// AsItStands are the documents of a catalog, and of a template those that are written there.
func (c *Reader) AsItStands(ctx context.Context, name string) ([]fbc.Doc, error) {
	if IsImage(name) {
		return c.pulled(ctx, name)
	}
	return c.load(name)
}

// IsImage tells a catalog image from the files of a catalog: an OCI layout or a tarball
// stands there, or nothing does and it names a registry and a tag or digest.
func IsImage(name string) bool {
	if _, err := os.Stat(name); err == nil || name == "-" {
		return oci.OnDisk(name)
	}
	p, err := event.ParseReference(name)
	return err == nil && (p.Tag != "" || p.Digest != "")
}

// pulled are the documents of a catalog image.
func (c *Reader) pulled(ctx context.Context, image string) ([]fbc.Doc, error) {
	client, err := c.Client()
	if err != nil {
		return nil, err
	}
	p, err := client.Catalog(ctx, image)
	if err != nil {
		return nil, err
	}
	docs, err := fbc.ReadMap(p.Files)
	for i := range docs {
		docs[i].File = image + p.Dir + "/" + docs[i].File
	}
	for _, fault := range failure.All(err) {
		fault.File = image + p.Dir + "/" + fault.File
	}
	return docs, err
}

// looks tell a template from a catalog, by its first document, or by bundles that are left to be
// rendered.
type looks struct {
	first          string // schema
	bundles, named bool   // there are some, one of them with a package or a name
}

func (l *looks) add(d *fbc.Doc) {
	if l.first == "" {
		l.first = d.Schema
	}
	if d.Schema == fbc.SchemaBundle {
		l.bundles, l.named = true, l.named || d.Package != "" || d.Name != ""
	}
}

func (l *looks) template() bool { return template.IsSchema(l.first) || l.bundles && !l.named }

func isTemplate(docs []fbc.Doc) bool {
	var l looks
	for i := range docs {
		l.add(&docs[i])
	}
	return l.template()
}

func (c *Reader) rendered(ctx context.Context, t *template.Template) ([]fbc.Doc, error) {
	if err := SetSkips(t, c.SemverSkips); err != nil {
		return nil, err
	}
	client, err := c.Client()
	if err != nil {
		return nil, err
	}
	r, err := render.Render(ctx, t, render.Options{Registry: client, Jobs: c.Jobs, Progress: c.Progress.Step})
	if err != nil {
		return nil, err
	}
	for _, n := range r.Catalog.Notes {
		if c.Err != nil {
			fmt.Fprintf(c.Err, "graft: %s: warning: %s\n", t.Source.Name, n)
		}
	}
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		return nil, err
	}
	// Lines are those of what was rendered: the template's own name would lead to others.
	return fbc.Read(t.Source.Name+" (rendered)", b.Bytes())
}

// Graph is the upgrade view of the catalog. What cannot be read is a failure.
func (c *Reader) Graph(ctx context.Context, name string) (*graph.Catalog, error) {
	return c.graph(ctx, name, &graph.Builder{Light: true})
}

// Whole is Graph with all that findings and paths go by.
func (c *Reader) Whole(ctx context.Context, name string) (*graph.Catalog, error) {
	return c.graph(ctx, name, &graph.Builder{})
}

func (c *Reader) graph(ctx context.Context, name string, b *graph.Builder) (*graph.Catalog, error) {
	c.Progress.Begin("reading %s", name)
	defer c.Progress.End()
	var faults []error
	if err := c.build(ctx, name, b, func(err error) { faults = append(faults, err) }); err != nil {
		return nil, err
	}
	return b.Catalog(), errors.Join(faults...)
}

// build reads the catalog file by file, and a file package by package. What cannot be read is
// told to fault; a catalog that is not there is a failure.
func (c *Reader) build(ctx context.Context, name string, b *graph.Builder, fault func(error)) error {
	if info, err := os.Stat(name); err != nil || !info.IsDir() || oci.OnDisk(name) {
		x, err := c.index(ctx, name)
		if err != nil {
			return err
		}
		for _, err := range x.faults {
			fault(err)
		}
		for _, pkg := range slices.Sorted(maps.Keys(x.packages)) {
			docs, err := x.read([]string{pkg})
			if err != nil {
				return err
			}
			b.Add(docs)
		}
		return nil
	}
	// One file is indexed while the one before it is looked at.
	read := make(chan readFile, 2)
	var walked error
	go func() {
		walked = fbc.WalkFS(os.DirFS(name), ".", func(docs []fbc.Doc, err error) error {
			read <- readFile{docs, err}
			return nil
		})
		close(read)
	}()
	for f := range read {
		for i := range f.docs {
			f.docs[i].File = filepath.Join(name, f.docs[i].File)
		}
		for _, one := range failure.All(f.err) {
			one.File = filepath.Join(name, one.File)
			fault(one)
		}
		b.Add(f.docs)
	}
	return walked
}

// readFile is what one file of a catalog gave.
type readFile struct {
	docs []fbc.Doc
	err  error
}

// load reads the documents of a file or directory as they stand.
func (c *Reader) load(name string) ([]fbc.Doc, error) {
	if name == "-" {
		src, err := io.ReadAll(c.In)
		if err != nil {
			return nil, failure.New(failure.Usage, "reading standard input: %w", err)
		}
		c.In = bytes.NewReader(src) // a template is read again to be rendered
		return fbc.Read("standard input", src)
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, failure.New(failure.TemplateNotFound, "opening the catalog %s: there is no such file or directory", name).At(name, 0, 0).
			Fix("Correct the path.")
	}
	if info.IsDir() {
		docs, err := fbc.ReadFS(os.DirFS(name), ".")
		for i := range docs {
			docs[i].File = filepath.Join(name, docs[i].File)
		}
		return docs, err
	}
	src, err := os.ReadFile(name)
	if err != nil {
		return nil, failure.New(failure.TemplateNotFound, "reading the catalog %s: %w", name, err).At(name, 0, 0)
	}
	return fbc.Read(name, src)
}

// Files reads what opm would read of the directory of a catalog. Links that lead out of it are
// refused.
func Files(dir string) (map[string][]byte, error) {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() || oci.OnDisk(dir) {
		return nil, failure.New(failure.TemplateNotFound, "opening the catalog %s: it is no directory of a file-based catalog", dir).At(dir, 0, 0).
			Fix("Name the directory that holds the catalog's files.")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, failure.New(failure.TemplateNotFound, "opening the catalog: %w", err).At(dir, 0, 0)
	}
	defer root.Close()
	names, err := fbc.Files(root.FS(), ".")
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, name := range names {
		if files[name], err = fs.ReadFile(root.FS(), name); err != nil {
			return nil, failure.New(failure.TemplateMalformed, "reading the catalog: %w", err).At(dir+"/"+name, 0, 0).
				Fix("Make the file readable, or name it in .indexignore.")
		}
	}
	return files, nil
}
