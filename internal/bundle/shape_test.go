package bundle

import (
	"testing"

	"github.com/olmgraft/graft/internal/bundle/object"
	"github.com/olmgraft/graft/internal/yamlread"
)

func TestCheck(t *testing.T) {
	tests := []struct {
		typ, yaml, want string
	}{
		{shapeDeployment, "replicas: 1", ""},
		{shapeDeployment, "replicas: 1.0", ""}, // Kubernetes reads 1
		{shapeDeployment, "replicas: null", ""},
		{shapeDeployment, "replicas: 2147483648", "replicas is a whole number (2147483648) where a whole number of 32 bits is wanted"},
		{shapeDeployment, "REPLICAS: no", "REPLICAS is a boolean (false) where a whole number of 32 bits is wanted"},
		{shapeDeployment, "unknown: {a: b}", ""},
		{shapeDeployment, "template: []", "template is a list where a mapping is wanted"},
		{shapeDeployment, "template: {spec: {containers: [{}, {args: [1]}]}}", "template.spec.containers[1].args[0] is a whole number (1) where a string is wanted"},
		{shapeDeployment, "template: {spec: {containers: [{resources: {limits: {cpu: 1, memory: 1.5Gi, x: -2e3, q: '', z: 1 Gi}}}]}}", "template.spec.containers[0].resources.limits.q is a string where a quantity such as 500m or 1Gi is wanted"},
		{shapeDeployment, "strategy: {rollingUpdate: {maxSurge: 25%, maxUnavailable: 1}}", ""},
		{shapeDeployment, "strategy: {rollingUpdate: {maxSurge: 1.5}}", "strategy.rollingUpdate.maxSurge is a fraction (1.5) where a string or a whole number of 32 bits is wanted"},
		{shapeMeta, "creationTimestamp: 2020-01-02T03:04:05Z", ""},
		{shapeMeta, "creationTimestamp: 2020-01-02", "creationTimestamp is a string (2020-01-02) where a time such as 2006-01-02T15:04:05Z is wanted"},
		{shapeMeta, "labels: {a: 1}", "labels.a is a whole number (1) where a string is wanted"},
		{shapeMeta, "managedFields: [{fieldsV1: [anything]}]", ""},
		{shapeCSV, "spec: {version: v1.2}", ""}, // opm accepts this
		{shapeCSV, "spec: {version: null}", "spec.version is null where a semantic version is wanted"},
		{shapeCSV, "spec: {release: rc.01}", "spec.release is a string (rc.01) where a release such as 1 or rc.2 is wanted"},
		{shapeCSV, "[]", " is a list where a mapping is wanted"},
	}
	for _, test := range tests {
		compareCheck(t, test.typ, test.yaml, true, test.want)
	}
}

// CRDs are decoded with exact names of fields. Some of their fields accept several types.
func TestCheckCRD(t *testing.T) {
	schema := func(s string) string {
		return "spec: {versions: [{schema: {openAPIV3Schema: " + s + "}}]}"
	}
	const at = "spec.versions[0].schema.openAPIV3Schema."
	tests := []struct{ yaml, want string }{
		{"SPEC: 1", ""},
		{"spec: 1", "spec is a whole number (1) where a mapping is wanted"},
		{"spec: {conversion: {webhook: {clientConfig: {caBundle: Cg==}}}}", ""},
		{"spec: {conversion: {webhook: {clientConfig: {caBundle: [1, null, 255]}}}}", ""},
		{"spec: {conversion: {webhook: {clientConfig: {caBundle: '%'}}}}", "spec.conversion.webhook.clientConfig.caBundle is a string (%) where a base64 string is wanted"},
		{"spec: {conversion: {webhook: {clientConfig: {caBundle: ['1']}}}}", "spec.conversion.webhook.clientConfig.caBundle is a list where a base64 string is wanted"},
		{schema("{maxLength: 1.5}"), at + "maxLength is a fraction (1.5) where a whole number of 64 bits is wanted"},
		{schema("{maximum: 1.5, enum: [1, a, null, {}], default: [], example: {}}"), ""},
		{schema("{additionalProperties: true}"), ""},
		{schema("{additionalProperties: null}"), ""},
		{schema("{additionalProperties: {type: 1}}"), at + "additionalProperties.type is a whole number (1) where a string is wanted"},
		{schema("{additionalProperties: 'yes'}"), at + "additionalProperties is a string (yes) where a boolean or a schema is wanted"},
		{schema("{items: [{type: 1}]}"), at + "items[0].type is a whole number (1) where a string is wanted"},
		{schema("{items: {type: 1}}"), at + "items.type is a whole number (1) where a string is wanted"},
		{schema("{items: 1}"), ""}, // opm's libraries ignore this
		{schema("{dependencies: {a: [b], c: {type: object}, d: 1}}"), ""},
		{schema("{dependencies: {a: [1]}}"), at + "dependencies.a[0] is a whole number (1) where a string is wanted"},
	}
	for _, test := range tests {
		compareCheck(t, shapeCRD, test.yaml, false, test.want)
	}
}

func compareCheck(t *testing.T, typ, yaml string, anyCase bool, want string) {
	t.Helper()
	v, _, err := object.Read([]byte(yaml), yamlread.Usual)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	if err := check(v, typ, anyCase); err != nil {
		got = err.Error()
	}
	if got != want {
		t.Errorf("%s\n got %q\nwant %q", yaml, got, want)
	}
}
