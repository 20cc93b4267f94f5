package cli

import (
	"bytes"
	"context"
	"slices"

	"github.com/olmgraft/graft/internal/cli/catalogs"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/render"
	"github.com/olmgraft/graft/internal/template"
)

// areImages reports whether all arguments are images.
func areImages(names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !catalogs.IsImage(name) })
}

// renderImages writes the content of images as opm render does: the document of a bundle, and those of a
// catalog unchanged.
func (a *app) renderImages(ctx context.Context, o *renderOptions, names []string) error {
	ro, err := o.options()
	if err != nil {
		return err
	}
	if o.output == "mermaid" || o.base != "" || o.sum != "" || o.write != "" {
		return failure.New(failure.Usage, "rendering images with --base, --sum, --write or as mermaid").Fix("Leave them out: the documents go to standard output.")
	}
	reader := catalogs.Reader{Options: o.registry, In: a.In}
	var blobs []fbc.Blob
	for _, name := range names {
		docs, err := reader.AsItStands(ctx, name)
		switch {
		case failure.Is(err, failure.BundleInvalid): // apparently not a catalog
			docs, err = renderBundle(ctx, name, ro)
		case err == nil && (o.migrateLevel != "none" || len(ro.Rewrite) > 0):
			err = failure.New(failure.Usage, "rendering %s: the documents of a catalog image stay as they are", name).Fix("Leave out --migrate-level and --rewrite.")
		}
		if err != nil {
			return timedOut(ctx, err)
		}
		for i := range docs {
			blob, err := docs[i].Blob(ro.Format)
			if err != nil {
				return err
			}
			blobs = append(blobs, blob)
		}
	}
	return fbc.Write(a.Out.Documents(), ro.Format, blobs)
}

// renderBundle returns the document of a bundle image.
func renderBundle(ctx context.Context, name string, ro render.Options) ([]fbc.Doc, error) {
	t, err := template.Parse(name, []byte("schema: olm.template.basic\nentries:\n- schema: olm.bundle\n  image: "+name+"\n"))
	if err != nil {
		return nil, err
	}
	result, err := render.Render(ctx, t, ro)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := result.Write(&text); err != nil {
		return nil, err
	}
	return fbc.Read(name, text.Bytes())
}
