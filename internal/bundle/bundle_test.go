package bundle

import (
	"encoding/base64"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/fbc"
)

const (
	ref        = "registry.example.com/op:v1.0.0"
	csvFile    = "manifests/op.csv.yaml"
	annotFile  = "metadata/annotations.yaml"
	minimalCSV = `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: op.v1.0.0
spec:
  version: 1.0.0
`
	minimalAnnotations = `annotations:
  operators.operatorframework.io.bundle.package.v1: op
  operators.operatorframework.io.bundle.channels.v1: stable, fast,,stable
  operators.operatorframework.io.bundle.channel.default.v1: fast
  com.redhat.openshift.versions: v4.12-v4.19
`
	crdV1 = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec:
  group: example.com
  names: {kind: Thing, plural: things}
  versions: [{name: v2}, {name: v1}]
`
)

// minimal returns the smallest valid bundle with other files. pairs alternates names and texts; an empty text
// removes the file.
func minimal(pairs ...string) Image {
	files := map[string]string{csvFile: minimalCSV, annotFile: minimalAnnotations}
	for i := 0; i < len(pairs); i += 2 {
		if files[pairs[i]] = pairs[i+1]; pairs[i+1] == "" {
			delete(files, pairs[i])
		}
	}
	img := Image{Ref: ref, Labels: map[string]string{labelPackage: "op"}, Files: Files{}}
	for name, text := range files {
		img.Files[name] = []byte(text)
	}
	return img
}

// csvWith returns the minimal CSV with more lines at the end of its spec.
func csvWith(spec string) string { return minimalCSV + spec }

func TestRenderMinimal(t *testing.T) {
	csv := `{"apiVersion":"operators.coreos.com/v1alpha1","kind":"ClusterServiceVersion","metadata":{"name":"op.v1.0.0"},"spec":{"version":"1.0.0"}}`
	begin := `{"schema":"olm.bundle","name":"op.v1.0.0","package":"op","image":"` + ref + `","properties":[` +
		`{"type":"olm.package","value":{"packageName":"op","version":"1.0.0"}},`
	end := `],"relatedImages":[{"name":"","image":"` + ref + `"}]}`
	for format, held := range map[MetadataFormat]string{
		BundleObjects: `{"type":"olm.bundle.object","value":{"data":"` + base64.StdEncoding.EncodeToString([]byte(csv)) + `"}}`,
		CSVMetadata:   `{"type":"olm.csv.metadata","value":{"apiServiceDefinitions":{},"crdDescriptions":{},"provider":{}}}`,
	} {
		doc, err := Render(t.Context(), minimal(), format)
		if err != nil {
			t.Fatal(err)
		}
		text, err := Document(doc)
		if err != nil {
			t.Fatal(err)
		}
		if want := begin + held + end; string(text) != want {
			t.Errorf("format %d:\n got %s\nwant %s", format, text, want)
		}
	}
}

// props returns the properties of a rendered bundle without those that contain manifests.
func props(t *testing.T, img Image) []string {
	t.Helper()
	doc, err := Render(t.Context(), img, BundleObjects)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, p := range doc.Properties {
		if p.Type != typeBundleObject {
			list = append(list, p.Type+" "+string(p.Value))
		}
	}
	return list
}

const opV1Property = `olm.package {"packageName":"op","version":"1.0.0"}`

var propertyTests = map[string]struct {
	img  Image
	want []string
}{
	"versions of a CRD": {
		minimal("manifests/crd.yaml", crdV1),
		[]string{
			`olm.gvk {"group":"example.com","kind":"Thing","version":"v1"}`,
			`olm.gvk {"group":"example.com","kind":"Thing","version":"v2"}`,
			opV1Property,
		},
	},
	"versions and the old version of a CRD v1beta1": {
		minimal("manifests/crd.yaml", strings.Replace(crdV1, "/v1\n", "/v1beta1\n", 1)+"  version: v0\n"),
		[]string{
			`olm.gvk {"group":"example.com","kind":"Thing","version":"v0"}`,
			`olm.gvk {"group":"example.com","kind":"Thing","version":"v1"}`,
			`olm.gvk {"group":"example.com","kind":"Thing","version":"v2"}`,
			opV1Property,
		},
	},
	"API services and what is required": {
		minimal(csvFile, csvWith(`  apiservicedefinitions:
    owned: [{name: things, group: g, version: v1, kind: Thing}]
    required: [{name: others, group: h, version: v1, kind: Other}]
  customresourcedefinitions:
    required: [{name: more.i.example.com, version: v1, kind: More}]
`)),
		[]string{
			`olm.gvk {"group":"g","kind":"Thing","version":"v1"}`,
			`olm.gvk.required {"group":"h","kind":"Other","version":"v1"}`,
			`olm.gvk.required {"group":"i.example.com","kind":"More","version":"v1"}`,
			opV1Property,
		},
	},
	"dependencies become requirements": {
		minimal("metadata/dependencies.yaml", `dependencies:
- {type: olm.package, value: {packageName: dep, version: ">=1.0.0"}}
- {type: olm.gvk, value: {group: g, version: v1, kind: K}}
- {type: olm.constraint, value: {failureMessage: none}}
`),
		[]string{
			`olm.constraint {"failureMessage":"none"}`,
			`olm.gvk.required {"group":"g","kind":"K","version":"v1"}`,
			opV1Property,
			`olm.package.required {"packageName":"dep","versionRange":">=1.0.0"}`,
		},
	},
	"properties of the file and of the annotation, each text once": {
		minimal("metadata/properties.yaml", `properties:
- {type: b, value: "2"}
- {type: a, value: 1}
- {type: b, value: "2"}
`, csvFile, strings.Replace(minimalCSV, "metadata:\n", `metadata:
  annotations:
    olm.properties: '[{"type": "a", "value": 1}, {"type": "a", "value": 0}]'
`, 1)),
		[]string{`a 0`, `a 1`, `b "2"`, opV1Property},
	},
	"the last package property counts": {
		minimal(csvFile, strings.Replace(minimalCSV, "metadata:\n", `metadata:
  annotations:
    olm.properties: '[{"type": "olm.package", "value": {"packageName": "x", "version": "2"}}]'
`, 1)),
		[]string{`olm.package {"packageName":"x","version":"2"}`},
	},
	"a release that is a text": {
		minimal(csvFile, csvWith("  release: rc.1\n")),
		[]string{`olm.package {"packageName":"op","version":"1.0.0","release":"rc.1"}`},
	},
	"a release that is a number": {
		minimal(csvFile, csvWith("  release: 2.0\n")),
		[]string{`olm.package {"packageName":"op","version":"1.0.0","release":"2"}`},
	},
	"a package that is a number": {
		minimal(annotFile, strings.Replace(minimalAnnotations, "v1: op", "v1: 4.10", 1)),
		[]string{`olm.package {"packageName":"4.1","version":"1.0.0"}`},
	},
	"escapes stay in what is written down, and only there": {
		minimal(annotFile, strings.Replace(minimalAnnotations, "v1: op", "v1: <op>", 1), "metadata/properties.yaml", "properties: [{type: a, value: <}]\n"),
		[]string{`a "\u003c"`, `olm.package {"packageName":"<op>","version":"1.0.0"}`},
	},
}

func TestProperties(t *testing.T) {
	for name, test := range propertyTests {
		t.Run(name, func(t *testing.T) {
			if got := props(t, test.img); !reflect.DeepEqual(got, test.want) {
				t.Errorf("\n got %q\nwant %q", got, test.want)
			}
		})
	}
}

func TestRelatedImages(t *testing.T) {
	deployments := `  install:
    strategy: deployment
    spec:
      deployments:
      - spec:
          template:
            spec:
              initContainers: [{image: init}]
              containers: [{image: b, env: [{name: RELATED_IMAGE_C, value: c}]}, {image: b}]
`
	tests := map[string]struct {
		img  Image
		want []fbc.RelatedImage
	}{
		"listed, of containers, and the bundle": {
			minimal(csvFile, csvWith("  relatedImages: [{name: z, image: z}, {name: b, image: b}]\n"+deployments)),
			[]fbc.RelatedImage{{Name: "b", Image: "b"}, {Image: "init"}, {Image: ref}, {Name: "z", Image: "z"}},
		},
		"the bundle is listed": {
			minimal(csvFile, csvWith("  relatedImages: [{name: me, image: '"+ref+"'}]\n")),
			[]fbc.RelatedImage{{Name: "me", Image: ref}},
		},
		"an install strategy that opm does not know": {
			minimal(csvFile, csvWith(strings.Replace(deployments, "strategy: deployment", "strategy: other", 1))),
			[]fbc.RelatedImage{{Image: ref}},
		},
		"an image that is listed twice stays twice": {
			minimal(csvFile, csvWith("  relatedImages: [{name: w, image: a}, {name: v, image: a}]\n")),
			[]fbc.RelatedImage{{Name: "w", Image: "a"}, {Name: "v", Image: "a"}, {Image: ref}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			doc, err := Render(t.Context(), test.img, BundleObjects)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(doc.RelatedImages, test.want) {
				t.Errorf("\n got %v\nwant %v", doc.RelatedImages, test.want)
			}
		})
	}
}

// Manifests are sorted by the text of their property, together with those that the author wrote as properties.
func TestBundleObjects(t *testing.T) {
	img := minimal(
		"manifests/a.json", `{"kind": "ConfigMap", "data": {"b": 1.0, "a": "<"}}`,
		"manifests/.hidden.yaml", "kind: Secret\n",
		"manifests/sub/x.yaml", "kind: Secret\n",
		"metadata/properties.yaml", "properties: [{type: olm.bundle.object, value: {data: ''}}]\n")
	doc, err := Render(t.Context(), img, BundleObjects)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range doc.Properties[1:] {
		var object struct{ Data []byte }
		if err := json.Unmarshal(p.Value, &object); err != nil || p.Type != typeBundleObject {
			t.Fatal(p, err)
		}
		got = append(got, string(object.Data))
	}
	want := []string{"", `{"apiVersion":"operators.coreos.com/v1alpha1","kind":"ClusterServiceVersion","metadata":{"name":"op.v1.0.0"},"spec":{"version":"1.0.0"}}`,
		`{"data":{"a":"\u003c","b":1},"kind":"ConfigMap"}`}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
}

// opm's migration does not change a bundle that has no reference or already has metadata.
func TestCSVMetadataIsNotMadeTwice(t *testing.T) {
	nameless := minimal()
	nameless.Ref = ""
	written := minimal("metadata/properties.yaml", "properties: [{type: olm.csv.metadata, value: {a: b}}]\n")
	for _, img := range []Image{nameless, written} {
		objects, err := Render(t.Context(), img, BundleObjects)
		if err != nil {
			t.Fatal(err)
		}
		metadata, err := Render(t.Context(), img, CSVMetadata)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(objects, metadata) {
			t.Errorf("\n got %v\nwant %v", metadata, objects)
		}
	}
}

// A parsed bundle can be rendered repeatedly and in any order.
func TestRenderLeavesTheBundleAlone(t *testing.T) {
	img := minimal("manifests/crd.yaml", crdV1)
	b, err := Parse(t.Context(), img)
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []MetadataFormat{CSVMetadata, BundleObjects, CSVMetadata, BundleObjects} {
		got, err := b.Render(format)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Render(t.Context(), img, format)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("format %d:\n got %v\nwant %v", format, got, want)
		}
	}
}
