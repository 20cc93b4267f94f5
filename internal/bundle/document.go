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

// Document returns an olm.bundle document as compact JSON in opm's field order. Values of properties keep their
// escapes.
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

// opening returns the text before the first field of a list's item.
func opening(i int, list, field string) string {
	if i == 0 {
		return `,"` + list + `":[{"` + field + `":`
	}
	return `,{"` + field + `":`
}

// compact removes white space from a value and checks that it is JSON. It recognizes the large values of bundle
// objects by their form.
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

// Document returns the bundle's olm.bundle document under the name of an image. That name may differ from the one
// it was read from, such as a mirror's. csvMetadata selects the CSV's description instead of the manifests.
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

// Named returns the bundle under another image's name.
func (b *Bundle) Named(image string) *Bundle {
	if image == b.image.Ref {
		return b
	}
	named := *b
	named.image.Ref = image
	named.collectImages()
	return &named
}

// Rewritten returns a document with its image and related images renamed by rules. If a related image changes,
// the images are sorted as opm sorts them.
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
