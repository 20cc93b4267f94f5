package image

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/olmgraft/graft/internal/catalogimage"
	"github.com/olmgraft/graft/internal/cli/output"
	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	graphreport "github.com/olmgraft/graft/internal/graph/report"
	"github.com/olmgraft/graft/internal/oci"
)

// draft is a catalog that was verified, and all that an image is made of besides.
type draft struct {
	options *options
	files   map[string][]byte
	catalog *graph.Catalog
	base    *oci.Base
	origin  catalogimage.Origin
	client  *oci.Client
}

func newDraft(ctx context.Context, a *command.App, o *options, dir string) (*draft, error) {
	d := &draft{options: o}
	var err error
	if d.files, err = catalogFiles(dir); err != nil {
		return nil, err
	}
	if d.catalog, err = verified(ctx, a.Err, o, dir); err != nil {
		return nil, err
	}
	if d.client, err = o.catalogs.Client(); err != nil {
		return nil, err
	}
	if o.base == scratch {
		d.base, err = oci.Scratch(o.platforms)
	} else {
		d.base, err = d.client.Base(ctx, o.base, o.platforms)
	}
	if err != nil {
		return nil, err
	}
	d.origin, err = o.origin(a, d.base)
	return d, err
}

// catalogFiles reads what opm would read of the directory. Links that lead out of it are
// refused.
func catalogFiles(dir string) (map[string][]byte, error) {
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
				Fix("Make it a file that can be read, or name it in .indexignore.")
		}
	}
	return files, nil
}

// verified is the catalog, if it has no errors. Warnings are told.
func verified(ctx context.Context, w io.Writer, o *options, dir string) (*graph.Catalog, error) {
	levels, err := o.verify.Levels(dir)
	if err != nil {
		return nil, err
	}
	c, found, err := o.catalogs.Verify(ctx, dir, &o.verify, levels)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, f := range graph.Failures(found) {
		errs = append(errs, f)
	}
	warnings := slices.DeleteFunc(found, func(f graph.Finding) bool { return f.Level != graph.Warning })
	if len(warnings) > 0 {
		_ = graphreport.Text(w, warnings, graphreport.Style{Color: output.IsTerminal(w)}) // nobody is there to be told
	}
	if len(errs) == 0 && len(c.Packages) == 0 {
		return nil, failure.New(failure.TemplateNotFound, "verifying the catalog: the directory holds no package").At(dir, 0, 0).
			Fix("Name the directory of a file-based catalog.")
	}
	return c, errors.Join(errs...)
}

// origin is where the image comes from, as flags and the workflow's environment say.
func (o *options) origin(a *command.App, base *oci.Base) (catalogimage.Origin, error) {
	env := func(key string) string {
		v, _ := a.Env(key)
		return v
	}
	at, err := catalogimage.Epoch(env("SOURCE_DATE_EPOCH"))
	origin := catalogimage.Origin{Source: o.source, Revision: o.revision, Created: at, BaseDigest: base.Digest}
	if server, repository := env("GITHUB_SERVER_URL"), env("GITHUB_REPOSITORY"); origin.Source == "" && server != "" && repository != "" {
		origin.Source = server + "/" + repository
	}
	if origin.Revision == "" {
		origin.Revision = env("GITHUB_SHA")
	}
	if o.base != scratch && !oci.OnDisk(o.base) {
		origin.BaseName = o.base
	}
	return origin, err
}

// build makes the image. The same draft and origin give the same digest.
func (d *draft) build(origin catalogimage.Origin) (*oci.Image, error) {
	uponBase := d.options.base != scratch
	layer, err := catalogimage.Layer(d.files, origin.Created, uponBase)
	if err != nil {
		return nil, err
	}
	r := oci.Recipe{Layer: layer, Labels: origin.Labels(), Annotations: origin.Annotations(), Created: origin.Created}
	if uponBase {
		r.Entrypoint, r.Cmd = catalogimage.Entrypoint, catalogimage.Cmd
	}
	return d.base.Build(r)
}
