package install

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// deploy returns a path below deploy.
func deploy(parts ...string) string {
	return filepath.Join(append([]string{"..", "..", "deploy"}, parts...)...)
}

// kustomized returns the output of kustomize for a folder of deploy.
func kustomized(t *testing.T, folder ...string) []*unstructured.Unstructured {
	t.Helper()
	return kustomizedIn(t, deploy(folder...))
}

func kustomizedIn(t *testing.T, folder string) []*unstructured.Unstructured {
	t.Helper()
	made, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		t.Fatal(err)
	}
	text, err := made.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	return objects(t, string(text))
}

// objects returns the objects of a YAML stream.
func objects(t *testing.T, text string) (all []*unstructured.Unstructured) {
	t.Helper()
	for _, one := range strings.Split("\n"+text, "\n---") {
		var object unstructured.Unstructured
		unyaml(t, []byte(one), &object.Object)
		if len(object.Object) > 0 {
			all = append(all, &object)
		}
	}
	if len(all) == 0 {
		t.Fatal("there are no objects")
	}
	return all
}

// inFile returns the objects of a file of deploy.
func inFile(t *testing.T, path ...string) []*unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile(deploy(path...))
	if err != nil {
		t.Fatal(err)
	}
	return objects(t, string(text))
}

// named returns an object's kind and name for messages.
func named(o *unstructured.Unstructured) string {
	return strings.TrimSpace(fmt.Sprint(o.GetKind(), " ", strings.Trim(o.GetNamespace()+"/"+o.GetName(), "/")))
}

// client returns a client for any kind that the server has now.
func client(t *testing.T, o *unstructured.Unstructured) dynamic.ResourceInterface {
	t.Helper()
	groups, err := restmapper.GetAPIGroupResources(discovery.NewDiscoveryClientForConfigOrDie(admin))
	if err != nil {
		t.Fatal(err)
	}
	kind := o.GroupVersionKind()
	mapping, err := restmapper.NewDiscoveryRESTMapper(groups).RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		t.Fatalf("%s: %v", named(o), err)
	}
	in := dynamic.NewForConfigOrDie(admin).Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		return in.Namespace(o.GetNamespace())
	}
	return in
}

// tryApply applies an object as kubectl apply --server-side does. A field that the server's schema lacks is an
// error.
func tryApply(t *testing.T, o *unstructured.Unstructured, dryRun ...string) (*unstructured.Unstructured, error) {
	t.Helper()
	body, err := json.Marshal(o.Object)
	if err != nil {
		t.Fatal(err)
	}
	force := true
	return client(t, o).Patch(t.Context(), o.GetName(), types.ApplyPatchType, body,
		metav1.PatchOptions{FieldManager: "install-test", Force: &force, FieldValidation: metav1.FieldValidationStrict, DryRun: dryRun})
}

func apply(t *testing.T, all ...*unstructured.Unstructured) {
	t.Helper()
	for _, o := range all {
		if _, err := tryApply(t, o); err != nil {
			t.Fatalf("applying %s: %v", named(o), err)
		}
		if o.GetKind() == "CustomResourceDefinition" {
			served(t, o)
		}
	}
}

// served waits until the kinds of a definition are served.
func served(t *testing.T, crd *unstructured.Unstructured) {
	t.Helper()
	kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	for _, v := range versions {
		if v.(map[string]any)["served"] != true {
			continue
		}
		in := fmt.Sprint(group, "/", v.(map[string]any)["name"])
		eventually(t, kind+" of "+in+" is served", func() bool {
			list, err := discovery.NewDiscoveryClientForConfigOrDie(admin).ServerResourcesForGroupVersion(in)
			return err == nil && slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Kind == kind })
		})
	}
}

// namespace creates a namespace unless it exists.
func namespace(t *testing.T, name string, labels map[string]string) {
	t.Helper()
	_, err := kubernetes.NewForConfigOrDie(admin).CoreV1().Namespaces().Create(context.Background(), &core.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}
