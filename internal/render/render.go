// Package render renders a template to a file-based catalog. It copies bundles that an earlier catalog contains
// and pulls the others, several at a time.
package render

import (
	"context"
	"io"
	"slices"

	"github.com/olmgraft/graft/internal/bundle"
	"github.com/olmgraft/graft/internal/draw"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph/cut"
	"github.com/olmgraft/graft/internal/oci"
	"github.com/olmgraft/graft/internal/reference"
)

// Template is a template to render. Its methods depend only on the template and on the bundles that they ask for.
type Template interface {
	Images(tags func(repository string) ([]string, error)) ([]string, error)
	Expand(b fbc.Bundles, tags func(repository string) ([]string, error)) (*fbc.Catalog, error)
}

// Registry is the source of bundles.
type Registry interface {
	Pull(ctx context.Context, ref string) (*oci.Pulled, error)
	Resolve(ctx context.Context, ref string) (digest string, err error)
	Tags(ctx context.Context, repository string) ([]string, error)
}

// Options are the options of a rendering.
type Options struct {
	Registry Registry
	Format   fbc.Format
	Metadata bundle.MetadataFormat
	// Rewrite renames the images of bundles in the catalog.
	Rewrite reference.Rewrites
	// Cut leaves bundles and channels of the template out of the catalog. Bundles that are known to be left out,
	// from Names or the earlier renderings in Known, are not pulled.
	Cut   cut.Cut
	Names map[string]string // of bundles, by image
	Known []*Base
	// Base provides bundles without pulling; nil for none.
	Base *Base
	// Seen caches results about the bundles of bases between renderings; nil for none.
	Seen Seen
	// Sum records what was rendered; nil for nothing. Recorded bundles must be unchanged, unless UpdateSum is
	// set: then Sum records their new state.
	Sum       *Sum
	UpdateSum bool
	// RefreshTags checks with the registry whether tags of reused bundles have moved.
	RefreshTags bool
	// Cache stores rendered documents by digest; nil for none.
	Cache *oci.Cache
	// Jobs is the number of bundles in progress at a time; 0 means 8.
	Jobs int
	// Once renders an image once even if the template names it several times. opm renders it several times, and
	// then refuses the catalog itself.
	Once bool
	// Progress is called for each pulled bundle; it may be nil.
	Progress func(done, total int, image string)
}

// Result is a rendered catalog.
type Result struct {
	Catalog *fbc.Catalog
	Format  fbc.Format
	// Reused and Pulled count bundles.
	Reused, Pulled int
	// Repeated are images that the template names several times, if Once is set.
	Repeated []string

	blobs []fbc.Blob
	facts []fbc.Facts // of the bundles in Images
}

// Render renders a template. It reports the failures of all bundles.
func Render(ctx context.Context, t Template, o Options) (*Result, error) {
	r := &renderer{o: o, bundles: map[string]*rendered{}}
	tags := r.listTags(ctx)
	images, err := t.Images(tags)
	if err != nil {
		return nil, err
	}
	if err := r.gather(ctx, r.within(t, images, tags)); err != nil {
		return nil, err
	}
	c, err := t.Expand(atHand{r, func(image string) (*rendered, error) { return r.pull(ctx, image) }}, tags)
	if err != nil {
		return nil, err
	}
	if err := r.cut(c); err != nil {
		return nil, err
	}
	return r.result(c)
}

// Write writes the catalog in opm's order and encoding.
func (r *Result) Write(w io.Writer) error { return fbc.Write(w, r.Format, r.blobs) }

// rendered is a bundle with its document.
type rendered struct {
	facts  fbc.Facts
	blob   fbc.Blob
	digest string
	show   *fbc.Showcase // nil if the document does not contain it
	reused bool
}

type renderer struct {
	o       Options
	bundles map[string]*rendered
}

// atHand answers a template's questions about the gathered bundles.
type atHand struct {
	*renderer
	pull func(image string) (*rendered, error)
}

// Bundle implements fbc.Bundles.
func (r atHand) Bundle(image string) (fbc.Facts, error) {
	b, err := r.bundle(image)
	if err != nil {
		return fbc.Facts{}, err
	}
	return b.facts, nil
}

// Showcase implements fbc.Bundles. It pulls the bundle if neither the base nor the document has the answer.
func (r atHand) Showcase(image string) (fbc.Showcase, error) {
	b, err := r.bundle(image)
	if err == nil && b.show == nil {
		known := b
		if b, err = r.pull(image); err == nil {
			known.show = b.show
		}
	}
	if err != nil {
		return fbc.Showcase{}, err
	}
	return *b.show, nil
}

func (r *renderer) bundle(image string) (*rendered, error) {
	b := r.bundles[image]
	if b == nil {
		if facts, ok := r.known(image); ok {
			return &rendered{facts: facts}, nil // Cut leaves it out
		}
		return nil, failure.New(failure.Internal, "rendering: bundle %s was not asked for in time", image)
	}
	return b, nil
}

// listTags returns a function that asks for the tags of each repository once.
func (r *renderer) listTags(ctx context.Context) func(repository string) ([]string, error) {
	known := map[string][]string{}
	return func(repository string) ([]string, error) {
		if _, ok := known[repository]; !ok {
			tags, err := r.o.Registry.Tags(ctx, repository)
			if err != nil {
				return nil, err
			}
			known[repository] = tags
		}
		return slices.Clone(known[repository]), nil
	}
}

// result encodes the small documents and adds those of the bundles.
func (r *renderer) result(c *fbc.Catalog) (*Result, error) {
	out := &Result{Catalog: c, Format: r.o.Format}
	if r.o.Once {
		c.Images, out.Repeated = unique(c.Images)
	}
	for _, image := range c.Images {
		b, err := r.bundle(image)
		if err != nil {
			return nil, err
		}
		out.blobs = append(out.blobs, b.blob)
		out.facts = append(out.facts, b.facts)
		if b.reused {
			out.Reused++
		} else {
			out.Pulled++
		}
	}
	if err := r.record(c.Images); err != nil {
		return nil, err
	}
	if err := out.addDocuments(c, r.o); err != nil {
		return nil, err
	}
	return out, r.o.Base.keep(out, c.Others)
}

// unique returns the images in order of their first occurrence, and the repeated ones.
func unique(images []string) (once, again []string) {
	for _, image := range images {
		if slices.Contains(once, image) {
			again = append(again, image)
		} else {
			once = append(once, image)
		}
	}
	return once, again
}

func (r *Result) addDocuments(c *fbc.Catalog, o Options) error {
	var failed error
	add := func(schema, pkg, name string, v any) {
		text, err := fbc.Marshal(v)
		if err == nil {
			err = r.add(schema, pkg, name, text)
		}
		if failed == nil {
			failed = err
		}
	}
	for _, p := range c.Packages {
		add(p.Schema, p.Name, p.Name, o.Base.filled(p))
	}
	for _, ch := range c.Channels {
		add(ch.Schema, ch.Package, ch.Name, ch)
	}
	for _, d := range c.Deprecations {
		add(d.Schema, d.Package, "", d)
	}
	if failed != nil {
		return failed
	}
	for _, o := range c.Others {
		if err := r.add(o.Schema, o.Package, o.Name, o.JSON); err != nil {
			return err
		}
	}
	for _, b := range c.Bundles {
		if c.Loaded {
			b = bundle.Loaded(b)
		}
		if c.Loaded && o.Metadata == bundle.CSVMetadata {
			var err error
			if b, err = bundle.Migrate(b); err != nil {
				return err
			}
		}
		text, err := bundle.Document(bundle.Rewritten(b, o.Rewrite))
		if err != nil {
			return err
		}
		if err := r.add(b.Schema, b.Package, b.Name, text); err != nil {
			return err
		}
	}
	return nil
}

func (r *Result) add(schema, pkg, name string, text []byte) error {
	body, err := fbc.Encode(r.Format, text)
	r.blobs = append(r.blobs, fbc.Blob{Schema: schema, Package: pkg, Name: name, Body: body, Format: r.Format})
	return err
}

// WriteMermaid draws the channels like opm's mermaid output.
func (r *Result) WriteMermaid(w io.Writer) error {
	docs := draw.Documents{Channels: r.Catalog.Channels, Deprecations: r.Catalog.Deprecations, Bundles: r.Catalog.Bundles}
	for _, f := range r.facts {
		d, err := fbc.DocOf(f)
		if err != nil {
			return err
		}
		b, err := d.Bundle()
		if err != nil {
			return err
		}
		docs.Bundles = append(docs.Bundles, b)
	}
	text, err := draw.OpmMermaid(docs)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}
