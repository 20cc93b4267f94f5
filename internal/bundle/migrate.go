package bundle

import (
	"encoding/json"
	"slices"

	"github.com/olmgraft/graft/internal/bundle/object"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/yamlread"
)

// Showcase returns what a package shows of its head bundle. Like opm, it ignores a description or icon that
// cannot be read.
func (b *Bundle) Showcase() fbc.Showcase {
	show := fbc.Showcase{Icon: b.icon()}
	show.Description, _ = b.csv.text("description")
	return show
}

// Migrate converts a rendered bundle that contains its manifests into one that contains the CSV's description, as
// opm's bundle-object-to-csv-metadata does. It does not change a bundle without a CSV, or one that already has
// olm.csv.metadata.
func Migrate(doc fbc.Bundle) (fbc.Bundle, error) {
	b := &Bundle{image: Image{Ref: doc.Image}}
	kept := make([]fbc.Property, 0, len(doc.Properties))
	for _, p := range doc.Properties {
		switch p.Type {
		case typeCSVMetadata:
			return doc, nil
		case typeBundleObject:
			if b.csv == nil {
				b.csv = csvOf(p)
			}
		default:
			kept = append(kept, p)
		}
	}
	if b.csv == nil || doc.Image == "" {
		return doc, nil
	}
	held, err := b.csvMetadata()
	if err != nil {
		return doc, err
	}
	kept = append(kept, held...)
	doc.Properties = kept
	return doc, nil
}

// csvOf returns the CSV in a bundle object, or nil if the object contains something else.
func csvOf(p fbc.Property) *csv {
	var value struct{ Data []byte }
	if json.Unmarshal(p.Value, &value) != nil {
		return nil
	}
	v, _, err := object.Read(value.Data, yamlread.Usual)
	if err != nil || v.Str("kind") != kindCSV {
		return nil
	}
	spec, _ := v.Get("spec")
	return &csv{file: "an olm.bundle.object", object: v, spec: spec}
}

// Loaded returns a catalog's bundle as opm writes it after loading: related images sorted by image, properties
// that contain manifests last.
func Loaded(doc fbc.Bundle) fbc.Bundle {
	others, held := splitProperties(doc.Properties)
	doc.Properties = slices.Concat(others, held)
	doc.RelatedImages = slices.Clone(doc.RelatedImages)
	sortImages(doc.RelatedImages)
	return doc
}
