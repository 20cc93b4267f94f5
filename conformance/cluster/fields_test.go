package cluster

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/olmgraft/graft/deploy/crds"
	"github.com/olmgraft/graft/internal/catalogsource"
	"github.com/olmgraft/graft/internal/controller"
)

// filled returns a valid value for a schema, with every field.
func filled(s map[string]any) any {
	if values, ok := s["enum"].([]any); ok {
		return values[0]
	}
	if s["x-kubernetes-int-or-string"] == true {
		return "30Mi"
	}
	switch s["type"] {
	case "integer":
		return int64(3)
	case "array":
		return []any{filled(s["items"].(map[string]any))}
	case "object":
		out := map[string]any{}
		if below, ok := s["additionalProperties"].(map[string]any); ok {
			out["label"] = filled(below)
		}
		below, _ := s["properties"].(map[string]any)
		for name, one := range below {
			out[name] = filled(one.(map[string]any))
		}
		return out
	}
	if s["format"] == "date-time" {
		return "2021-07-19T23:00:00Z"
	}
	return "x"
}

// An API server stores every field, in both forms and in both versions, and validate reports only deprecations.
func TestEveryField(t *testing.T) {
	c := newCluster(t, "v1.20.0", "fields")
	var crd unstructured.Unstructured
	if err := yaml.Unmarshal(crds.CatalogSources, &crd.Object); err != nil {
		t.Fatal(err)
	}
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	schema, _, _ := unstructured.NestedMap(versions[0].(map[string]any), "schema", "openAPIV3Schema", "properties")
	whole := filled(schema["spec"].(map[string]any)).(map[string]any)
	status := filled(schema["status"].(map[string]any)).(map[string]any)
	for i, source := range [][]string{{"image", "sourceType", "grpcPodConfig"}, {"address", "sourceType"}, {"configMap", "sourceType"}, {"catalogImageSource"}, {"catalogServiceSource"}, {"configMapSource"}} {
		spec := maps.Clone(whole)
		maps.DeleteFunc(spec, func(name string, _ any) bool {
			switch name {
			case "image", "address", "configMap", "sourceType", "grpcPodConfig", "catalogImageSource", "catalogServiceSource", "configMapSource":
				return !strings.Contains(strings.Join(source, " ")+" ", name+" ")
			}
			return false
		})
		if spec["sourceType"] = "grpc"; source[0] == "configMap" {
			spec["sourceType"] = "configMap"
		} else if len(source) == 1 {
			delete(spec, "sourceType")
		}
		object := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "operators.coreos.com/v1alpha1", "kind": "CatalogSource", "metadata": map[string]any{"namespace": "fields", "name": fmt.Sprint("x", i)}, "spec": spec,
		}}
		text, err := yaml.Marshal(object.Object)
		if err != nil {
			t.Fatal(err)
		}
		m, err := catalogsource.Open("x.yaml", text)
		if err != nil {
			t.Fatal(err)
		}
		faults, warnings := m.Sources[0].Check()
		for _, w := range warnings {
			if !strings.Contains(w.Message, "is deprecated") && !strings.Contains(w.Message, "OLM reads only configmap") {
				faults = append(faults, w)
			}
		}
		if len(faults) > 0 {
			t.Errorf("%s: %v", text, faults)
		}
		sources := c.Resource(controller.Resource).Namespace("fields")
		stored, err := sources.Create(context.Background(), object, metav1.CreateOptions{})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		stored.Object["status"] = status
		if _, err := sources.UpdateStatus(context.Background(), stored, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		after := c.Get("fields/" + object.GetName())
		if !reflect.DeepEqual(after.Object["spec"], any(spec)) || !reflect.DeepEqual(after.Object["status"], any(status)) {
			t.Errorf("of %s there is %v", text, after.Object)
		}
		// A client writes the object as the next version, and it is read again as the first.
		later, err := c.Resource(next).Namespace("fields").Get(context.Background(), object.GetName(), metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		later.SetLabels(map[string]string{"a": "b"})
		if _, err := c.Resource(next).Namespace("fields").Update(context.Background(), later, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		if again := c.Get("fields/" + object.GetName()); !reflect.DeepEqual(again.Object["spec"], any(spec)) {
			t.Errorf("of %s there is %v after the next version", text, again.Object["spec"])
		}
	}
}
