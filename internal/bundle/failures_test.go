package bundle

import (
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
)

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
			_, err := Render(t.Context(), test.img, BundleObjects)
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

// Fields that opm decodes only for olm.csv.metadata are refused only for that format.
func TestFailuresOfCSVMetadata(t *testing.T) {
	for _, spec := range []string{"  keywords: one\n", "  release: a_b\n", "  icon: [{base64data: 1}]\n"} {
		img := minimal(csvFile, csvWith(spec))
		if _, err := Render(t.Context(), img, BundleObjects); err != nil {
			t.Errorf("%q: %v", spec, err)
		}
		if _, err := Render(t.Context(), img, CSVMetadata); !failure.Is(err, failure.BundleInvalid) {
			t.Errorf("%q: %v", spec, err)
		}
	}
}

// A file that cannot be read explains the missing CSV.
func TestFailureNamesTheBrokenFile(t *testing.T) {
	_, err := Parse(t.Context(), minimal(csvFile, "kind: ClusterServiceVersion\nspec: [\n", "manifests/crd.yaml", crdV1))
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
	b, err := Parse(t.Context(), img)
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
	clean, err := Parse(t.Context(), minimal())
	if err != nil || len(clean.Findings) > 0 {
		t.Error(err, clean.Findings)
	}
}
