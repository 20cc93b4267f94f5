package bundle

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/fbc"
)

const changesCSV = `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: op.v1.1.0
  annotations:
    olm.skipRange: <1.1.0
    createdAt: FIRST
    alm-examples: "[]"
spec:
  version: 1.1.0
  replaces: op.v1.0.0
  minKubeVersion: 1.28.0
  description: Operates.
  icon: [{base64data: QQ==, mediatype: image/png}]
  installModes:
  - {type: AllNamespaces, supported: true}
  - {type: OwnNamespace, supported: false}
  customresourcedefinitions:
    owned:
    - {kind: Thing, name: things.example.com, version: v1}
    required:
    - {kind: Other, name: others.example.org, version: v1}
  relatedImages:
  - {name: manager, image: "quay.io/op/manager@sha256:aaaa"}
  - {name: proxy, image: "quay.io/op/proxy@sha256:aaaa"}
  install:
    strategy: deployment
    spec:
      clusterPermissions:
      - serviceAccountName: op
        rules:
        - {apiGroups: [""], resources: [pods, nodes], verbs: [list, get]}
      permissions:
      - serviceAccountName: op
        rules:
        - {apiGroups: [apps], resources: [deployments], resourceNames: [one], verbs: ["*"]}
        - {nonResourceURLs: [/metrics], verbs: [get]}
      deployments:
      - name: op
        spec:
          selector: {}
          template:
            metadata: {labels: {app: op}}
            spec:
              containers:
              - name: manager
                image: quay.io/op/manager@sha256:aaaa
                env:
                - {name: RELATED_IMAGE_PROXY, value: "quay.io/op/proxy@sha256:aaaa"}
  webhookdefinitions:
  - {type: MutatingAdmissionWebhook, generateName: mutate, deploymentName: op}
`

const changesCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  names: {kind: Thing, plural: things}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true}]
`

// built renders a bundle after replacing texts in it.
func built(t *testing.T, format MetadataFormat, image string, replace ...string) fbc.Bundle {
	t.Helper()
	text := strings.NewReplacer(replace...)
	files := Files{
		"manifests/csv.yaml":        []byte(text.Replace(changesCSV)),
		"manifests/crd.yaml":        []byte(text.Replace(changesCRD)),
		"metadata/annotations.yaml": []byte("annotations:\n  operators.operatorframework.io.bundle.package.v1: op\n"),
	}
	if slices.Contains(replace, "with a service") {
		files["manifests/service.yaml"] = []byte("apiVersion: v1\nkind: Service\nmetadata: {name: metrics}\n")
	}
	doc, err := Render(t.Context(), Image{Ref: image, Files: files, Dir: true}, format)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func changesInWords(t *testing.T, before, after fbc.Bundle) (lines []string, all bool) {
	t.Helper()
	changes, all, err := Changes(before, after)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		lines = append(lines, fmt.Sprintf("%s %s %s: %q %q", c.Part, c.Name, c.How, c.Before, c.After))
	}
	return lines, all
}

func TestChanges(t *testing.T) {
	const old, image = "quay.io/op/bundle@sha256:0001", "quay.io/op/bundle@sha256:0002"
	for name, test := range map[string]struct {
		replace []string
		want    string
	}{
		"nothing":                   {nil, ""},
		"changes without a meaning": {[]string{"FIRST", "SECOND"}, ""},
		"an image":                  {[]string{"manager@sha256:aaaa", "manager@sha256:bbbb"}, "related image manager changed: aaaa bbbb|container image op/manager changed: aaaa bbbb"},
		"an image that goes":        {[]string{`  - {name: proxy, image: "quay.io/op/proxy@sha256:aaaa"}` + "\n", ""}, `related image proxy gone: "quay.io/op/proxy@sha256:aaaa" ""|deployment op changed: "" ""`},
		"verbs":                     {[]string{"[list, get]", "[get, list, watch]"}, `cluster permission op: nodes changed: "get, list" "get, list, watch"|cluster permission op: pods changed: "get, list" "get, list, watch"`},
		"the order of verbs":        {[]string{"[list, get]", "[get, list]"}, ""},
		"a rule":                    {[]string{"        - {nonResourceURLs: [/metrics], verbs: [get]}\n", ""}, `permission op: /metrics gone: "get" ""`},
		"names of resources":        {[]string{"resourceNames: [one]", "resourceNames: [one, two]"}, `permission op: deployments.apps two added: "" "*"`},
		"a required API":            {[]string{"others.example.org, version: v1", "others.example.org, version: v2"}, `required API Other others.example.org changed: "v1" "v2"`},
		"an owned API":              {[]string{"version: v1}\n    req", "version: v2}\n    req", "name: v1, served", "name: v2, served"}, `owned API Thing things.example.com changed: "v1" "v2"|manifest CustomResourceDefinition things.example.com changed: "" ""`},
		"an install mode":           {[]string{"supported: false", "supported: true"}, `field installModes OwnNamespace changed: "false" "true"`},
		"fields":                    {[]string{"1.28.0", "1.29.0", "replaces: op.v1.0.0", "skips: [op.v1.0.1]"}, `field minKubeVersion changed: "1.28.0" "1.29.0"|field replaces gone: "op.v1.0.0" ""|field skips added: "" "op.v1.0.1"`},
		"values that are not shown": {[]string{"QQ==", "Qg==", "Operates.", "Works.", `"[]"`, `"[{}]"`}, `field description changed: "" ""|field icon changed: "" ""|annotation alm-examples changed: "" ""`},
		"an annotation":             {[]string{"olm.skipRange: <1.1.0", "olm.skipRange: <1.1.0 !1.0.0"}, `annotation olm.skipRange changed: "<1.1.0" "<1.1.0 !1.0.0"`},
		"a webhook":                 {[]string{"deploymentName: op}", "deploymentName: hook}"}, `webhook MutatingAdmissionWebhook mutate changed: "" ""`},
		"another manifest":          {[]string{"with a service", ""}, `manifest Service metrics added: "" ""`},
		"labels of the pod":         {[]string{"app: op", "app: it"}, `deployment op changed: "" ""`},
		"a deployment's name":       {[]string{"      - name: op\n", "      - name: it\n"}, `container image it/manager added: "" "quay.io/op/manager@sha256:aaaa"|container image op/manager gone: "quay.io/op/manager@sha256:aaaa" ""|deployment it added: "" ""|deployment op gone: "" ""`},
	} {
		t.Run(name, func(t *testing.T) {
			lines, all := changesInWords(t, built(t, BundleObjects, old), built(t, BundleObjects, image, test.replace...))
			want := strings.NewReplacer(" aaaa", ` "quay.io/op/manager@sha256:aaaa"`, " bbbb", ` "quay.io/op/manager@sha256:bbbb"`).Replace(test.want)
			if got := strings.Join(lines, "|"); got != want || !all {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// A catalog without manifests yields fewer changes, but no false ones.
func TestChangesFromMetadata(t *testing.T) {
	after := built(t, BundleObjects, "quay.io/op/bundle@sha256:0002", "1.28.0", "1.29.0", "[list, get]", "[get]", "proxy@sha256:aaaa", "proxy@sha256:bbbb", "version: v1}\n    req", "version: v2}\n    req", "name: v1, served", "name: v2, served", "QQ==", "Qg==")
	lines, all := changesInWords(t, built(t, CSVMetadata, "quay.io/op/bundle@sha256:0001"), after)
	want := []string{
		`field minKubeVersion changed: "1.28.0" "1.29.0"`,
		`related image proxy changed: "quay.io/op/proxy@sha256:aaaa" "quay.io/op/proxy@sha256:bbbb"`,
		`owned API Thing things.example.com changed: "v1" "v2"`,
	}
	if !slices.Equal(lines, want) || all {
		t.Errorf("got %s", strings.Join(lines, "\n"))
	}
}

// Anybody may write the content of a catalog.
func TestChangesHostile(t *testing.T) {
	good := built(t, BundleObjects, "quay.io/op/bundle@sha256:0001")
	for _, text := range []string{`{"data":"bm8="}`, `{"data":1}`, `1`, `{"data":"eyJraW5kIjoiQ2x1c3RlclNlcnZpY2VWZXJzaW9uIiwic3BlYyI6MX0="}`} {
		bad := good
		bad.Properties = []fbc.Property{{Type: typeBundleObject, Value: []byte(text)}}
		if _, _, err := Changes(bad, good); err == nil && text != `{"data":"bm8="}` {
			t.Errorf("%s: no error", text)
		}
	}
}
