package bundle

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
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

// minimal is the smallest bundle there is, with other files: pairs of a name and a
// text, of which an empty one takes the file away.
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

// csvWith is the minimal CSV with more lines at the end of its spec.
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
		doc, err := Render(minimal(), format)
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

// props lists the properties of a rendered bundle without those that hold manifests.
func props(t *testing.T, img Image) []string {
	t.Helper()
	doc, err := Render(img, BundleObjects)
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

func TestProperties(t *testing.T) {
	const pkg = `olm.package {"packageName":"op","version":"1.0.0"}`
	tests := map[string]struct {
		img  Image
		want []string
	}{
		"versions of a CRD": {
			minimal("manifests/crd.yaml", crdV1),
			[]string{
				`olm.gvk {"group":"example.com","kind":"Thing","version":"v1"}`,
				`olm.gvk {"group":"example.com","kind":"Thing","version":"v2"}`,
				pkg,
			},
		},
		"versions and the old version of a CRD v1beta1": {
			minimal("manifests/crd.yaml", strings.Replace(crdV1, "/v1\n", "/v1beta1\n", 1)+"  version: v0\n"),
			[]string{
				`olm.gvk {"group":"example.com","kind":"Thing","version":"v0"}`,
				`olm.gvk {"group":"example.com","kind":"Thing","version":"v1"}`,
				`olm.gvk {"group":"example.com","kind":"Thing","version":"v2"}`,
				pkg,
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
				pkg,
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
				pkg,
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
			[]string{`a 0`, `a 1`, `b "2"`, pkg},
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
	for name, test := range tests {
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
			doc, err := Render(test.img, BundleObjects)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(doc.RelatedImages, test.want) {
				t.Errorf("\n got %v\nwant %v", doc.RelatedImages, test.want)
			}
		})
	}
}

// Manifests are ordered by the text of their property, and those that the author
// wrote as properties stand among them.
func TestBundleObjects(t *testing.T) {
	img := minimal(
		"manifests/a.json", `{"kind": "ConfigMap", "data": {"b": 1.0, "a": "<"}}`,
		"manifests/.hidden.yaml", "kind: Secret\n",
		"manifests/sub/x.yaml", "kind: Secret\n",
		"metadata/properties.yaml", "properties: [{type: olm.bundle.object, value: {data: ''}}]\n")
	doc, err := Render(img, BundleObjects)
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

// opm's migration leaves a bundle alone that has no reference or has metadata already.
func TestCSVMetadataIsNotMadeTwice(t *testing.T) {
	nameless := minimal()
	nameless.Ref = ""
	written := minimal("metadata/properties.yaml", "properties: [{type: olm.csv.metadata, value: {a: b}}]\n")
	for _, img := range []Image{nameless, written} {
		objects, err := Render(img, BundleObjects)
		if err != nil {
			t.Fatal(err)
		}
		metadata, err := Render(img, CSVMetadata)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(objects, metadata) {
			t.Errorf("\n got %v\nwant %v", metadata, objects)
		}
	}
}

// A bundle that has been read can be rendered any number of times, in any order.
func TestRenderLeavesTheBundleAlone(t *testing.T) {
	img := minimal("manifests/crd.yaml", crdV1)
	b, err := Parse(img)
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []MetadataFormat{CSVMetadata, BundleObjects, CSVMetadata, BundleObjects} {
		got, err := b.Render(format)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Render(img, format)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("format %d:\n got %v\nwant %v", format, got, want)
		}
	}
}

func TestFailures(t *testing.T) {
	unlabelled := minimal()
	unlabelled.Labels = nil
	catalog := minimal()
	catalog.Labels = maps.Clone(catalog.Labels)
	catalog.Labels[labelCatalog] = "/configs"
	old := minimal()
	old.Labels = map[string]string{labelPackage: "op", labelDatabase: "/database/index.db"}
	tests := map[string]struct {
		img        Image
		file, text string
	}{
		"no labels":            {unlabelled, "", "no label operators.operatorframework.io.bundle.package.v1"},
		"a catalog":            {catalog, "", "is a catalog"},
		"a catalog of old":     {old, "", "is a catalog"},
		"no manifests":         {minimal(csvFile, ""), "manifests", "no readable object"},
		"no CSV":               {minimal(csvFile, "", "manifests/crd.yaml", crdV1), "manifests", "no ClusterServiceVersion"},
		"a broken CSV":         {minimal(csvFile, "kind: [\n"), "manifests", "no readable object"},
		"no name":              {minimal(csvFile, strings.Replace(minimalCSV, "name:", "nome:", 1)), csvFile, "no name"},
		"no annotations":       {minimal(annotFile, ""), "metadata", labelPackage},
		"no package":           {minimal(annotFile, strings.Replace(minimalAnnotations, "package.v1", "package.v2", 1)), "metadata", labelPackage},
		"no spec":              {minimal(csvFile, strings.Replace(minimalCSV, "spec:", "spac:", 1)), csvFile, "no spec"},
		"a number as version":  {minimal(csvFile, strings.Replace(minimalCSV, "version: 1.0.0", "version: 1.5", 1)), csvFile, "spec.version is a fraction (1.5) where a string is wanted"},
		"an owned CRD missing": {minimal(csvFile, csvWith("  customresourcedefinitions: {owned: [{name: things.example.com, kind: Thing, version: v3}]}\n"), "manifests/crd.yaml", crdV1), csvFile, "there is Thing things.example.com/v1, Thing things.example.com/v2"},
		"an owned CRD unnamed": {minimal(csvFile, csvWith("  customresourcedefinitions: {owned: [{name: things}]}\n")), csvFile, "PLURAL.GROUP"},
		"an empty definition":  {minimal(csvFile, csvWith("  customresourcedefinitions: {owned: [null]}\n")), csvFile, "empty entry"},
		"a CRD of no group":    {minimal("manifests/crd.yaml", strings.Replace(crdV1, "apiextensions.k8s.io/", "", 1)), "manifests/crd.yaml", "not of apiextensions.k8s.io/v1"},
		"a CRD's wrong type":   {minimal("manifests/crd.yaml", strings.Replace(crdV1, "[{name: v2}", "[{name: v2, served: 'no'}", 1)), "manifests/crd.yaml", "spec.versions[0].served is a string (no) where a boolean is wanted"},
		"a deployment's type":  {minimal(csvFile, csvWith("  install: {strategy: deployment, spec: {deployments: [{spec: {replicas: '1'}}]}}\n")), csvFile, "spec.install.spec.deployments[0].spec.replicas is a string (1) where a whole number of 32 bits is wanted"},
		"a bad dependency":     {minimal("metadata/dependencies.yaml", "dependencies: [{type: olm.gvk, value: 1}]\n"), "", "olm.gvk"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Render(test.img, BundleObjects)
			first := failure.Of(err)
			switch {
			case err == nil:
				t.Fatal("no failure")
			case first.Code != failure.BundleInvalid || first.File != test.file:
				t.Errorf("%v (%s), want it in %q", err, first.Class, test.file)
			case !strings.Contains(first.Message, test.text) || !strings.Contains(first.Message, ref):
				t.Errorf("%q does not say %q and %s", first.Message, test.text, ref)
			case first.Remedy == "":
				t.Error("no remedy")
			}
		})
	}
}

// What opm decodes only when it makes olm.csv.metadata is refused only there.
func TestFailuresOfCSVMetadata(t *testing.T) {
	for _, spec := range []string{"  keywords: one\n", "  release: a_b\n", "  icon: [{base64data: 1}]\n"} {
		img := minimal(csvFile, csvWith(spec))
		if _, err := Render(img, BundleObjects); err != nil {
			t.Errorf("%q: %v", spec, err)
		}
		if _, err := Render(img, CSVMetadata); !failure.Is(err, failure.BundleInvalid) {
			t.Errorf("%q: %v", spec, err)
		}
	}
}

// A file that cannot be read explains why there is no CSV.
func TestFailureNamesTheBrokenFile(t *testing.T) {
	_, err := Parse(minimal(csvFile, "kind: ClusterServiceVersion\nspec: [\n", "manifests/crd.yaml", crdV1))
	all := failure.All(err)
	if len(all) != 2 || all[0].File != "manifests" || all[1].File != csvFile || all[1].Line == 0 {
		t.Errorf("%v", err)
	}
}

func TestFindings(t *testing.T) {
	img := minimal(
		"manifests/broken.yaml", "a: [\n",
		"manifests/more.yaml", "kind: Secret\n---\nkind: Secret\n",
		"manifests/zz.yaml", minimalCSV,
		"metadata/junk.yaml", "a: 'b\n")
	img.Labels = map[string]string{labelPackage: "other", labelManifests: "deploy/"}
	b, err := Parse(img)
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, f := range b.Findings {
		files = append(files, f.File)
	}
	want := []string{"", "manifests/broken.yaml", "manifests/more.yaml", "manifests/zz.yaml", "metadata/junk.yaml", ""}
	if !reflect.DeepEqual(files, want) {
		t.Errorf("findings %v", b.Findings)
	}
	clean, err := Parse(minimal())
	if err != nil || len(clean.Findings) > 0 {
		t.Error(err, clean.Findings)
	}
}
