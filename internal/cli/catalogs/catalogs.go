// Package catalogs reads and verifies the catalogs that the command line names.
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

// Reader reads a catalog from the command line: a file, a directory, - for standard input, a catalog image in a
// registry or on disk, or a template, which it renders first.
type Reader struct {
	registry.Options
	In          io.Reader
	Err         io.Writer // gets what a template leaves out of its catalog; may be nil
	SemverSkips string    // for rendering templates; empty: graft.yaml's
	Progress    *output.Progress
}

// Flags adds the flags of the registry and of rendering.
func (c *Reader) Flags(f *pflag.FlagSet) {
	c.Options.Flags(f)
	SkipsFlag(f, &c.SemverSkips)
}

// Docs returns the documents of the catalog. A template need not consist of a catalog's documents; one of
// goodstuff does not.
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

// AsItStands returns the documents of a catalog, or those written in a template.
func (c *Reader) AsItStands(ctx context.Context, name string) ([]fbc.Doc, error) {
	if IsImage(name) {
		return c.pulled(ctx, name)
	}
	return c.load(name)
}

// IsImage distinguishes a catalog image from a catalog's files: the path is an OCI layout or a tarball, or it
// does not exist and is a reference with a registry and a tag or digest.
func IsImage(name string) bool {
	if _, err := os.Stat(name); err == nil || name == "-" {
		return oci.OnDisk(name)
	}
	p, err := event.ParseReference(name)
	return err == nil && (p.Tag != "" || p.Digest != "")
}

// pulled returns the documents of a catalog image.
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

// looks distinguishes a template from a catalog by its first document, or by bundles without content.
type looks struct {
	first          string // schema
	bundles, named bool   // there are some; one has a package or a name
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
	for _, n := range append(t.Notes(), r.Catalog.Notes...) {
		if c.Err != nil {
			fmt.Fprintf(c.Err, "graft: %s: warning: %s\n", t.Source.Name, n)
		}
	}
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		return nil, err
	}
	// Lines are those of the rendered text, so it must not have the template's name.
	return fbc.Read(t.Source.Name+" (rendered)", b.Bytes())
}

// Graph returns the upgrade view of the catalog. An unreadable document is a failure.
func (c *Reader) Graph(ctx context.Context, name string) (*graph.Catalog, error) {
	return c.graph(ctx, name, &graph.Builder{Light: true})
}

// Whole is Graph with everything that findings and paths use.
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

// build reads the catalog file by file, and a file package by package. It passes unreadable documents to fault.
// A missing catalog is a failure.
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
	// One file is indexed while the one before it is processed.
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

// readFile is the result of reading one file of a catalog.
type readFile struct {
	docs []fbc.Doc
	err  error
}

// load reads the documents of a file or directory without rendering.
func (c *Reader) load(name string) ([]fbc.Doc, error) {
	if name == "-" {
		src, err := io.ReadAll(c.In)
		if err != nil {
			return nil, failure.New(failure.Usage, "reading standard input: %w", err)
		}
		c.In = bytes.NewReader(src) // a template is read again for rendering
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

// Files reads the files that opm would read in a catalog's directory. It refuses links that lead out of it.
func Files(dir string) (map[string][]byte, error) {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() || oci.OnDisk(dir) {
		return nil, failure.New(failure.TemplateNotFound, "opening the catalog %s: it is not the directory of a file-based catalog", dir).At(dir, 0, 0).
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
