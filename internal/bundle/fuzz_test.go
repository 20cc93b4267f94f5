package bundle

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
)

// Any bundle is rendered to valid JSON, the same each time, or refused as invalid.
func FuzzRender(f *testing.F) {
	f.Add(minimalCSV, minimalAnnotations, crdV1, "properties: [{type: a, value: 1}]\n")
	f.Add(`{"kind": "ClusterServiceVersion", "metadata": {"name": "a"}, "spec": {"relatedImages": [{"image": "b"}]}}`, minimalAnnotations, "kind: A\n---\n", `{"dependencies": [{"type": "olm.gvk", "value": {}}]}`)
	f.Fuzz(func(t *testing.T, csv, annotations, other, properties string) {
		img := minimal(csvFile, csv, annotFile, annotations, "manifests/other.yaml", other, "metadata/properties.yaml", properties)
		for _, format := range []MetadataFormat{BundleObjects, CSVMetadata} {
			first, err := document(img, format)
			if err != nil {
				if !failure.Is(err, failure.BundleInvalid) {
					t.Fatal(err)
				}
				continue
			}
			if !json.Valid(first) {
				t.Fatalf("not JSON: %s", first)
			}
			if second, err := document(img, format); err != nil || string(second) != string(first) {
				t.Fatalf("%v\n first %s\nsecond %s", err, first, second)
			}
		}
	})
}

func document(img Image, format MetadataFormat) ([]byte, error) {
	doc, err := Render(context.Background(), img, format)
	if err != nil {
		return nil, err
	}
	return Document(doc)
}
