package publish

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/olmgraft/graft/internal/bundle"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/markdown"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/reference"
	"github.com/olmgraft/graft/internal/render"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
)

// Limits for bundles that are fetched only to verify a graph: their number for one template, and the time.
const (
	mostFetched   = 100
	fetchPatience = time.Minute
)

// inMemory verifies a template without catalogs in the repository: it renders the template and discards the
// result. Bundles that users have come from the published catalogs. If others are unavailable, the change
// continues and says so; a fault that the change introduces fails it.
func (p *preparation) inMemory(ctx context.Context, t *Target) error {
	if t.entries || len(t.Changes) == 0 || len(p.catalogs[t.Template]) > 0 {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, fetchPatience)
	defer stop()
	after, err := p.expanded(ctx, p.files, t.Template)
	before, wasErr := p.expanded(ctx, p.base.Files, t.Template)
	if err != nil {
		if t.unverified = failure.Of(err).Error(); wasErr == nil && !outside(err) {
			return err
		}
		return nil
	}
	out := &Catalog{Path: t.Template, before: before}
	if known, ok := plan.PlatformOf(t.Template); ok {
		out.Platform, out.planned = known.String(), plan.Catalog{Path: t.Template, Platform: &known}
		p.lines.catalogs = append(p.lines.catalogs, out.planned)
	}
	told := len(p.Findings)
	p.verifyCatalog(t.Template, out, after)
	for i := range p.Findings[told:] {
		p.Findings[told+i].Line = 0 // of a catalog that no reviewer sees
	}
	t.inMemory = out
	return nil
}

// outside reports whether a failure has its cause outside of the template.
func outside(err error) bool {
	return slices.ContainsFunc(failure.All(err), func(f *failure.Error) bool {
		switch f.Code {
		case failure.BundleNotFound, failure.BundleInvalid, failure.RegistryAuth, failure.RegistryUnavailable, failure.DigestMismatch, failure.Interrupted, failure.TemplateUnsupported:
			return true
		}
		return false
	})
}

// expanded returns the documents of the catalog that a template makes.
func (p *preparation) expanded(ctx context.Context, files *template.Files, name string) ([]fbc.Doc, error) {
	if _, err := fs.Stat(files, name); err != nil {
		return nil, nil //nolint:nilerr // new in this change
	}
	t, err := template.Open(files, name, name)
	if err != nil {
		return nil, err
	}
	t.Source.SemverSkips = p.semverSkips[name]
	if t.Kind.Traits().OfTemplates {
		return nil, failure.New(failure.TemplateUnsupported, "rendering %s in memory: its parts are rendered where its catalogs are", name)
	}
	images, err := t.Images(func(repository string) ([]string, error) { return p.Registry.Tags(ctx, repository) })
	if err != nil {
		return nil, err
	}
	docs, missing := p.known(name, images)
	if missing > mostFetched {
		return nil, failure.New(failure.TemplateUnsupported, "rendering %s in memory: %d bundles would have to be pulled, and %d are at most", name, missing, mostFetched)
	}
	r, err := render.Render(ctx, t, render.Options{
		Once: true, Registry: pinned{p.Registry, p.pulled}, Metadata: bundle.CSVMetadata, Base: render.NewBase(docs), Jobs: p.Jobs, Cache: p.Cache, Progress: p.Progress,
	})
	if err != nil {
		return nil, err
	}
	if files == p.files {
		p.Warnings = kind.Unique(append(p.Warnings, r.Catalog.Notes...))
	}
	var text bytes.Buffer
	if err := r.Write(&text); err != nil {
		return nil, err
	}
	made, err := fbc.Read(name, text.Bytes())
	for _, d := range made {
		if d.Schema == fbc.SchemaBundle {
			p.fetched = append(p.fetched, d)
		}
	}
	return made, err
}

// known returns the bundles that need no pull: those in the published catalogs, by digest, and those rendered
// in memory before.
func (p *preparation) known(name string, images []string) (docs []fbc.Doc, missing int) {
	all := p.fetched
	for _, one := range p.users.of[name] {
		all = append(slices.Clone(all), p.users.has[one.key()]...)
	}
	by := map[string]fbc.Doc{}
	for _, d := range all {
		_, _, digest := reference.Cut(d.Image)
		if d.Schema != fbc.SchemaBundle || d.Image == "" || p.anew[d.Image] {
			continue
		}
		if by[d.Image] = d; digest != "" {
			by[digest] = d
		}
	}
	for _, image := range images {
		_, _, digest := reference.Cut(image)
		d, ok := by[image]
		if !ok && digest != "" {
			d, ok = by[digest]
		}
		switch {
		case ok:
			d.Image = image
			docs = append(docs, d)
		case p.pulled[image] == nil:
			missing++
		}
	}
	return docs, missing
}

// verified reports which verifications were done.
func (w *Work) verified(b *strings.Builder) {
	var inMemory, without []string
	var not []Target
	for _, t := range w.Targets {
		switch {
		case len(t.Catalogs) > 0 || t.entries || len(t.Changes) == 0:
		case t.inMemory != nil:
			inMemory = append(inMemory, t.Template)
		case t.unverified != "":
			not = append(not, t)
		default:
			without = append(without, t.Template)
		}
	}
	for _, said := range failure.Once(not, func(t Target) failure.Saying { return failure.Saying{Text: t.unverified, Place: t.Template} }) {
		fmt.Fprintf(b, "Graft did not verify the graph of %s: %s\n\n", some(said.Places, "template"), markdown.Escape(said.First.unverified))
	}
	if len(without) > 0 {
		fmt.Fprintf(b, "The repository has no catalog of %s, and Graft did not verify its graph.\n\n", some(without, "template"))
	}
	if len(inMemory) > 0 {
		fmt.Fprintf(b, "The repository has no catalog of %s: Graft rendered it in memory and verified its graph.\n\n", some(inMemory, "template"))
	}
}
