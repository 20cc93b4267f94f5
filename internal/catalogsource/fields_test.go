package catalogsource

import (
	_ "embed"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/olmgraft/graft/deploy/crds"
)

//go:embed testdata/olm-fields.txt
var olmFields string

// The definition has every field of OLM's definition with the same type, because an API server drops fields that
// a definition lacks. The new form has all fields that the pod had in the old one.
func TestFieldsOfOLM(t *testing.T) {
	var crd struct {
		Spec struct {
			Versions []struct {
				Schema struct {
					Root map[string]any `yaml:"openAPIV3Schema"`
				}
			}
		}
	}
	if err := yaml.Unmarshal(crds.CatalogSources, &crd); err != nil {
		t.Fatal(err)
	}
	have := map[string]string{}
	fieldsOf(crd.Spec.Versions[0].Schema.Root, "", have)
	count, pod := 0, 0
	for line := range strings.Lines(olmFields) {
		path, kind, ok := strings.Cut(strings.TrimSpace(line), " ")
		if strings.HasPrefix(line, "#") || !ok {
			continue
		}
		count++
		if have[path] != kind {
			t.Errorf("%s holds %q, and %s with OLM", path, have[path], kind)
		}
		if rest, ok := strings.CutPrefix(path, "spec.grpcPodConfig."); ok {
			pod++
			if now := "spec.catalogImageSource.podSpecOverrides." + rest; have[now] != kind {
				t.Errorf("%s holds %q, and %s in the deprecated form", now, have[now], kind)
			}
			name, _, _ := strings.Cut(rest, ".")
			if onlyOverrides(map[string]any{strings.TrimRight(name, "[]{}"): nil}) != nil {
				t.Errorf("%s does not convert", path)
			}
		}
	}
	if count < 150 || pod < 90 {
		t.Errorf("%d fields, %d of the pod", count, pod)
	}
}

// fieldsOf records the types of the fields below a schema, with [] for lists and {} for mappings.
func fieldsOf(s map[string]any, at string, have map[string]string) {
	below, _ := s["properties"].(map[string]any)
	for name, one := range below {
		path := strings.TrimPrefix(at+"."+name, ".")
		field, _ := one.(map[string]any)
		for field["items"] != nil {
			field, path = field["items"].(map[string]any), path+"[]"
		}
		if field["additionalProperties"] != nil {
			path += "{}"
		}
		have[path], _ = field["type"].(string)
		if field["x-kubernetes-int-or-string"] == true {
			have[path] = "int-or-string"
		}
		fieldsOf(field, path, have)
	}
}
