package conformance

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/crane"
	change "github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/operator-framework/api/pkg/manifests"
	"github.com/operator-framework/api/pkg/validation"
	validator "github.com/operator-framework/api/pkg/validation/interfaces"
	"sigs.k8s.io/yaml"

	"github.com/olmgraft/graft/internal/testkit/registry"
)

// controllerBundle returns the bundle in deploy/bundle.
func controllerBundle(t *testing.T) bundleFiles {
	t.Helper()
	files := bundleFiles{}
	for _, folder := range []string{"manifests", "metadata"} {
		entries, err := fs.ReadDir(os.DirFS("../deploy/bundle"), folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			text, err := os.ReadFile(filepath.Join("../deploy/bundle", folder, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			files[folder+"/"+e.Name()] = string(text)
		}
	}
	return files
}

// pushImage makes an image of one layer with go-containerregistry.
func pushImage(t *testing.T, to string, labels map[string]string, files map[string][]byte) {
	t.Helper()
	image, err := crane.Image(files)
	if err != nil {
		t.Fatal(err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	config.Config.Labels = labels
	if image, err = change.ConfigFile(image, config); err != nil {
		t.Fatal(err)
	}
	if err := crane.Push(image, to, crane.Insecure); err != nil {
		t.Fatal(err)
	}
}

// pinnedBundle returns the bundle with images of the registry, by digest.
func pinnedBundle(t *testing.T, address string) bundleFiles {
	t.Helper()
	pushImage(t, address+"/graft-controller:v0.1.0", nil, map[string][]byte{"graft-controller": []byte("the program")})
	const csv = "manifests/graft-controller.clusterserviceversion.yaml"
	files := controllerBundle(t)
	dir := writeBundle(t, files.with(csv, strings.ReplaceAll(files[csv], "ghcr.io/olmgraft/", address+"/")))
	graft(t, "pin", dir)
	graft(t, "pin", "--check", dir)
	text, err := os.ReadFile(filepath.Join(dir, csv))
	if err != nil {
		t.Fatal(err)
	}
	return files.with(csv, string(text))
}

// For the bundle of Graft's controller, the validators of the operator framework find nothing, opm and Graft
// render the same, and opm accepts the catalog that Graft makes from its image.
func TestControllerBundle(t *testing.T) {
	s, err := registry.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	files := pinnedBundle(t, s.Addr)
	if !compareBundle(t, files) {
		t.Error("opm does not render it")
	}
	bundle, err := manifests.GetBundleFromDir(writeBundle(t, files))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []validator.Validator{ // all except the one that pulls images with docker
		validation.ClusterServiceVersionValidator, validation.CustomResourceDefinitionValidator, validation.BundleValidator, validation.OperatorHubV2Validator,
		validation.StandardCategoriesValidator, validation.StandardCapabilitiesValidator, validation.ObjectValidator, validation.OperatorGroupValidator,
		validation.CommunityOperatorValidator, validation.AlphaDeprecatedAPIsValidator, validation.GoodPracticesValidator,
	} {
		for _, result := range v.Validate(bundle, bundle.ObjectsToValidate()) {
			for _, f := range append(result.Errors, result.Warnings...) {
				t.Errorf("%s: %v", result.Name, f)
			}
		}
	}

	image := map[string][]byte{}
	for name, text := range files {
		image[name] = []byte(text)
	}
	var metadata struct{ Annotations map[string]string }
	if err := yaml.Unmarshal(image["metadata/annotations.yaml"], &metadata); err != nil {
		t.Fatal(err)
	}
	ref := s.Addr + "/graft-controller-bundle:v0.1.0"
	pushImage(t, ref, metadata.Annotations, image)

	dir := t.TempDir()
	template, catalog := filepath.Join(dir, "semver.yaml"), filepath.Join(dir, "catalog")
	graft(t, "insert", "--create", "semver", "--channel", "Candidate", "--image", ref, template)
	made := graft(t, "render", template)
	if want := opm(t, "alpha", "render-template", "semver", "--use-http", "-o", "yaml", template); !bytes.Equal(made, []byte(want)) {
		t.Errorf("Graft renders\n%s\nand opm\n%s", made, want)
	}
	if err := os.Mkdir(catalog, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(catalog, "catalog.yaml"), made, 0o600); err != nil {
		t.Fatal(err)
	}
	graft(t, "verify", "--strict", catalog)
	opm(t, "validate", catalog)
}
