package oci

import (
	"context"

	"github.com/olmgraft/graft/internal/catalogimage"
)

// CatalogImage holds the parts of a catalog's image.
type CatalogImage struct {
	Files  map[string][]byte
	Base   *Base
	Origin catalogimage.Origin
}

// Build builds the image. The same files, base and origin give the same digest.
func (c CatalogImage) Build() (*Image, error) {
	uponBase := c.Base.Digest != ""
	layer, err := catalogimage.Layer(c.Files, c.Origin.Created, uponBase)
	if err != nil {
		return nil, err
	}
	r := Recipe{Layer: layer, Labels: c.Origin.Labels(), Annotations: c.Origin.Annotations(), Created: c.Origin.Created}
	if uponBase {
		r.Entrypoint, r.Cmd = catalogimage.Entrypoint, catalogimage.Cmd
	}
	return c.Base.Build(r)
}

// PublishedTag is the result for a tag: created, updated or unchanged, or planned in a dry run.
type PublishedTag struct{ Tag, Result, Was string }

// Publish pushes the image to those tags that do not already name it.
func (t *Target) Publish(ctx context.Context, c CatalogImage, tags []string, dryRun bool) (*Image, []PublishedTag, error) {
	image, states, err := t.compare(ctx, c, tags)
	if err != nil {
		return nil, nil, err
	}
	var stale []string
	for i, s := range states {
		if s.Result == "unchanged" {
			continue
		}
		stale = append(stale, s.Tag)
		if dryRun {
			states[i].Result = "planned"
		}
	}
	if len(stale) > 0 && !dryRun {
		err = t.Push(ctx, image, stale...)
	}
	return image, states, err
}

// compare returns what pushing would do to each tag. If a tag names an image that differs only in commit and
// time, compare returns that image: unchanged content keeps its digest, and clusters need not pull it again.
func (t *Target) compare(ctx context.Context, c CatalogImage, tags []string) (*Image, []PublishedTag, error) {
	image, err := c.Build()
	if err != nil {
		return nil, nil, err
	}
	states := make([]PublishedTag, len(tags))
	kept := false
	for i, tag := range tags {
		states[i].Tag = tag
		p, err := t.Published(ctx, tag)
		if err != nil {
			return nil, nil, err
		}
		if p == nil {
			continue
		}
		states[i].Was = p.Digest
		if kept {
			continue
		}
		same, err := CatalogImage{c.Files, c.Base, c.Origin.As(p.Annotations)}.Build()
		if err != nil {
			return nil, nil, err
		}
		if kept = same.Digest == p.Digest; kept {
			image = same
		}
	}
	for i := range states {
		switch states[i].Was {
		case "":
			states[i].Result = "created"
		case image.Digest:
			states[i].Result = "unchanged"
		default:
			states[i].Result = "updated"
		}
	}
	return image, states, nil
}
