package install

import (
	"encoding/base64"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// clusterServiceVersions is the module with the definition of ClusterServiceVersion.
const clusterServiceVersions = "github.com/operator-framework/api@v0.45.0"

// The bundle of the controller is generated from deploy/controller/base, and an API server accepts its
// ClusterServiceVersion without unknown fields.
func TestBundle(t *testing.T) {
	base := kustomized(t, "controller", "base")
	csv := inFile(t, "bundle", "base.yaml")[0]
	image := "ghcr.io/olmgraft/graft-controller:v" + field(t, csv, "spec", "version").(string)
	icon, err := os.ReadFile(deploy("bundle", "icon.svg"))
	if err != nil {
		t.Fatal(err)
	}
	install := values{}
	for _, o := range base {
		switch o.GetKind() {
		case "ClusterRole":
			install["clusterPermissions"] = granted(t, o)
		case "Role":
			install["permissions"] = granted(t, o)
		case "Deployment":
			spec := o.Object["spec"].(map[string]any)
			container(t, o)["image"] = image
			install["deployments"] = []any{values{"name": o.GetName(), "label": values{"app": o.GetName()}, "spec": spec}}
		case "Service", "PodDisruptionBudget":
			o.SetNamespace("") // the operator's namespace applies
			made(t, manifest(o), "# Made by conformance/install: go test -run TestBundle -update\n"+asYAML(t, o.Object))
		case "Namespace", "ServiceAccount", "ClusterRoleBinding", "RoleBinding": // OLM makes these
		default:
			t.Errorf("what becomes of %s in the bundle?", named(o))
		}
	}
	spec := csv.Object["spec"].(map[string]any)
	maps.Copy(spec, values{
		"install":       values{"strategy": "deployment", "spec": map[string]any(install)},
		"icon":          []any{values{"base64data": base64.StdEncoding.EncodeToString(icon), "mediatype": "image/svg+xml"}},
		"relatedImages": []any{values{"name": "graft-controller", "image": image}},
	})
	notes := csv.GetAnnotations()
	notes["containerImage"] = image
	csv.SetAnnotations(notes)
	made(t, deploy("bundle", "manifests", "graft-controller.clusterserviceversion.yaml"), "# Made of ../base.yaml by conformance/install: go test -run TestBundle -update\n"+asYAML(t, csv.Object))
	made(t, deploy("bundle", "bundle.Dockerfile"), dockerfile(t))

	definition := filepath.Join(download(t, clusterServiceVersions), "crds", "operators.coreos.com_clusterserviceversions.yaml")
	text, err := os.ReadFile(definition)
	if err != nil {
		t.Fatal(err)
	}
	apply(t, objects(t, string(text))...)
	namespace(t, "bundle", nil)
	for _, file := range inFolder(t, "bundle", "manifests") {
		file.SetNamespace("bundle")
		if _, err := tryApply(t, file, metav1.DryRunAll); err != nil {
			t.Errorf("%s: %v", named(file), err)
		}
		if file.GetKind() != "ClusterServiceVersion" {
			continue
		}
		_ = unstructured.SetNestedField(file.Object, "x", "spec", "instal")
		if _, err := tryApply(t, file, metav1.DryRunAll); err == nil || apierrors.IsNotFound(err) {
			t.Errorf("a field that the definition does not know is taken: %v", err)
		}
	}
}

func field(t *testing.T, o *unstructured.Unstructured, path ...string) any {
	t.Helper()
	v, ok, err := unstructured.NestedFieldNoCopy(o.Object, path...)
	if !ok || err != nil {
		t.Fatalf("%s has no %s: %v", named(o), strings.Join(path, "."), err)
	}
	return v
}

func container(t *testing.T, o *unstructured.Unstructured) map[string]any {
	t.Helper()
	return field(t, o, "spec", "template", "spec", "containers").([]any)[0].(map[string]any)
}

// granted returns the rules of a role in the form of a ClusterServiceVersion.
func granted(t *testing.T, role *unstructured.Unstructured) []any {
	t.Helper()
	return []any{values{"serviceAccountName": "graft-controller", "rules": field(t, role, "rules")}}
}

// manifest returns the file of an object in the bundle.
func manifest(o *unstructured.Unstructured) string {
	return deploy("bundle", "manifests", fmt.Sprintf("%s.%s.yaml", o.GetName(), strings.ToLower(o.GetKind())))
}

func asYAML(t *testing.T, v any) string {
	t.Helper()
	text, err := yaml.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// inFolder returns the objects of all files of a folder.
func inFolder(t *testing.T, path ...string) (all []*unstructured.Unstructured) {
	t.Helper()
	entries, err := os.ReadDir(deploy(path...))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, inFile(t, append(slices.Clone(path), e.Name())...)...)
	}
	return all
}

// dockerfile returns the Dockerfile of the bundle, whose labels are its annotations.
func dockerfile(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(deploy("bundle", "metadata", "annotations.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var metadata struct{ Annotations map[string]string }
	unyaml(t, text, &metadata)
	var out strings.Builder
	out.WriteString("# Made by conformance/install: go test -run TestBundle -update\n#   docker build -f deploy/bundle/bundle.Dockerfile deploy/bundle\nFROM scratch\n")
	for _, key := range slices.Sorted(maps.Keys(metadata.Annotations)) {
		fmt.Fprintf(&out, "LABEL %s=%s\n", key, metadata.Annotations[key])
	}
	out.WriteString("COPY manifests /manifests/\nCOPY metadata /metadata/\n")
	return out.String()
}
