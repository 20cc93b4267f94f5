package image

import (
	"context"
	"errors"
	"slices"

	"github.com/olmgraft/graft/internal/catalogimage"
	"github.com/olmgraft/graft/internal/cli/catalogs"
	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/graph"
	graphreport "github.com/olmgraft/graft/internal/graph/report"
	"github.com/olmgraft/graft/internal/oci"
	"github.com/olmgraft/graft/internal/runner"
)

// draft is a verified catalog with everything else for an image.
type draft struct {
	oci.CatalogImage
	catalog *graph.Catalog
	client  *oci.Client
}

func newDraft(ctx context.Context, a *command.App, o *options, dir string) (*draft, error) {
	d := &draft{}
	var err error
	if d.Files, err = catalogs.Files(dir); err != nil {
		return nil, err
	}
	if d.catalog, err = verified(ctx, a.Err, o, dir); err != nil {
		return nil, err
	}
	if d.client, err = o.catalogs.Client(); err != nil {
		return nil, err
	}
	if o.base == scratch {
		d.Base, err = oci.Scratch(o.platforms)
	} else {
		o.catalogs.Progress.Begin("reading the base image %s", o.base)
		defer o.catalogs.Progress.End()
		d.Base, err = d.client.Base(ctx, o.base, o.platforms)
	}
	if err != nil {
		return nil, err
	}
	d.Origin, err = o.origin(a, d.Base)
	return d, err
}

// verified returns the catalog if it has no errors, and prints warnings.
func verified(ctx context.Context, w *runner.Log, o *options, dir string) (*graph.Catalog, error) {
	levels, err := o.verify.Levels(dir)
	if err != nil {
		return nil, err
	}
	found, err := o.catalogs.Verify(ctx, dir, &o.verify, levels)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, f := range graph.Failures(found) {
		errs = append(errs, f)
	}
	warnings := slices.DeleteFunc(found, func(f graph.Finding) bool { return f.Level != graph.Warning })
	if len(warnings) > 0 {
		_ = graphreport.Text(w, warnings, graphreport.Style{Color: w.IsTerminal()}) // the output may be closed
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	c, err := o.catalogs.Graph(ctx, dir)
	if err == nil && len(c.Packages) == 0 {
		return nil, failure.New(failure.TemplateNotFound, "verifying the catalog: the directory holds no package").At(dir, 0, 0).
			Fix("Name the directory of a file-based catalog.")
	}
	return c, err
}

// origin returns the origin of the image, from flags and the workflow's environment.
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
