package operand

import (
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/olmgraft/graft/internal/failure"
)

var someVariables = []Variable{{"ETCD_DEFAULT", "quay.io/coreos/etcd:stable"}, {"ETCD_V3", "quay.io/coreos/etcd@sha256:12345"}, {"NO", "i:1"}}

func TestConfigMap(t *testing.T) {
	text, err := ConfigMap("etcd-operands", "operators", someVariables, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Metadata   struct{ Name, Namespace string }
		Data       map[string]string
	}
	if err := yaml.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if got.APIVersion != "v1" || got.Kind != "ConfigMap" || got.Metadata.Name != "etcd-operands" || got.Metadata.Namespace != "operators" {
		t.Errorf("got %+v", got)
	}
	for _, v := range someVariables {
		if got.Data[v.Name] != v.Image {
			t.Errorf("%s is %q", v.Name, got.Data[v.Name])
		}
	}
	for _, name := range []string{"", "Etcd", "a\nb", "-", strings.Repeat("a", 254)} {
		if _, err := ConfigMap(name, "", someVariables, nil); !failure.Is(err, failure.Usage) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// Each variable refers to an existing annotation of the pods, not of the Deployment.
func TestAnnotations(t *testing.T) {
	text, err := Annotations("etcd-operator", "etcdop", someVariables)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Metadata   struct{ Name string }
		Spec       struct {
			Template struct {
				Metadata struct{ Annotations map[string]string }
				Spec     struct {
					Containers []struct {
						Name string
						Env  []struct {
							Name      string
							ValueFrom struct {
								FieldRef struct {
									FieldPath string `yaml:"fieldPath"`
								} `yaml:"fieldRef"`
							} `yaml:"valueFrom"`
						}
					}
				}
			}
		}
	}
	if err := yaml.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if got.APIVersion != "apps/v1" || got.Kind != "Deployment" || got.Metadata.Name != "etcd-operator" || len(got.Spec.Template.Spec.Containers) != 1 {
		t.Fatalf("got %+v", got)
	}
	c := got.Spec.Template.Spec.Containers[0]
	if c.Name != "etcdop" || len(c.Env) != len(someVariables) {
		t.Fatalf("got %+v", c)
	}
	for i, v := range someVariables {
		key, ok := strings.CutPrefix(c.Env[i].ValueFrom.FieldRef.FieldPath, "metadata.annotations['")
		key = strings.TrimSuffix(key, "']")
		if !ok || c.Env[i].Name != v.Name || got.Spec.Template.Metadata.Annotations[key] != v.Image || !strings.HasPrefix(key, AnnotationPrefix) {
			t.Errorf("%s is taken from %q", v.Name, c.Env[i].ValueFrom.FieldRef.FieldPath)
		}
	}
	if _, err := Annotations("d", "c", []Variable{{strings.Repeat("A", 47), "i"}}); !failure.Is(err, failure.Usage) {
		t.Errorf("got %v", err)
	}
}
