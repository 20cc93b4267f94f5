package render_test

import (
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/bundle"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/render"
)

const deprecations = `entries:
- message: old
  reference:
    name: op.v1.0.0
    schema: olm.bundle
package: op
schema: olm.deprecations
`

const shelfBundle = `image: example.com/op:v1.0.0
name: op.v1.0.0
package: op
properties:
- type: olm.package
  value:
    packageName: op
    version: 1.0.0
- type: olm.csv.metadata
  value:
    apiServiceDefinitions: {}
    crdDescriptions: {}
    description: What 1.0.0 does.
    displayName: Op 1.0.0
    provider: {}
relatedImages:
- image: example.com/op:v1.0.0
  name: ""
schema: olm.bundle
`

// Every document of a template is in its catalog, in opm's order: by package; in each package the package, then
// channels and bundles by name, other documents by schema, deprecations; at the end the documents without a
// package.
func TestDocumentsOfATemplate(t *testing.T) {
	const src = `schema: olm.template.basic
entries:
- {schema: some.other, name: loose}
- schema: olm.deprecations
  package: op
  entries:
  - {reference: {schema: olm.bundle, name: op.v1.0.0}, message: old}
- {schema: some.other, package: op, more: {b: 1, a: 2}}
- {schema: olm.bundle, image: "example.com/op:v1.0.0"}
- {schema: olm.channel, package: op, name: stable, entries: [{name: op.v1.0.0, skips: [op.v0.9.0], skipRange: <1.0.0}]}
- {schema: olm.channel, package: op, name: fast, entries: [{name: op.v1.0.0}], properties: [{type: a, value: [1]}]}
- {schema: olm.package, name: op, defaultChannel: stable, description: It does., icon: {base64data: aGk=, mediatype: image/png}}
- {schema: olm.package, name: a, defaultChannel: x}
`
	const yaml = `---
defaultChannel: x
name: a
schema: olm.package
---
defaultChannel: stable
description: It does.
icon:
  base64data: aGk=
  mediatype: image/png
name: op
schema: olm.package
---
entries:
- name: op.v1.0.0
name: fast
package: op
properties:
- type: a
  value:
  - 1
schema: olm.channel
---
entries:
- name: op.v1.0.0
  skipRange: <1.0.0
  skips:
  - op.v0.9.0
name: stable
package: op
schema: olm.channel
---
` + shelfBundle + `---
more:
  a: 2
  b: 1
package: op
schema: some.other
---
` + deprecations + `---
name: loose
schema: some.other
`
	o := render.Options{Registry: &fakeRegistry{}, Metadata: bundle.CSVMetadata}
	if got := string(text(t, open(t, "t.yaml", []byte(src)), o)); got != yaml {
		t.Errorf("got\n%s\nwant\n%s", got, yaml)
	}
	o.Format = fbc.JSON
	got := string(text(t, open(t, "t.yaml", []byte(src)), o))
	if !strings.HasPrefix(got, "{\n    \"schema\": \"olm.package\",\n    \"name\": \"a\",\n    \"defaultChannel\": \"x\"\n}\n{\n") || !strings.HasSuffix(got, "\n}\n{\n    \"name\": \"loose\",\n    \"schema\": \"some.other\"\n}\n") {
		t.Errorf("in JSON:\n%s", got)
	}
	docs := docsOf(t, []byte(got))
	var back strings.Builder
	for i := range docs {
		b, err := docs[i].Blob(fbc.YAML)
		if err != nil {
			t.Fatal(err)
		}
		back.WriteString("---\n" + string(b.Body))
	}
	if back.String() != yaml {
		t.Errorf("JSON and YAML differ in meaning:\n%s", back.String())
	}
}

// Rendering a catalog loads it as opm does: properties that contain manifests come last, related images are
// sorted by name, and for csv metadata the manifests are migrated. A bundle that is only an image is rendered.
func TestRenderACatalog(t *testing.T) {
	const head = "---\ndefaultChannel: stable\nname: op\nschema: olm.package\n---\nentries:\n- name: op.v1.0.0\nname: stable\npackage: op\nschema: olm.channel\n---\n"
	const objects = "eyJraW5kIjoiQ2x1c3RlclNlcnZpY2VWZXJzaW9uIiwic3BlYyI6eyJkaXNwbGF5TmFtZSI6Ik9wIiwidmVyc2lvbiI6IjEuMC4wIn19" // a CSV named Op
	const shuffled = `image: example.com/op:v1.0.0
name: op.v1.0.0
package: op
properties:
- type: olm.bundle.object
  value:
    data: ` + objects + `
- type: olm.package
  value:
    packageName: op
    version: 1.0.0
relatedImages:
- image: z
  name: a
- image: b
  name: b
schema: olm.bundle
`
	const ordered = `image: example.com/op:v1.0.0
name: op.v1.0.0
package: op
properties:
- type: olm.package
  value:
    packageName: op
    version: 1.0.0
- type: olm.bundle.object
  value:
    data: ` + objects + `
relatedImages:
- image: b
  name: b
- image: z
  name: a
schema: olm.bundle
`
	migrated := strings.Replace(ordered, "olm.bundle.object\n  value:\n    data: "+objects, "olm.csv.metadata\n  value:\n    apiServiceDefinitions: {}\n    crdDescriptions: {}\n    displayName: Op\n    provider: {}", 1)
	for _, tt := range []struct {
		name, src string
		metadata  bundle.MetadataFormat
		want      string
	}{
		{"put in order", head + shuffled, bundle.BundleObjects, head + ordered},
		{"migrated", head + shuffled, bundle.CSVMetadata, head + migrated},
		{"with csv metadata already", head + migrated, bundle.CSVMetadata, head + migrated},
		{"csv metadata stays", head + migrated, bundle.BundleObjects, head + migrated},
		{"a bundle by image", head + "image: example.com/op:v1.0.0\nschema: olm.bundle\n---\n" + strings.ReplaceAll(ordered, "1.0.0", "1.1.0"), bundle.CSVMetadata,
			head + shelfBundle + "---\n" + strings.ReplaceAll(migrated, "1.0.0", "1.1.0")},
	} {
		got := string(text(t, open(t, "catalog.yaml", []byte(tt.src)), render.Options{Registry: &fakeRegistry{}, Metadata: tt.metadata}))
		if got != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
	// The documents of a template stay as written.
	substitutes := "schema: olm.template.substitutes\nentries:\n- {schema: olm.package, name: op, defaultChannel: stable}\n- {schema: olm.channel, package: op, name: stable, entries: [{name: op.v1.0.0}]}\n- " + strings.TrimSpace(strings.ReplaceAll(shuffled, "\n", "\n  ")) + "\n"
	for _, metadata := range []bundle.MetadataFormat{bundle.BundleObjects, bundle.CSVMetadata} {
		if got := string(text(t, open(t, "t.yaml", []byte(substitutes)), render.Options{Registry: &fakeRegistry{}, Metadata: metadata})); got != head+shuffled {
			t.Errorf("of a template: got\n%s\nwant\n%s", got, head+shuffled)
		}
	}
}
