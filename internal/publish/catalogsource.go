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
	"time"

	"github.com/olmgraft/graft/internal/catalogsource"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/template/kind"
)

// All announced catalog images share one change of a base. No package can have this name.
const (
	catalogImages    = "CatalogSource"
	catalogImagesKey = catalogImages + "/*"
)

// IsCatalogImage reports whether CatalogSources name images of the repository.
func IsCatalogImage(sources []plan.CatalogSourceSetup, repository string) bool {
	return slices.ContainsFunc(sources, func(s plan.CatalogSourceSetup) bool { return s.Repository == repository })
}

// learnCatalogImage takes an announced catalog image for what it is: news of its
// repository, whose tags move. So what they say when manifests are written counts; that
// there is such a tag is waited for with patience, and not asked again later.
func (p *publisher) learnCatalogImage(ctx context.Context, r Request, patience time.Duration) (item, error) {
	it := item{catalogImage: true}
	if r.Tag != "" && patience > 0 {
		err := p.patiently(ctx, r.Image(), patience, func() error {
			now, err := p.Registry.Resolve(ctx, r.Repository+":"+r.Tag)
			if err == nil && r.Digest != "" && now != r.Digest {
				it.warning = fmt.Sprintf("%s is %s by now, announced was %s", r.Repository+":"+r.Tag, now, r.Digest)
			}
			return err
		})
		if err != nil {
			return it, err
		}
	}
	if r.Tag != "" {
		r.Digest = ""
	}
	it.Request = r
	it.input.Bundle = kind.Bundle{Name: r.Repository, Package: catalogImages, Image: reference(r.Publication), Digest: r.Digest}
	return it, nil
}

// learnAgain learns a request of a change that stands already: what came as a catalog image is
// one, though the configuration may have forgotten it.
func (c *change) learnAgain(ctx context.Context, r Request) (item, error) {
	if c.key == catalogImagesKey {
		return c.learnCatalogImage(ctx, r, 0)
	}
	return c.learn(ctx, r, 0)
}

// onlyImages reports whether items are catalog images, all of them.
func onlyImages(items []item) bool {
	return len(items) > 0 && !slices.ContainsFunc(items, func(it item) bool { return !it.catalogImage })
}

// settle closes the pull request of a change of catalog images that comes to nothing any
// more: merged, it would name images that their tags have left.
func (c *change) settle(ctx context.Context, out *Result) error {
	if c.again || c.DryRun || c.stands == nil || !onlyImages(c.own) {
		return nil
	}
	state, err := c.Repository.Inspect(ctx, c.branch)
	if err != nil || !state.OnlyOurs && !c.Force {
		return err
	}
	c.finish(ctx, out, *c.stands, state)
	return out.Err
}

// point brings the manifests of a repository to what the configuration says and to what
// their tags are now.
func (p *publisher) point(ctx context.Context, w *Work, it item) error {
	if it.warning != "" {
		w.Warnings = append(w.Warnings, it.warning)
	}
	changed := false
	var errs []error
	for _, s := range p.CatalogSources {
		if s.Repository == it.Repository {
			one, err := p.catalogSource(ctx, w, s, true)
			changed = changed || one
			errs = append(errs, err)
		}
	}
	if changed {
		w.items = append(w.items, it)
	}
	return errors.Join(errs...)
}

// catalogSources makes the manifests for the catalogs that a change goes to, and keeps them
// to the configuration. They alone are no reason for a bundle's change.
func (p *publisher) catalogSources(ctx context.Context, w *Work, catalogs map[string][]planned) error {
	if len(w.change.Names()) == 0 {
		return nil
	}
	var errs []error
	for _, s := range p.CatalogSources {
		for _, list := range catalogs {
			if len(s.Catalogs) == 0 || slices.ContainsFunc(list, func(c planned) bool { return slices.Contains(s.Catalogs, c.Path) }) {
				_, err := p.catalogSource(ctx, w, s, false)
				errs = append(errs, err)
				break
			}
		}
	}
	return errors.Join(errs...)
}

// catalogSource writes one manifest, and reports whether it changed. Where its image is
// announced the digest is that of the tag now; else one that stands there stays.
func (p *publisher) catalogSource(ctx context.Context, w *Work, s plan.CatalogSourceSetup, announced bool) (bool, error) {
	m, err := w.manifest(s)
	if err != nil {
		return false, err
	}
	if m.source != nil && s.Template == "" {
		if _, follows := m.source.Reference(); follows {
			w.Warnings = append(w.Warnings, fmt.Sprintf("%s is left alone: its CatalogSource %s has the annotation %s; remove that, or give catalogSources a template", s.Path, m.name, catalogsource.ImageTemplate))
			return false, nil
		}
	}
	wanted := catalogsource.Wanted{Form: catalogsource.Form(s.Form), Template: s.Template}
	var later bool
	if wanted.Image, later, err = p.imageFor(ctx, w, s, m, announced); later || err != nil {
		return false, err
	}
	after, err := m.with(s, wanted)
	if err != nil || bytes.Equal(m.src, after) {
		return false, err
	}
	t := w.target(s.Path)
	t.entries = true
	t.Changes = append(t.Changes, m.change(wanted))
	w.change.Set(s.Path, m.src, after, m.isNew)
	return true, nil
}

// manifest is one as it stands; source is nil where the file has no such CatalogSource.
type manifest struct {
	src       []byte
	isNew     bool
	file      *catalogsource.Manifest
	source    *catalogsource.Source
	name, was string // of the CatalogSource, and the image that it names
}

func (w *Work) manifest(s plan.CatalogSourceSetup) (m manifest, err error) {
	m.name = cmp.Or(s.Name, strings.ReplaceAll(path.Base(s.Repository), "_", "-"))
	m.src, err = fs.ReadFile(&w.change, s.Path)
	m.isNew = errors.Is(err, fs.ErrNotExist)
	if err != nil && !m.isNew {
		return m, failure.New(failure.EditRefused, "reading the manifest %s: %w", s.Path, err).At(s.Path, 0, 0).Fix("Name the manifest's file.")
	}
	if m.file, err = catalogsource.Open(s.Path, m.src); err != nil {
		return m, err
	}
	if m.source, err = m.file.Find(s.Name, s.Namespace); m.source != nil {
		m.name, m.was = m.source.Name, m.source.Image()
	}
	return m, err
}

func (m manifest) with(s plan.CatalogSourceSetup, wanted catalogsource.Wanted) ([]byte, error) {
	if m.source != nil {
		return m.file.Bring(m.source, wanted)
	}
	text, err := catalogsource.Make(m.name, s.Namespace, wanted)
	return m.file.Append(text), err
}

// change tells the one thing that a reviewer looks for.
func (m manifest) change(wanted catalogsource.Wanted) kind.Change {
	c := kind.Change{What: kind.CatalogSourceSet, Name: m.name}
	reference := ""
	if m.source != nil {
		reference, _ = m.source.Reference()
	}
	switch {
	case wanted.Template != "" && wanted.Template != reference:
		c.From, c.To = reference, wanted.Template
	case wanted.Image != "" && wanted.Image != m.was:
		c.From, c.To = m.was, wanted.Image
	default:
		c.To = "the " + string(wanted.Form) + " form"
	}
	return c
}

// imageFor is the image that a manifest is to name, empty where what stands there stays.
// Where it is announced and not there, a manifest that does not stand is left for later.
func (p *publisher) imageFor(ctx context.Context, w *Work, s plan.CatalogSourceSetup, m manifest, announced bool) (image string, later bool, err error) {
	tagged := s.Repository + ":" + s.Tag
	name, had, _ := strings.Cut(m.was, "@")
	pinned := had != "" && (name == s.Repository || name == tagged)
	switch {
	case s.Template != "" && m.was == "":
		return tagged, false, nil // to begin with: the cluster decides
	case s.Template != "" || pinned && !announced:
		return "", false, nil
	}
	now, err := p.Registry.Resolve(ctx, tagged)
	missing := failure.Is(err, failure.BundleNotFound)
	switch {
	case err == nil && pinned && had == now:
		return "", false, nil
	case err == nil:
		return s.Repository + "@" + now, false, nil
	case ctx.Err() != nil || announced && !missing:
		return "", false, err
	case announced:
		if pinned {
			w.unserved = append(w.unserved, tagged)
		}
		return "", m.source == nil, nil
	case m.was == tagged && missing:
		return "", false, nil
	case m.was != "":
		w.Warnings = append(w.Warnings, fmt.Sprintf("%s keeps its image: %s", s.Path, failure.Of(err).Error()))
		return "", false, nil
	}
	why := "it is not published yet"
	if !missing {
		why = failure.Of(err).Error()
	}
	w.Warnings = append(w.Warnings, fmt.Sprintf("%s names %s by tag: %s", s.Path, tagged, why))
	return tagged, false, nil
}
