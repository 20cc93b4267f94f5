package publish

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/catalogsource"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/template/kind"
)

// IsCatalogImage reports whether CatalogSources name images of the repository.
func IsCatalogImage(sources []plan.CatalogSourceSetup, repository string) bool {
	return slices.ContainsFunc(sources, func(s plan.CatalogSourceSetup) bool { return s.Repository == repository })
}

// learnCatalogImage takes an announced catalog image for what it is: news of its
// repository. Its tags move, so that what they say when manifests are written counts.
func (p *publisher) learnCatalogImage(r Request) item {
	return item{Request: r, catalogImage: true, input: plan.Input{Bundle: kind.Bundle{
		Name: r.Repository, Package: path.Base(r.Repository), Image: reference(r.Publication), Digest: r.Digest,
	}}}
}

// changeOf is the change that an item belongs to. That of a catalog image is one for each repository, whatever the patterns
// for bundles are.
func (p *publisher) changeOf(it item) (*change, error) {
	b := it.input.Bundle
	if it.catalogImage {
		return &change{publisher: p, key: b.Package + "/catalogsource", branch: "graft/" + b.Package + "/catalogsource"}, nil
	}
	c := &change{publisher: p, key: p.key(b)}
	var err error
	c.branch, err = p.Branch(b)
	return c, err
}

// titleOfImages is the title of a change that is for catalog images alone; false if it is
// not.
func (w *Work) titleOfImages() (string, bool) {
	if !w.onlyImages() {
		return "", false
	}
	return "Name the current images of " + w.items[0].input.Bundle.Package, true
}

func (w *Work) onlyImages() bool {
	return len(w.items) > 0 && !slices.ContainsFunc(w.items, func(it item) bool { return !it.catalogImage })
}

// point has the manifests that name an image of the repository by digest name the one that
// its tag has now.
func (p *publisher) point(ctx context.Context, w *Work, it item) error {
	before := len(w.change.Names())
	var errs []error
	for _, s := range p.CatalogSources {
		if s.Repository == it.Repository && s.Template == "" {
			errs = append(errs, p.catalogSource(ctx, w, s, true))
		}
	}
	if len(w.change.Names()) > before {
		w.items = append(w.items, it)
	}
	return errors.Join(errs...)
}

// catalogSources makes the manifests for the catalogs that a change goes to, and keeps them
// to the configuration. The digest that one names moves with its image only.
func (p *publisher) catalogSources(ctx context.Context, w *Work, catalogs map[string][]planned) error {
	holds := func(s plan.CatalogSourceSetup) bool {
		for _, list := range catalogs {
			if len(s.Catalogs) == 0 || slices.ContainsFunc(list, func(c planned) bool { return slices.Contains(s.Catalogs, c.Path) }) {
				return true
			}
		}
		return false
	}
	var errs []error
	for _, s := range p.CatalogSources {
		if holds(s) {
			errs = append(errs, p.catalogSource(ctx, w, s, false))
		}
	}
	return errors.Join(errs...)
}

// catalogSource writes one manifest. With moved the digest is that of the tag now, and what
// is not published yet is left alone; else a digest that stands there stays.
func (p *publisher) catalogSource(ctx context.Context, w *Work, s plan.CatalogSourceSetup, moved bool) error {
	m, err := w.manifest(s)
	if err != nil {
		return err
	}
	wanted := catalogsource.Wanted{Form: catalogsource.Form(s.Form), Template: s.Template}
	published := true
	stays := s.Template != "" && m.was != "" || s.Template == "" && !moved && strings.HasPrefix(m.was, s.Repository+"@")
	if !stays {
		if wanted.Image, published, err = p.imageOf(ctx, s); err != nil || moved && !published {
			return err
		}
	}
	after, err := m.with(s, wanted)
	if err != nil || m.source != nil && bytes.Equal(m.src, after) {
		return err
	}
	if !published {
		w.Warnings = append(w.Warnings, fmt.Sprintf("%s is not published yet: %s names it by its tag", wanted.Image, s.Path))
	}
	change := kind.Change{What: kind.CatalogSourceSet, Name: m.name, To: cmp.Or(s.Template, wanted.Image, m.was)}
	if change.To != m.was {
		change.From = m.was
	}
	t := w.target(s.Path)
	t.entries = true
	t.Changes = append(t.Changes, change)
	w.change.Set(s.Path, m.src, after, m.source == nil)
	return nil
}

// manifest is one as it stands; source is nil where it does not.
type manifest struct {
	src       []byte
	file      *catalogsource.Manifest
	source    *catalogsource.Source
	name, was string // of the CatalogSource, and the image that it names
}

func (w *Work) manifest(s plan.CatalogSourceSetup) (m manifest, err error) {
	m.name = cmp.Or(s.Name, path.Base(s.Repository))
	m.src, err = fs.ReadFile(&w.change, s.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return m, failure.New(failure.EditRefused, "reading the manifest %s: %w", s.Path, err).At(s.Path, 0, 0).Fix("Name the manifest's file.")
	}
	if m.file, err = catalogsource.Open(s.Path, m.src); err != nil {
		return m, err
	}
	if m.source, err = m.file.Find(s.Name); err != nil {
		return m, err
	}
	m.name, m.was = m.source.Name, m.source.Image()
	return m, nil
}

func (m manifest) with(s plan.CatalogSourceSetup, wanted catalogsource.Wanted) ([]byte, error) {
	if m.source == nil {
		return catalogsource.Make(m.name, s.Namespace, wanted)
	}
	return m.file.Bring(m.source, wanted)
}

// imageOf is the image by the digest of its tag. One that is not published yet is named by
// tag, until it is announced; so is one of which the cluster decides.
func (p *publisher) imageOf(ctx context.Context, s plan.CatalogSourceSetup) (image string, published bool, err error) {
	tagged := s.Repository + ":" + s.Tag
	if s.Template != "" {
		return tagged, true, nil
	}
	digest, err := p.Registry.Resolve(ctx, tagged)
	if failure.Is(err, failure.BundleNotFound) {
		return tagged, false, nil
	}
	return s.Repository + "@" + digest, true, err
}
