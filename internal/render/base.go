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
	// shows holds what the packages of the base show, by the image of the bundle that it comes from.
	shows map[string]fbc.Showcase
	// icons holds the icons of packages.
	icons map[string]*fbc.Icon
	// kept holds documents that were added to the catalog after rendering, and must stay.
	kept []fbc.Doc
}

// NewBase indexes the documents of an earlier rendering. It does not use a bundle that occurs twice.
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

// keep adds the kept documents of the base, except those that the template also has.
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

// filled sets a package's icon to that of the base if the template's icon is empty. Scripts use such templates
// and add the icon for rendering; opm refuses a catalog with an empty icon.
func (b *Base) filled(p fbc.Package) fbc.Package {
	if b == nil || p.Icon == nil || len(p.Icon.Data) > 0 || b.icons[p.Name] == nil {
		return p
	}
	p.Icon = b.icons[p.Name]
	return p
}

// readShows finds the bundle at the head of each default channel. In channels from a semver template that is the
// last entry.
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

// fromBase takes a bundle from the base: its unchanged bytes if format and layout are the same, otherwise its
// content in the requested format. It looks for the image's name in the catalog, and then for the name in the
// template, in case the catalog's name is new. It returns nil if the base cannot provide the bundle.
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

// Seen caches the results for bundles of bases. Catalogs of one template usually contain the same bundles, and a
// catalog is rendered before and after a change. Only one rendering may use it at a time.
type Seen map[seenKey]standing

type seenKey struct {
	text     uint64
	format   fbc.Format
	metadata bundle.MetadataFormat
	rewrite  string
}

// standing is a base's bundle in the form of the catalog. Without a body it must be pulled.
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
		return nil, false // the base does not have the manifests
	case r.o.Metadata == bundle.CSVMetadata && objects:
		return r.made(d, true)
	case r.renames(light), r.o.Format == fbc.JSON && metadata:
		return r.made(d, false)
	case d.Format == r.o.Format && d.Exact():
		return d.Raw(), true
	}
	blob, err := d.Blob(r.o.Format)
	return blob.Body, err == nil
}

// made returns a document of the base, encoded again with the images' names in the catalog.
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
	if r.o.Format == fbc.JSON {
		whole = bundle.Ordered(whole)
	}
	text, err := bundle.Document(bundle.Rewritten(whole, r.o.Rewrite))
	if err != nil {
		return nil, false
	}
	body, err := fbc.Encode(r.o.Format, text)
	return body, err == nil
}

// renames reports whether the catalog renames an image of the bundle.
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
