package render

import (
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/olmgraft/graft/internal/bundle"
	"github.com/olmgraft/graft/internal/fbc"
)

// Base is an earlier rendering, indexed by image.
type Base struct {
	docs map[string]*fbc.Doc
	// shows has what the packages of the base show, by the image of the bundle that
	// they took it from.
	shows map[string]fbc.Showcase
	// icons are those of packages.
	icons map[string]*fbc.Icon
	// kept are documents that are put into catalogs after they are rendered, and stay.
	kept []fbc.Doc
}

// NewBase indexes the documents of an earlier rendering. A bundle that stands there
// twice is not used.
func NewBase(docs []fbc.Doc) *Base {
	b := &Base{docs: make(map[string]*fbc.Doc, len(docs)), shows: map[string]fbc.Showcase{}, icons: map[string]*fbc.Icon{}}
	twice := map[string]bool{}
	for i := range docs {
		d := &docs[i]
		if d.Schema == fbc.SchemaLifecycles {
			b.kept = append(b.kept, *d)
		}
		if d.Schema != fbc.SchemaBundle || d.Image == "" {
			continue
		}
		if b.docs[d.Image] != nil {
			twice[d.Image] = true
		}
		b.docs[d.Image] = d
	}
	for image := range twice {
		delete(b.docs, image)
	}
	b.readShows(docs)
	return b
}

// keep adds what stays of the base, unless the template has a document of that name.
func (b *Base) keep(r *Result, template []fbc.Other) error {
	if b == nil {
		return nil
	}
	for i := range b.kept {
		d := &b.kept[i]
		if slices.ContainsFunc(template, func(o fbc.Other) bool { return o.Schema == d.Schema && o.Package == d.Package && o.Name == d.Name }) {
			continue
		}
		blob, err := d.Blob(r.Format)
		if err != nil {
			return err
		}
		r.blobs = append(r.blobs, blob)
	}
	return nil
}

// filled is a package with the icon of the base where the template leaves that empty, as scripts
// do that put it in for rendering. opm takes no catalog with an empty icon.
func (b *Base) filled(p fbc.Package) fbc.Package {
	if b == nil || p.Icon == nil || len(p.Icon.Data) > 0 || b.icons[p.Name] == nil {
		return p
	}
	p.Icon = b.icons[p.Name]
	return p
}

// readShows finds the bundle at the head of each default channel: the last entry, in
// channels that a semver template made.
func (b *Base) readShows(docs []fbc.Doc) {
	images := map[string]string{}
	for image, d := range b.docs {
		images[d.Package+"/"+d.Name] = image
	}
	heads := map[string]string{}
	for i := range docs {
		if docs[i].Schema != fbc.SchemaChannel {
			continue
		}
		if ch, err := docs[i].Channel(); err == nil && len(ch.Entries) > 0 {
			heads[ch.Package+"/"+ch.Name] = ch.Package + "/" + ch.Entries[len(ch.Entries)-1].Name
		}
	}
	for i := range docs {
		if docs[i].Schema != fbc.SchemaPackage {
			continue
		}
		p, err := docs[i].PackageDoc()
		if err == nil && p.Icon != nil {
			b.icons[p.Name] = p.Icon
		}
		if image := images[heads[p.Name+"/"+p.DefaultChannel]]; err == nil && image != "" {
			b.shows[image] = fbc.Showcase{Description: p.Description, Icon: p.Icon}
		}
	}
}

// fromBase takes a bundle from the base: its bytes as they are where format and layout
// are the same, else its facts in the format that is asked for. It stands there as the catalog
// names it, or, where that is new, as the template does. nil where the base does not hold
// them.
func (r *renderer) fromBase(image string) *rendered {
	if r.o.Base == nil {
		return nil
	}
	d := r.o.Base.docs[r.o.Rewrite.Of(image)]
	if d == nil {
		d = r.o.Base.docs[image]
	}
	if d == nil {
		return nil
	}
	s := r.standing(d)
	if s.body == nil || !r.recorded(image, s.body) {
		return nil
	}
	b := &rendered{facts: s.facts, reused: true}
	b.blob = fbc.Blob{Schema: d.Schema, Package: d.Package, Name: d.Name, Body: s.body, Format: r.o.Format}
	if show, ok := r.o.Base.shows[d.Image]; ok {
		b.show = &show
	}
	return b
}

// Seen remembers what became of the bundles of bases. Catalogs of one template mostly hold the
// same ones, and a catalog is rendered from its template before and after a change. It is for
// one rendering at a time.
type Seen map[seenKey]standing

type seenKey struct {
	text     uint64
	format   fbc.Format
	metadata bundle.MetadataFormat
	rewrite  string
}

// standing is a bundle of a base as the catalog has it; without a body it is to be pulled anew.
type standing struct {
	facts fbc.Facts
	body  []byte
}

var seed = maphash.MakeSeed()

func (r *renderer) standing(d *fbc.Doc) standing {
	if r.o.Seen == nil {
		return r.stands(d)
	}
	key := seenKey{maphash.Bytes(seed, d.Raw()), r.o.Format, r.o.Metadata, fmt.Sprint(r.o.Rewrite)}
	s, ok := r.o.Seen[key]
	if !ok {
		s = r.stands(d)
		r.o.Seen[key] = s
	}
	return s
}

func (r *renderer) stands(d *fbc.Doc) (s standing) {
	light, err := d.BundleLight()
	if err != nil {
		return standing{}
	}
	if s.facts, err = d.FactsOf(light); err != nil {
		return standing{}
	}
	if body, ok := r.baseBody(d, light); ok {
		s.body = body
	}
	return s
}

func (r *renderer) baseBody(d *fbc.Doc, light fbc.Bundle) ([]byte, bool) {
	objects, metadata := holds(light)
	switch {
	case r.o.Metadata == bundle.BundleObjects && metadata:
		return nil, false // the manifests are not there
	case r.o.Metadata == bundle.CSVMetadata && objects:
		return r.made(d, true)
	case r.renames(light):
		return r.made(d, false)
	case d.Format == r.o.Format && d.Exact():
		return d.Raw(), true
	}
	blob, err := d.Blob(r.o.Format)
	return blob.Body, err == nil
}

// made is a document of the base that is written anew, with the images named as the catalog
// does.
func (r *renderer) made(d *fbc.Doc, migrate bool) ([]byte, bool) {
	whole, err := d.Bundle()
	if err != nil {
		return nil, false
	}
	if migrate {
		if whole, err = bundle.Migrate(whole); err != nil {
			return nil, false
		}
		if _, metadata := holds(whole); !metadata {
			return nil, false
		}
	}
	text, err := bundle.Document(bundle.Rewritten(whole, r.o.Rewrite))
	if err != nil {
		return nil, false
	}
	body, err := fbc.Encode(r.o.Format, text)
	return body, err == nil
}

// renames reports whether the catalog names an image of the bundle otherwise.
func (r *renderer) renames(b fbc.Bundle) bool {
	other := func(image string) bool { return r.o.Rewrite.Of(image) != image }
	return other(b.Image) || slices.ContainsFunc(b.RelatedImages, func(i fbc.RelatedImage) bool { return other(i.Image) })
}

func holds(b fbc.Bundle) (objects, metadata bool) {
	for _, p := range b.Properties {
		objects = objects || p.Type == fbc.TypeBundleObject
		metadata = metadata || p.Type == fbc.TypeCSVMetadata
	}
	return objects, metadata
}
