package bundle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/fbc/canonical"
	"github.com/olmgraft/graft/internal/reference"
)

// Document gives an olm.bundle document as compact JSON in opm's field order. The
// values of properties keep the escapes that they have.
func Document(b fbc.Bundle) ([]byte, error) {
	size := 256
	for _, p := range b.Properties {
		size += len(p.Type) + len(p.Value) + 32
	}
	for _, i := range b.RelatedImages {
		size += len(i.Name) + len(i.Image) + 32
	}
	out := make([]byte, 0, size)
	field := func(before, text string) {
		out = append(out, before...)
		out = canonical.AppendString(out, text, false)
	}

	field(`{"schema":`, b.Schema)
	if b.Name != "" {
		field(`,"name":`, b.Name)
	}
	if b.Package != "" {
		field(`,"package":`, b.Package)
	}
	field(`,"image":`, b.Image)
	for i, p := range b.Properties {
		field(opening(i, "properties", "type"), p.Type)
		value, err := compact(p.Value)
		if err != nil {
			return nil, fmt.Errorf("writing bundle %s: property %s: %w", b.Name, p.Type, err)
		}
		out = append(out, `,"value":`...)
		out = append(out, value...)
		out = append(out, '}')
	}
	if len(b.Properties) > 0 {
		out = append(out, ']')
	}
	for i, r := range b.RelatedImages {
		field(opening(i, "relatedImages", "name"), r.Name)
		field(`,"image":`, r.Image)
		out = append(out, '}')
	}
	if len(b.RelatedImages) > 0 {
		out = append(out, ']')
	}
	return append(out, '}'), nil
}

// opening is what stands before the first field of a list's item.
func opening(i int, list, field string) string {
	if i == 0 {
		return `,"` + list + `":[{"` + field + `":`
	}
	return `,{"` + field + `":`
}

// compact drops white space from a value and checks that it is JSON. The values of
// bundle objects are large and known by their form.
func compact(value json.RawMessage) ([]byte, error) {
	if value == nil {
		return []byte("null"), nil
	}
	if fbc.PlainObject(value) {
		return value, nil
	}
	var out bytes.Buffer
	if err := json.Compact(&out, value); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// Document gives the bundle's olm.bundle document under the name of an image, which may be
// another than it was read from: a mirror's, or production's. csvMetadata asks for its CSV's
// description in place of its manifests.
func (b *Bundle) Document(image string, csvMetadata bool) ([]byte, error) {
	format := BundleObjects
	if csvMetadata {
		format = CSVMetadata
	}
	doc, err := b.Named(image).Render(format)
	if err != nil {
		return nil, err
	}
	return Document(doc)
}

// Named is the bundle under the name of another image.
func (b *Bundle) Named(image string) *Bundle {
	if image == b.image.Ref {
		return b
	}
	named := *b
	named.image.Ref = image
	named.collectImages()
	return &named
}

// Rewritten is a document with its image and its related images named by rules. Where that
// changes one, they stand in the order in which opm puts images of these names.
func Rewritten(doc fbc.Bundle, rules reference.Rewrites) fbc.Bundle {
	doc.Image = rules.Of(doc.Image)
	images := slices.Clone(doc.RelatedImages)
	for i := range images {
		images[i].Image = rules.Of(images[i].Image)
	}
	if !slices.Equal(images, doc.RelatedImages) {
		sortImages(images)
		doc.RelatedImages = images
	}
	return doc
}
