package publish

import (
	"context"
	"errors"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/event"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/oci"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/reference"
	"github.com/olmgraft/graft/internal/render"
	"github.com/olmgraft/graft/internal/template"
)

// Sweep is a search for bundles that were published and never announced.
type Sweep struct {
	Repository string
	// Stages maps repositories to those that catalogs name instead.
	Stages   map[string]string
	SkipTags []string
	Versions semver.Range // wanted versions; nil: all
	Sum      string       // path of catalog.sum, which has the tags' digests; "": none
	Jobs     int
}

// Found is an image that a sweep found.
type Found struct {
	event.Publication
	// Swept is nil if the tag is known to have moved.
	Swept *Swept
}

// Swept has the tags of a repository that are versions, and the digests of the tags that were resolved. A sweep
// does not replace a bundle with one of them by another build, because it cannot tell which is newer.
type Swept struct{ tags, digests map[string]bool }

// has reports whether an image still has a tag.
func (s *Swept) has(image string) bool {
	_, tag, digest := reference.Cut(image)
	return digest != "" && s.digests[digest] || digest == "" && s.tags[tag]
}

// Missing returns the images of a repository that no template or catalog names, by tag or digest, lowest
// version first, and those whose tags have moved since they were named with a digest or recorded. It skips tags
// that are not versions, because they may not be bundles.
func Missing(ctx context.Context, content fs.FS, registry render.Registry, s Sweep) ([]Found, error) {
	tags, err := registry.Tags(ctx, s.Repository)
	if err != nil {
		return nil, err
	}
	names := []string{s.Repository}
	if production := s.Stages[s.Repository]; production != "" {
		names = append(names, production)
	}
	named, err := namesIn(content, names)
	if err == nil {
		err = named.record(content, s)
	}
	if err != nil {
		return nil, err
	}
	type found struct {
		Found
		version semver.Version
	}
	swept := &Swept{map[string]bool{}, map[string]bool{}}
	versions := map[string]semver.Version{}
	var asked []string
	for _, tag := range tags {
		version, ok := graph.VersionOf(tag)
		if !ok || event.SkipReason(tag, s.SkipTags) != "" || s.Versions != nil && !s.Versions(version) || !named.tags[tag] && named.versions[version.String()] {
			continue
		}
		swept.tags[tag] = true
		if !named.tags[tag] || named.with[tag] {
			versions[tag] = version
			asked = append(asked, tag)
		}
	}
	digests, err := oci.ForEach(s.Jobs, asked, func(tag string) (string, error) {
		digest, err := registry.Resolve(ctx, s.Repository+":"+tag)
		if failure.Is(err, failure.BundleNotFound) {
			return "", nil // the tag was deleted meanwhile
		}
		return digest, err
	})
	if err != nil {
		return nil, err
	}
	var missing []found
	for _, tag := range asked {
		digest := digests[tag]
		swept.digests[digest] = true
		if digest == "" || named.digests[digest] {
			continue
		}
		one := Found{event.Publication{Repository: s.Repository, Tag: tag, Digest: digest}, swept}
		if named.with[tag] {
			one.Swept = nil
		}
		missing = append(missing, found{one, versions[tag]})
	}
	slices.SortStableFunc(missing, func(a, b found) int { return a.version.Compare(b.version) })
	var out []Found
	for _, m := range missing {
		same := slices.IndexFunc(out, func(p Found) bool { return p.Digest == m.Digest })
		switch {
		case same < 0:
			out = append(out, m.Found)
		case strings.TrimPrefix(m.Tag, "v") == m.version.String():
			out[same] = m.Found // of several tags, the version's
		}
	}
	return out, nil
}

// imageNames holds the tags and digests in names of images.
type imageNames struct {
	tags, digests map[string]bool
	// with has the tags that are named with a digest or have a recorded digest.
	with map[string]bool
	// versions are those of bundles that a template names without an image.
	versions map[string]bool
}

// namesIn finds the names in the content's files.
func namesIn(content fs.FS, repositories []string) (*imageNames, error) {
	var patterns []*regexp.Regexp
	for _, r := range repositories {
		patterns = append(patterns, regexp.MustCompile(`(?:^|[^A-Za-z0-9./_-])`+regexp.QuoteMeta(r)+`(?::([A-Za-z0-9_][A-Za-z0-9._-]*))?(?:@(sha(?:256|512):[a-f0-9]+))?`))
	}
	named := &imageNames{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
	err := plan.WalkFiles(content, func(name string, src []byte) error {
		for _, p := range patterns {
			all := p.FindAllSubmatch(src, -1)
			if len(all) > 0 {
				named.unlisted(name, src)
			}
			for _, m := range all {
				tag, digest := string(m[1]), string(m[2])
				named.tags[tag], named.digests[digest] = true, true
				if tag != "" && digest != "" {
					named.with[tag] = true
				}
			}
		}
		return nil
	})
	return named, err
}

// unlisted records the bundles that a template names without listing an image.
func (n *imageNames) unlisted(name string, src []byte) {
	for _, bundle := range template.Unlisted(name, src) {
		if v, ok := graph.VersionOf(bundle); ok {
			n.versions[v.String()] = true
		}
	}
}

// record adds the named tags' digests from catalog.sum.
func (n *imageNames) record(content fs.FS, s Sweep) error {
	if s.Sum == "" {
		return nil
	}
	text, err := fs.ReadFile(content, s.Sum)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return failure.New(failure.Config, "reading the sum: %w", err).At(s.Sum, 0, 0).Fix("Name a file.")
	}
	sum, err := render.ParseSum(s.Sum, text)
	if err != nil {
		return err
	}
	for tag := range n.tags {
		if digest := sum.Digest(s.Repository + ":" + tag); digest != "" {
			n.with[tag], n.digests[digest] = true, true
		}
	}
	return nil
}

// Unannounced returns the images of repositories whose announcements were lost or never made. For a repository
// of catalog images, it returns one that the registry has.
func (r Run) Unannounced(ctx context.Context, content fs.FS, repositories []string, s Sweep) ([]Found, error) {
	var found []Found
	for _, name := range repositories {
		one, err := event.ParseReference(name + ":any")
		if err == nil && r.Allow != nil {
			err = r.Allow(one)
		}
		if err != nil {
			return nil, err
		}
		var more []Found
		s.Repository = one.Repository
		if IsCatalogImage(r.CatalogSources, s.Repository) {
			more, err = r.catalogImages(ctx, s.Repository)
		} else if more, err = Missing(ctx, content, r.Registry, s); err == nil {
			r.Notice("%s: %d images that no template or catalog names as they are now", s.Repository, len(more))
		}
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return found, nil
}

func (r Run) catalogImages(ctx context.Context, repository string) ([]Found, error) {
	for _, s := range r.CatalogSources {
		if s.Repository != repository {
			continue
		}
		_, err := r.Registry.Resolve(ctx, s.Repository+":"+s.Tag)
		if err == nil {
			return []Found{{Publication: event.Publication{Repository: s.Repository, Tag: s.Tag}}}, nil
		}
		if !failure.Is(err, failure.BundleNotFound) {
			return nil, err
		}
	}
	return nil, nil
}

// Announced returns the images of an announcement, plus those with a skipped tag that a CatalogSource names.
func (r Run) Announced(a event.Announcement, skipTags []string) []event.Publication {
	found := a.Publications
	for _, s := range a.Skipped {
		named := slices.ContainsFunc(r.CatalogSources, func(one plan.CatalogSourceSetup) bool {
			return one.Repository == s.Publication.Repository && one.Tag == s.Publication.Tag
		})
		if named && s.Reason == event.SkipReason(s.Publication.Tag, skipTags) {
			found = append(found, s.Publication)
			continue
		}
		r.Notice("%s is skipped: %s", s.Publication.Image(), s.Reason)
	}
	return found
}

// AsAnnounced returns CatalogSources with their repositories' names in the form of events.
func AsAnnounced(sources []plan.CatalogSourceSetup) []plan.CatalogSourceSetup {
	all := slices.Clone(sources)
	for i, s := range all {
		if one, err := event.ParseReference(s.Repository + ":" + s.Tag); err == nil {
			all[i].Repository = one.Repository
		}
	}
	return all
}
