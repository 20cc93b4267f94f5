package publish

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/markdown"
	"github.com/olmgraft/graft/internal/plan"
)

// catalogImagesKey is the key of the one change that all announced catalog images of a base share. Its first
// part is not a valid package name.
const catalogImagesKey = "CatalogSource/*"

// IsCatalogImage reports whether CatalogSources name images of the repository.
func IsCatalogImage(sources []plan.CatalogSourceSetup, repository string) bool {
	return slices.ContainsFunc(sources, func(s plan.CatalogSourceSetup) bool { return s.Repository == repository })
}

// catalogImage is an announcement from a repository of catalog images. Their tags move, so the tags' digests
// are read when manifests are written.
type catalogImage struct {
	asked   Request
	warning string // for its change to report
}

// later is the patience for earlier announcements: a tag that is gone by now is not a failure.
const later time.Duration = -1

// learnCatalogImage waits with patience for the tag. With later it does not ask.
func (p *publisher) learnCatalogImage(ctx context.Context, r Request, patience time.Duration) (subject, error) {
	c := &catalogImage{}
	if r.Tag != "" && patience != later {
		err := p.patiently(ctx, r.Image(), patience, func() error {
			now, err := p.Registry.Resolve(ctx, r.Repository+":"+r.Tag)
			if err == nil && r.Digest != "" && now != r.Digest {
				c.warning = fmt.Sprintf("%s is %s by now, announced was %s", r.Repository+":"+r.Tag, now, r.Digest)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if r.Tag != "" {
		r.Digest = ""
	}
	c.asked = r
	return c, nil
}

func (c *catalogImage) request() Request         { return c.asked }
func (c *catalogImage) version() *semver.Version { return nil }
func (c *catalogImage) key(bool) string          { return catalogImagesKey }

func (c *catalogImage) facts() Facts {
	return Facts{Image: imageOf(c.asked.Publication), Digest: c.asked.Digest, Name: c.asked.Repository}
}

func (c *catalogImage) branch(t Texts) (string, error) { return t.CatalogBranch, nil }

// covers accepts any request for the repository.
func (c *catalogImage) covers(r Request) bool { return c.asked.Repository == r.Repository }

// edit updates the repository's manifests to the configuration and to the present digests of their tags.
func (c *catalogImage) edit(ctx context.Context, p *preparation) (subject, error) {
	if c.warning != "" {
		p.Warnings = append(p.Warnings, c.warning)
	}
	var edited subject
	var errs []error
	for _, s := range p.CatalogSources {
		if s.Repository == c.asked.Repository {
			changed, err := p.catalogSource(ctx, s, true)
			if changed {
				edited = c
			}
			errs = append(errs, err)
		}
	}
	return edited, errors.Join(errs...)
}

func (c *catalogImage) title(Texts, int) (string, error) {
	return "Name the current catalog images", nil
}
func (c *catalogImage) message(t Texts, others int) (string, error) { return c.title(t, others) }
func (c *catalogImage) intro(Texts) (string, error)                 { return "", nil }

func (c *catalogImage) describe(b *strings.Builder) {
	fmt.Fprintf(b, "Has CatalogSources name the current images of catalog %s.\n\n", markdown.Code(c.asked.Repository))
}

func (c *catalogImage) unchanged() string { return "the CatalogSources are as they should be" }
func (c *catalogImage) done() string      { return "The CatalogSources name what their tags are by now." }
