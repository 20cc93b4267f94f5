package kind

import (
	"cmp"
	"maps"
	"slices"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/reference"
)

// Published holds the bundles that users may have: those of the added catalogs. A nil Published is empty.
type Published struct {
	images map[string]string // the catalog by image and by digest
	names  map[string]publishedBundle
}

type publishedBundle struct{ catalog, image string }

// Add adds the bundles of a catalog. If several catalogs have a bundle, the first one is named.
func (p *Published) Add(catalog string, docs []fbc.Doc) {
	if p.images == nil {
		p.images, p.names = map[string]string{}, map[string]publishedBundle{}
	}
	for _, d := range docs {
		if d.Schema != fbc.SchemaBundle || d.Name == "" || d.Image == "" {
			continue
		}
		if _, ok := p.names[d.Name]; !ok {
			p.names[d.Name] = publishedBundle{catalog, d.Image}
		}
		for _, key := range []string{d.Image, digestIn(d.Image)} {
			if key != "" && p.images[key] == "" {
				p.images[key] = catalog
			}
		}
	}
}

// Has returns the catalog that has a bundle with this name, empty if none has it.
func (p *Published) Has(name string) string {
	if p == nil {
		return ""
	}
	return p.names[name].catalog
}

// HasVersion returns the catalog that has a bundle with this name, or with the version in the name: a name
// derived from a tag need not be the bundle's name.
func (p *Published) HasVersion(name string) string {
	if found := p.Has(name); found != "" || p == nil {
		return found
	}
	v, ok := graph.VersionOf(name)
	for _, other := range slices.Sorted(maps.Keys(p.names)) {
		if o, told := graph.VersionOf(other); ok && told && o.String() == v.String() {
			return p.names[other].catalog
		}
	}
	return ""
}

// Image returns the image of the published bundle with this name, empty if it is not published.
func (p *Published) Image(name string) string {
	if p == nil {
		return ""
	}
	return p.names[name].image
}

// published returns the catalog through which users may have an existing bundle. It looks for the image or
// digest, and also for the name if the bundle gives up its place. If the digest of a tag is unknown, the name
// decides, unless that name is already published with the requested image.
func (r Request) published(s Standing, id Identity) string {
	if r.Published == nil {
		return ""
	}
	digest := r.digest(s.Image, "")
	if found := cmp.Or(r.Published.images[s.Image], r.Published.images[digest]); found != "" {
		return found
	}
	if id == Replaced {
		return r.Published.Has(cmp.Or(s.Name, r.InsteadOf))
	}
	if named := r.Published.Image(r.Bundle.Name); digest == "" && !sameContent(named, r.Bundle) {
		return r.Published.Has(r.Bundle.Name)
	}
	return ""
}

// moved returns the catalog through which users may have the content that a tag named before: the template holds
// the requested image by that tag, and its digest differs from the published one.
func (r Request) moved() string {
	_, tag, _ := reference.Cut(r.Bundle.Image)
	if published := digestIn(r.Published.Image(r.Bundle.Name)); !r.Rebuild || tag == "" || r.Bundle.Digest == "" || published == "" || published == r.Bundle.Digest {
		return ""
	}
	return r.Published.Has(r.Bundle.Name)
}

func sameContent(image string, b Bundle) bool {
	digest := cmp.Or(b.Digest, digestIn(b.Image))
	return image == b.Image || digest != "" && digest == digestIn(image)
}

func digestIn(image string) string {
	_, _, digest := reference.Cut(image)
	return digest
}
