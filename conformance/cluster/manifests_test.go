package cluster

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/cel-go/common/types"
	admission "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/cel/environment"
	"sigs.k8s.io/yaml"

	"github.com/olmgraft/graft/internal/catalogsource"
	"github.com/olmgraft/graft/internal/controller"
)

// manifests returns those of deploy/controller by kind and name.
func manifests(t *testing.T, file string) map[string][]byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../deploy/controller", file))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, one := range bytes.Split(text, []byte("\n---\n")) {
		var meta struct {
			Kind     string
			Metadata struct{ Name string }
		}
		if err := yaml.Unmarshal(one, &meta); err != nil {
			t.Fatal(err)
		}
		all[meta.Kind+" "+meta.Metadata.Name] = one
	}
	return all
}

func strictly[T any](t *testing.T, text []byte) *T {
	t.Helper()
	object := new(T)
	if err := yaml.UnmarshalStrict(text, object); err != nil {
		t.Errorf("%s: %v", text, err)
	}
	return object
}

// An API server warns of each deprecated field, with the policy's text, and of no other.
func TestWarnings(t *testing.T) {
	files := manifests(t, "warnings.yaml")
	policy := strictly[admission.ValidatingAdmissionPolicy](t, files["ValidatingAdmissionPolicy catalogsource-deprecations"])
	binding := strictly[admission.ValidatingAdmissionPolicyBinding](t, files["ValidatingAdmissionPolicyBinding catalogsource-deprecations"])
	if binding.Spec.PolicyName != policy.Name || !slices.Equal(binding.Spec.ValidationActions, []admission.ValidationAction{admission.Warn}) {
		t.Errorf("the binding is %v", binding.Spec)
	}
	compiler := cel.NewCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	warnings := func(spec map[string]any) (out []string) {
		for _, v := range policy.Spec.Validations {
			compiled := compiler.CompileCELExpression(&validating.ValidationCondition{Expression: v.Expression, Message: v.Message}, cel.OptionalVariableDeclarations{}, environment.NewExpressions)
			if compiled.Error != nil {
				t.Fatalf("%s: %v", v.Expression, compiled.Error)
			}
			result, _, err := compiled.Program.Eval(map[string]any{"object": map[string]any{"spec": spec}})
			if err != nil {
				t.Fatalf("%s: %v", v.Expression, err)
			}
			if result != types.True {
				out = append(out, v.Message)
			}
		}
		return out
	}
	for field, want := range map[string]string{
		"image":         "spec.image is deprecated: use catalogImageSource.catalogImage instead",
		"address":       "spec.address is deprecated: use catalogServiceSource.address instead",
		"configMap":     "spec.configMap is deprecated: use configMapSource.configMap instead",
		"sourceType":    "spec.sourceType is deprecated: remove it, and use catalogImageSource, catalogServiceSource or configMapSource",
		"grpcPodConfig": "spec.grpcPodConfig is deprecated: use catalogImageSource.podSpecOverrides instead",
	} {
		if got := warnings(map[string]any{field: "x", "displayName": "y"}); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %v", field, got)
		}
	}
	if got := warnings(map[string]any{"catalogImageSource": map[string]any{"catalogImage": "a"}, "priority": int64(1)}); len(got) > 0 {
		t.Errorf("got %v", got)
	}
	if rule := policy.Spec.MatchConstraints.ResourceRules[0]; rule.APIGroups[0] != catalogsource.Group || rule.Resources[0] != controller.Resource.Resource || rule.APIVersions[0] != catalogsource.Stored {
		t.Errorf("it matches %v", rule)
	}
}
