package cluster

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/olmgraft/graft/internal/catalogsource"
	"github.com/olmgraft/graft/internal/controller"
	"github.com/olmgraft/graft/internal/controller/suite"
)

func manifest(name, spec string) string {
	return "apiVersion: operators.coreos.com/v1alpha1\nkind: CatalogSource\nmetadata: {name: " + name + ", namespace: definition}\nspec: " + spec + "\n"
}

// The examples of the proposal are valid. Invalid ones have helpful messages.
func TestDefinition(t *testing.T) {
	c := newCluster(t, "v1.20.0", "definition")
	for i, spec := range []string{
		"{displayName: Community Operators, publisher: OperatorHub.io, catalogImageSource: {catalogImage: 'quay.io/operatorhubio/catalog:latest', podSpecOverrides: {nodeSelector: {label: value}}}}",
		"{displayName: My Operators, catalogServiceSource: {address: some.namespace.svc}}",
		"{displayName: My Operators, configMapSource: {configMap: somemap}}",
		"{sourceType: configMap, configMap: somemap}",
		suite.V119,
	} {
		c.Create(controller.Resource, manifest(fmt.Sprint("example", i), spec))
	}
	for spec, want := range map[string]string{
		"{displayName: x}": `"spec" must validate one and only one schema (oneOf). Found none valid`,
		"{catalogImageSource: {catalogImage: a}, configMapSource: {configMap: b}}": "set exactly one source, catalogImageSource, catalogServiceSource or configMapSource, and no other",
		"{sourceType: grpc, image: a, address: b}":                                 "set exactly one source",
		"{catalogImageSource: {catalogImage: a}, image: b}":                        "set exactly one source",
		"{catalogImageSource: {catalogImage: a}, sourceType: grpc}":                "sourceType and grpcPodConfig must not be set with catalogImageSource, catalogServiceSource or configMapSource",
		"{catalogImageSource: {}}":                                                 "catalogImageSource.catalogImage is required",
		"{sourceType: ConfigMap, configMap: a}":                                    "sourceType must be grpc, configmap or internal",
		"{sourceType: grpc, configMap: a}":                                         "sourceType grpc needs image or address",
		"{sourceType: grpc, address: a, grpcPodConfig: {}}":                        "grpcPodConfig needs image",
	} {
		_, err := c.TryCreate(controller.Resource, manifest("refused", spec))
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", spec, err)
		}
	}
}

// manySpecs returns all combinations of sources with each sourceType, and values of all kinds.
func manySpecs() []string {
	parts := []string{"catalogImageSource: {catalogImage: a}", "catalogServiceSource: {address: a}", "configMapSource: {configMap: a}", "image: a", "address: a", "configMap: a", "grpcPodConfig: {}"}
	var specs []string
	for _, kind := range []string{"", "sourceType: grpc", "sourceType: configmap", "sourceType: configMap", "sourceType: internal", "sourceType: other"} {
		for set := range 1 << len(parts) {
			spec := []string{kind}
			if kind == "" {
				spec = nil
			}
			for i, p := range parts {
				if set&(1<<i) != 0 {
					spec = append(spec, p)
				}
			}
			specs = append(specs, "{"+strings.Join(spec, ", ")+"}")
		}
	}
	for _, extra := range []string{
		"priority: 1", "priority: high", "priority: 1.5", "priority: true", "priority:", "displayName: 3", "displayName: yes", "displayName: off", "displayName: 'yes'", "displayName: 2021-07-19", "displayName: 1e3",
		"secrets: [a, 1]", "secrets: {}", "secrets: [null]", "icon: {mediatype: a}", "icon: {mediatype: a, base64data: ''}", "unknown: 3", "updateStrategy: {registryPoll: {interval: 10m}}", "updateStrategy: {registryPoll: 10m}",
		"grpcPodConfig: {memoryTarget: 30Mi}", "grpcPodConfig: {memoryTarget: 3}", "grpcPodConfig: {memoryTarget: true}", "grpcPodConfig: {memoryTarget: x}", "grpcPodConfig: {memoryTarget: 1.5}",
		"grpcPodConfig: {securityContextConfig: legacy}", "grpcPodConfig: {securityContextConfig: Legacy}", "grpcPodConfig: {extractContent: {}}", "grpcPodConfig: {extractContent: {catalogDir: /configs}}",
		"grpcPodConfig: {affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {}}]}}}", "grpcPodConfig: {affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1}]}}}",
		"grpcPodConfig: {affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a, namespaces: [b]}]}}}", "grpcPodConfig: {affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{namespaces: [b]}]}}}",
		"grpcPodConfig: {affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 99999999999, preference: {}}]}}}",
		"grpcPodConfig: {tolerations: [{tolerationSeconds: 3}]}", "grpcPodConfig: {tolerations: [{tolerationSeconds: a}]}", "grpcPodConfig: {nodeSelector: {a: 3}}", "grpcPodConfig: {nodeSelector: {a: ''}, priorityClassName: x}", "priority: 99999999999999999999",
	} {
		specs = append(specs, "{sourceType: grpc, image: a, "+extra+"}")
	}
	specs = append(specs, "{sourceType: grpc, image: ''}", "{catalogImageSource: {catalogImage: ''}}", "{catalogImageSource: }", "{catalogImageSource: a}", "[]", "a", "", "{configMapSource: {configMap: 1}}", "{sourceType: 3, image: a}")
	return specs
}

// graft catalogsource validate refuses the same CatalogSources as the API server.
func TestValidateAgrees(t *testing.T) {
	c := newCluster(t, "v1.20.0", "definition")
	for version, resource := range map[string]schema.GroupVersionResource{catalogsource.Stored: controller.Resource, catalogsource.Next: next} {
		agreed := map[bool]int{}
		for i, spec := range manySpecs() {
			text := strings.Replace(manifest(fmt.Sprint("agree-", version, i), spec), "/v1alpha1", "/"+version, 1)
			_, err := c.TryCreate(resource, text)
			if err != nil && !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) {
				t.Fatalf("%s: %v", spec, err)
			}
			m, openErr := catalogsource.Open("x.yaml", []byte(text))
			if openErr != nil {
				t.Fatal(openErr)
			}
			faults, _ := m.Sources[0].Check()
			if (err == nil) != (len(faults) == 0) {
				t.Errorf("%s: the server says %v, graft says %v", text, err, faults)
			}
			agreed[err == nil]++
			if version == catalogsource.Stored {
				checkConversion(t, spec, err == nil)
			}
		}
		t.Logf("%s: %d are taken and %d refused, by both", version, agreed[true], agreed[false])
	}
}

// checkConversion checks that a spec that the server accepts converts there and back, except sourceType
// internal, which the new form lacks.
func checkConversion(t *testing.T, text string, taken bool) {
	var spec map[string]any
	if yaml.Unmarshal([]byte(text), &spec) != nil || !taken || spec["sourceType"] == "internal" {
		return
	}
	for _, to := range []catalogsource.Form{catalogsource.New, catalogsource.Legacy} {
		if _, err := catalogsource.ConvertSpec(spec, to); err != nil {
			t.Errorf("%s to %s: %v", text, to, err)
		}
	}
}
