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

// catalogSources writes the manifests for the catalogs of a change and updates them to the configuration. They
// alone do not cause a bundle's change.
func (p *preparation) catalogSources(ctx context.Context) error {
	if len(p.change.Names()) == 0 {
		return nil
	}
	var errs []error
	for _, s := range p.CatalogSources {
		for _, list := range p.catalogs {
			if len(s.Catalogs) == 0 || slices.ContainsFunc(list, func(c plan.Catalog) bool { return slices.Contains(s.Catalogs, c.Path) }) {
				_, err := p.catalogSource(ctx, s, false)
				errs = append(errs, err)
				break
			}
		}
	}
	return errors.Join(errs...)
}

// catalogSource writes one manifest and reports whether it changed. If its image was announced, the digest is
// the tag's present one; otherwise a present digest stays.
func (p *preparation) catalogSource(ctx context.Context, s plan.CatalogSourceSetup, announced bool) (bool, error) {
	m, err := p.manifest(s)
	if err != nil {
		return false, err
	}
	if m.source != nil && s.Template == "" {
		if _, follows := m.source.Reference(); follows {
			p.Warnings = append(p.Warnings, fmt.Sprintf("%s is left alone: its %s %s follows a template by annotation; remove that, or give catalogSources a template", s.Path, m.source.Kind(), m.name))
			return false, nil
		}
	}
	wanted := catalogsource.Wanted{Kind: s.Kind, Form: catalogsource.Form(s.Form), Template: s.Template, Poll: s.Poll, Priority: s.Priority}
	for _, l := range s.Labels {
		wanted.Labels = append(wanted.Labels, catalogsource.Label{Key: l[0], Value: l[1]})
	}
	var later bool
	if wanted.Image, later, err = p.imageFor(ctx, s, m, announced); later || err != nil {
		return false, err
	}
	after, err := m.with(s, wanted)
	if err != nil || bytes.Equal(m.src, after) {
		return false, err
	}
	t := p.target(s.Path)
	t.entries = true
	t.Changes = append(t.Changes, m.change(wanted))
	return true, p.write(s.Path, after)
}

// manifest is a manifest in the files. source is nil if the file has no such CatalogSource.
type manifest struct {
	src       []byte
	file      *catalogsource.Manifest
	source    *catalogsource.Source
	name, was string // of the CatalogSource, and its image
}

func (p *preparation) manifest(s plan.CatalogSourceSetup) (m manifest, err error) {
	m.name = cmp.Or(s.Name, strings.ReplaceAll(path.Base(s.Repository), "_", "-"))
	m.src, err = p.files.ReadFile(s.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return m, failure.New(failure.EditRefused, "reading the manifest %s: %w", s.Path, err).At(s.Path, 0, 0).Fix("Name the manifest's file.")
	}
	if m.file, err = catalogsource.Open(s.Path, m.src); err != nil {
		return m, err
	}
	if m.source, err = m.file.Find(s.Kind, s.Name, s.Namespace); m.source != nil {
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

// change returns the change that a reviewer needs to see.
func (m manifest) change(wanted catalogsource.Wanted) kind.Change {
	c := kind.Change{What: kind.CatalogSourceSet, Name: m.name}
	if wanted.Kind == catalogsource.ClusterKind {
		c.What = kind.ClusterCatalogSet
	}
	reference := ""
	if m.source != nil {
		reference, _ = m.source.Reference()
	}
	switch {
	case wanted.Template != "" && wanted.Template != reference:
		c.From, c.To = reference, wanted.Template
	case wanted.Image != "" && wanted.Image != m.was:
		c.From, c.To = m.was, wanted.Image
	case wanted.Form == "":
		c.To = "what graft.yaml says beside the image"
	default:
		c.To = "the " + string(wanted.Form) + " form"
	}
	return c
}

// imageFor returns the image for a manifest, or "" to keep the present one. later reports that a missing
// manifest must wait, because its announced image is not in the registry.
func (p *preparation) imageFor(ctx context.Context, s plan.CatalogSourceSetup, m manifest, announced bool) (image string, later bool, err error) {
	tagged := s.Repository + ":" + s.Tag
	name, had, _ := strings.Cut(m.was, "@")
	pinned := had != "" && (name == s.Repository || name == tagged)
	switch {
	case s.Poll != nil:
		return tagged, false, nil
	case s.Template != "" && m.was == "":
		return tagged, false, nil // initially the cluster resolves the tag
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
			p.unserved = append(p.unserved, tagged)
		}
		return "", m.source == nil, nil
	case m.was == tagged && missing:
		return "", false, nil
	case m.was != "":
		p.Warnings = append(p.Warnings, fmt.Sprintf("%s keeps its image: %s", s.Path, failure.Of(err).Error()))
		return "", false, nil
	}
	why := "it is not published yet"
	if !missing {
		why = failure.Of(err).Error()
	}
	p.Warnings = append(p.Warnings, fmt.Sprintf("%s names %s by tag: %s", s.Path, tagged, why))
	return tagged, false, nil
}
