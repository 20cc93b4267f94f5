package kind

import (
	"cmp"
	"maps"
	"slices"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/reference"
)

// Published is what users can have: the bundles of the catalogs that were added. A nil one
// has none.
type Published struct {
	images map[string]string // the catalog, by image and by digest
	names  map[string]publishedBundle
}

type publishedBundle struct{ catalog, image string }

// Add takes the bundles of a catalog. Where several have one, the first is named.
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

// Has is the catalog that has a bundle of the name, empty where there is none.
func (p *Published) Has(name string) string {
	if p == nil {
		return ""
	}
	return p.names[name].catalog
}

// HasVersion is the catalog that has a bundle of the name, or one of the version that the name
// says: a name that was made of a tag need not be the bundle's.
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

// Image is the image that a published bundle of the name has, empty where there is none.
func (p *Published) Image(name string) string {
	if p == nil {
		return ""
	}
	return p.names[name].image
}

// published is the catalog from which users can have a bundle that stands in a template: by its
// image or digest, and one that is given up by its name as well. A tag of which nobody knows
// the digest tells nothing: then the name counts, unless it is published with the requested
// image already.
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

// moved is the catalog from which users can have what a tag named before: the requested image
// stands in the template by that tag, and by its digest it is not what is published.
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
