package conformance

import (
	"fmt"
	"strings"
	"testing"
)

// bundleCases returns bundles by their peculiarity.
func bundleCases(t *testing.T) map[string]bundleFiles {
	cases := map[string]bundleFiles{"everything": richBundle}
	for _, more := range []map[string]bundleFiles{manifestCases(t), csvCases(t), metadataCases(t)} {
		for name, files := range more {
			if cases[name] != nil {
				t.Fatalf("%q is there twice", name)
			}
			cases[name] = files
		}
	}
	return cases
}

const crdV1beta1 = `apiVersion: apiextensions.k8s.io/v1beta1
kind: CustomResourceDefinition
metadata: {name: widgets.acme.example.com}
spec:
  group: acme.example.com
  names: {kind: Widget, plural: widgets}
  version: v1
`

func manifestCases(t *testing.T) map[string]bundleFiles {
	rich := richBundle
	crd := rich[crdFile]
	return map[string]bundleFiles{
		"CRD v1beta1":               rich.with(crdFile, crdV1beta1),
		"CRD v1beta1, versions":     rich.with(crdFile, crdV1beta1+"  versions: [{name: v1, served: true}, {name: v2}]\n"),
		"CRD v1beta1, other only":   rich.with(crdFile, strings.Replace(crdV1beta1, "version: v1", "version: v2", 1)),
		"CRD v1 ignores version":    rich.with(crdFile, strings.Replace(crdV1beta1, "/v1beta1", "/v1", 1)),
		"CRD of unknown version":    rich.replaced(t, crdFile, "k8s.io/v1", "k8s.io/v1alpha9"),
		"CRD of another group":      rich.replaced(t, crdFile, "apiextensions.k8s.io/v1", "example.com/v1"),
		"CRD of the core group":     rich.replaced(t, crdFile, "apiextensions.k8s.io/v1", "v1"),
		"CRD missing":               rich.with(crdFile, ""),
		"CRD null version":          rich.with(crdFile, strings.Replace(crdV1beta1, "version: v1", "versions: [null, {name: v1}]", 1)),
		"CRD in two files":          rich.with("manifests/again.yaml", crd),
		"CRD with a wrong type":     rich.replaced(t, crdFile, "maxItems: 5", "maxItems: five"),
		"CRD with a fraction":       rich.replaced(t, crdFile, "maxItems: 5", "maxItems: 5.5"),
		"CRD with a round fraction": rich.replaced(t, crdFile, "maxItems: 5", "maxItems: 5.0"),
		"JSON":                      rich.with("manifests/config.json", ` {"kind": "ConfigMap", "apiVersion": "v1", "data": {"b": "<&>", "a": "\u2028\ud83d\ude00\ud800"}, "n": [1, 1.0, 1e3, 1.5e-9, -0, -0.0, 1E400]}`),
		"JSON numbers":              rich.with("manifests/config.json", `{"kind": "ConfigMap", "apiVersion": "v1", "n": [1, 1.0, 1e3, 1.5e-9, -0, -0.0, 9223372036854775808, 123456789012345678901234567890], "d": 1, "d": 2}`),
		"JSON and junk":             rich.with("manifests/config.json", `{"kind": "ConfigMap", "apiVersion": "v1"} junk`),
		"JSON that is YAML":         rich.with("manifests/config.json", "{kind: ConfigMap, apiVersion: v1, data: {a: yes, b: 0x10}} # note\n"),
		"JSON that is neither":      rich.with("manifests/config.json", `{"kind": "ConfigMap", `),
		"JSON, two values":          rich.with("manifests/config.json", `{"kind": "ConfigMap", "apiVersion": "v1"}{"kind": "Secret"}`),
		"JSON without a kind":       rich.with("manifests/config.json", `{"a": "b"}`),
		"several documents":         rich.with("manifests/more.yaml", "---\n# one\nkind: Service\napiVersion: v1\n---\nkind: Secret\n"),
		"comment before the rest":   rich.with("manifests/more.yaml", "# one\n---\nkind: Service\napiVersion: v1\n"),
		"separator with a comment":  rich.with("manifests/more.yaml", "--- # one\nkind: Service\napiVersion: v1\n--- # two\na: b\n"),
		"separator with content":    rich.with("manifests/more.yaml", "--- a\nkind: Service\n"),
		"separator with junk later": rich.with("manifests/more.yaml", "kind: Service\n---junk\n"),
		"two separators":            rich.with("manifests/more.yaml", "---\n---\nkind: Service\n"),
		"end of document":           rich.with("manifests/more.yaml", "kind: Service\n...\n}junk\n"),
		"directive":                 rich.with("manifests/more.yaml", "%YAML 1.1\n---\nkind: Service\n"),
		"line ends CRLF":            rich.with("manifests/more.yaml", "kind: ConfigMap\r\ndata:\r\n  a: |\r\n    x\r\n    y\r\n  b: \"p\r\n    q\"\r\n"),
		"byte order mark":           rich.with("manifests/more.yaml", "\ufeffkind: ConfigMap\n"),
		"no final line end":         rich.with("manifests/more.yaml", "kind: ConfigMap\ndata: |+\n  x"),
		"two final line ends":       rich.with("manifests/more.yaml", "kind: ConfigMap\ndata: |+\n  x\n\n"),
		"anchors":                   rich.with("manifests/more.yaml", "kind: ConfigMap\na: &x {b: 1, c: 2}\nd: *x\ne: {c: 3, <<: *x, b: 4}\n"),
		"scalars":                   rich.with("manifests/more.yaml", scalars),
		"odd keys":                  rich.with("manifests/more.yaml", "kind: ConfigMap\n1: a\n1.10: b\nyes: c\n0x1F: d\n2020-01-01: e\n"),
		"null key":                  rich.with("manifests/more.yaml", "kind: ConfigMap\n~: a\n"),
		"not a number":              rich.with("manifests/more.yaml", "kind: ConfigMap\na: .nan\n"),
		"doubled key":               rich.with("manifests/more.yaml", "kind: ConfigMap\na: 1\na: 2\n"),
		"no kind":                   rich.with("manifests/more.yaml", "a: 1\n"),
		"kind is a number":          rich.with("manifests/more.yaml", "kind: 1\n"),
		"odd apiVersion":            rich.with("manifests/more.yaml", "kind: A\napiVersion: a/b/c\n"),
		"slash as apiVersion":       rich.with("manifests/more.yaml", "kind: A\napiVersion: /\n"),
		"a list of objects":         rich.with("manifests/more.yaml", "kind: List\napiVersion: v1\nitems:\n- kind: Secret\n"),
		"a YAML list":               rich.with("manifests/more.yaml", "- kind: List\n"),
		"empty file":                rich.with("manifests/more.yaml", "\n", "manifests/none", " "),
		"other files":               rich.with("manifests/README.md", "# Title\nkind: x: y\n", "manifests/.hidden.yaml", "kind: Secret\n", "manifests/sub/x.yaml", "kind: Secret\n", "manifests/binary", "\x00\x01\xff"),
		"bytes that are no UTF-8":   rich.with("manifests/more.yaml", "kind: ConfigMap\na: \"\xff\"\n"),
		"binary":                    rich.with("manifests/more.yaml", "kind: ConfigMap\na: !!binary /w==\n"),
		"two CSVs":                  rich.with("manifests/zz.yaml", "kind: ClusterServiceVersion\nmetadata: {name: other}\nspec: {version: 2.0.0}\n"),
		"another CSV first":         rich.with("manifests/aa.yaml", "kind: ClusterServiceVersion\nmetadata: {name: other}\nspec: {version: 2.0.0}\n"),
		"no CSV":                    rich.with(csvFile, ""),
		"broken CSV":                rich.with(csvFile, "kind: [\n"),
		"nothing":                   {annotationsFile: rich[annotationsFile]},
	}
}

const scalars = `kind: ConfigMap
list: [y, on, Off, NO, ~, null, 0o17, 017, 08, 0x_1f, 0b101, 1_000, +1, -1, 1., .5, 1e3, -0, -0.0, 1:30, 2001-12-14, 1.5e300, 18446744073709551615, 9223372036854775808, 123456789012345678901234567890]
plain: a b
  c

  d
folded: >-
  a
  b

    c
  d
literal: |2
    x
   y
quoted: "a \
  b\tc\x41\u263a\U0001F600
  d"
single: 'it''s

  here'
html: "<&>\u2028"
`

func csvCases(t *testing.T) map[string]bundleFiles {
	change := func(pairs ...string) bundleFiles { return richBundle.replaced(t, csvFile, pairs...) }
	return map[string]bundleFiles{
		"version is a number":         change("version: 1.2.3", "version: 1.2"),
		"no name":                     change("  name: widgets.v1.2.3\n", ""),
		"version is missing":          change("  version: 1.2.3\n", ""),
		"version is null":             change("version: 1.2.3", "version:"),
		"version is tolerable":        change("version: 1.2.3", "version: v1.2"),
		"version is junk":             change("version: 1.2.3", "version: one"),
		"release is a text":           change("version: 1.2.3", "version: 1.2.3\n  release: rc.1"),
		"release is a number":         change("version: 1.2.3", "version: 1.2.3\n  release: 2"),
		"release is a fraction":       change("version: 1.2.3", "version: 1.2.3\n  release: 2.5"),
		"release is large":            change("version: 1.2.3", "version: 1.2.3\n  release: 1e30"),
		"release is a boolean":        change("version: 1.2.3", "version: 1.2.3\n  release: true"),
		"release is null":             change("version: 1.2.3", "version: 1.2.3\n  release:"),
		"release is odd":              change("version: 1.2.3", "version: 1.2.3\n  release: a_b"),
		"no spec":                     richBundle.with(csvFile, "kind: ClusterServiceVersion\nmetadata: {name: a}\n"),
		"spec is null":                richBundle.with(csvFile, "kind: ClusterServiceVersion\nmetadata: {name: a}\nspec:\n"),
		"spec is a list":              richBundle.with(csvFile, "kind: ClusterServiceVersion\nmetadata: {name: a}\nspec: []\n"),
		"spec is empty":               richBundle.with(csvFile, "kind: ClusterServiceVersion\nmetadata: {name: a}\nspec: {}\n"),
		"apiVersion of a CSV is odd":  change("operators.coreos.com/v1alpha1", "a/b/c"),
		"another apiVersion":          change("operators.coreos.com/v1alpha1", "other/v9"),
		"annotation is a number":      change("capabilities: Basic Install", "capabilities: 1"),
		"annotations are null":        change("  labels:\n    arch: amd64\n", "  labels:\n"),
		"created at":                  change("creationTimestamp: null", `creationTimestamp: "2020-01-02T03:04:05Z"`),
		"created at some time":        change("creationTimestamp: null", "creationTimestamp: soon"),
		"properties annotation odd":   change(`'[{"type": "olm.maxOpenShiftVersion", "value": "4.20"}]'`, `'[{"type": "a", "value": 1}, {"type": 2}, {"type": "b", "value": "<"}]'`),
		"properties annotation junk":  change(`'[{"type": "olm.maxOpenShiftVersion", "value": "4.20"}]'`, `'[{'`),
		"properties annotation dup":   change(`'[{"type": "olm.maxOpenShiftVersion", "value": "4.20"}]'`, `'[{"type": "a", "value": {"x":1}}, {"type": "a", "value": {"x":1}}, {"type": "a", "value": {"x": 1}}, {"type": "olm.package", "value": {"packageName": "<b>", "version": "9"}}]'`),
		"properties annotation bad":   change(`'[{"type": "olm.maxOpenShiftVersion", "value": "4.20"}]'`, `'[{"type": "olm.gvk", "value": 1}]'`),
		"owned CRD without a group":   change("name: widgets.acme.example.com", "name: widgets"),
		"owned CRD of another name":   change("name: widgets.acme.example.com", "name: wodgets.acme.example.com"),
		"owned CRD is null":           change("owned:\n    - name: widgets.acme.example.com", "owned:\n    -\n    - name: widgets.acme.example.com"),
		"required CRD without group":  change("name: gizmos.other.example.com", "name: gizmos"),
		"required API is null":        change("required:\n    - name: v1.other", "required:\n    -\n    - name: v1.other"),
		"definitions are a list":      change("customresourcedefinitions:\n    owned:", "customresourcedefinitions: []\n  other:\n    owned:"),
		"definitions in capitals":     change("  customresourcedefinitions:\n    owned:", "  customresourcedefinitions:\n    OWNED:"),
		"section in capitals":         change("  customresourcedefinitions:", "  customResourceDefinitions:"),
		"no images":                   change("  relatedImages:", "  unrelatedImages:"),
		"images are null":             change("  relatedImages:\n", "  relatedImages:\n  others:\n"),
		"images twice":                change("relatedImages:\n", "relatedImages:\n  - {name: b, image: x}\n  - {name: a, image: x}\n  - {image: z, Name: c}\n"),
		"image of the bundle":         change("relatedImages:\n", "relatedImages:\n  - {name: me, image: '"+bundleRef+"'}\n"),
		"operator is the bundle":      change("registry.example.com/acme/proxy:v2", bundleRef),
		"operator without an image":   change("image: registry.example.com/acme/proxy:v2", "tty: true"),
		"many images":                 change("relatedImages:\n", "relatedImages:\n"+manyImages()),
		"another strategy":            change("strategy: deployment", "strategy: magic"),
		"strategy in capitals":        change("  install:\n    strategy: deployment", "  Install:\n    Strategy: deployment"),
		"no install":                  change("  install:", "  uninstall:"),
		"replicas as text":            change("replicas: 1", `replicas: "1"`),
		"replicas as text, no matter": change("strategy: deployment", "strategy: magic", "replicas: 1", `replicas: "1"`),
		"odd quantity":                change("cpu: 500m", "cpu: 500mm"),
		"odd permissions":             change("apiGroups: [acme.example.com]", "apiGroups: acme.example.com"),
		"odd keywords":                change("keywords: [widget, gadget]", "keywords: widget"),
		"empty lists":                 change("keywords: [widget, gadget]", "keywords: []", "    arch: amd64\n", "    {}\n"),
		"fields in capitals":          change("displayName: Widgets", "DISPLAYNAME: Widgets", "maturity: alpha", "Maturity: alpha"),
		"field in two cases":          change("maturity: alpha", "maturity: alpha\n  Maturity: beta"),
		"value is null":               change(`value: {"a": [1, "<b>"]}`, "value: null"),
		"icon is broken":              change("PHN2Zy8+", "'%%%'"),
		"minKubeVersion is a number":  change("minKubeVersion: 1.25.0", "minKubeVersion: 1.25"),
	}
}

// manyImages returns more images than opm's sort leaves in place, some of them twice.
func manyImages() string {
	var list strings.Builder
	for i := range 40 {
		fmt.Fprintf(&list, "  - {name: n%d, image: registry.example.com/i%d}\n", i, i*7%13)
	}
	return list.String()
}

func metadataCases(t *testing.T) map[string]bundleFiles {
	rich := richBundle
	change := func(pairs ...string) bundleFiles { return rich.replaced(t, annotationsFile, pairs...) }
	properties := func(text string) bundleFiles { return rich.with("metadata/properties.yaml", text) }
	dependencies := func(text string) bundleFiles { return rich.with("metadata/dependencies.yaml", text) }
	return map[string]bundleFiles{
		"no annotations":              rich.with(annotationsFile, ""),
		"annotations elsewhere":       rich.with(annotationsFile, "", "metadata/.other.txt", rich[annotationsFile]),
		"two annotations":             rich.with("metadata/a.yaml", strings.Replace(rich[annotationsFile], "v1: widgets", "v1: gadgets", 1)),
		"annotations are broken":      rich.with("metadata/a.yaml", "annotations: [\n"),
		"annotations of others":       rich.with("metadata/a.yaml", "annotations: {a: b}\n"),
		"annotations in JSON":         rich.with(annotationsFile, `{"annotations": {"operators.operatorframework.io.bundle.package.v1": "widgets"}}`),
		"annotations in odd JSON":     rich.with(annotationsFile, `{"annotations": {"operators.operatorframework.io.bundle.package.v1": 5, "operators.operatorframework.io.bundle.channels.v1": 4.10}}`),
		"annotations in capitals":     change("annotations:", "Annotations:"),
		"no package":                  change("  operators.operatorframework.io.bundle.package.v1: widgets\n", ""),
		"package is a number":         change("package.v1: widgets", "package.v1: 4.10"),
		"package is a boolean":        change("package.v1: widgets", "package.v1: yes"),
		"package is a list":           change("package.v1: widgets", "package.v1: [widgets]"),
		"package with signs":          change("package.v1: widgets", `package.v1: "<w&>"`),
		"channels are a number":       change("channels.v1: stable,fast", "channels.v1: 4.8"),
		"no properties":               rich.with("metadata/properties.yaml", "", "metadata/dependencies.yaml", ""),
		"all in one":                  {csvFile: rich[csvFile], crdFile: rich[crdFile], "metadata/all.yaml": rich[annotationsFile] + rich["metadata/dependencies.yaml"] + rich["metadata/properties.yaml"]},
		"two documents of properties": rich.with("metadata/properties.yaml", rich["metadata/properties.yaml"]+"---\nproperties: []\n"),
		"properties in JSON":          properties(`{"properties": [ {"type": "a", "value": { "x" : 1.0, "y":"<\u003c" }}, {"type": "a", "value": {"x":1.0,"y":"<\u003c"}}, {"type": "olm.gvk", "value": {"group": "g", "version": "v", "kind": "k"}}]}`),
		"properties in odd JSON":      properties(`{"properties": [{"type": 1, "value": {"x": 1.0}}]}`),
		"property is a number":        properties("properties: [{type: 1, value: 1.10}, {type: yes, value: yes}]\n"),
		"property without value":      properties("properties: [{type: a}]\n"),
		"property of null":            properties("properties: [{type: a, value: }]\n"),
		"property null":               properties("properties: [null, {type: a, value: 1}]\n"),
		"property twice":              properties("properties: [{type: a, value: 1}, {type: a, value: 1}, {type: b, value: {b: 1, a: 2}}, {type: b, value: {a: 2, b: 1}}]\n"),
		"properties are a map":        properties("properties: {a: b}\n"),
		"properties are empty":        properties("properties: []\n"),
		"package property":            properties("properties: [{type: olm.package, value: {packageName: other, version: 9.9.9, release: r}}]\n"),
		"package property odd":        properties("properties: [{type: olm.package, value: 1}]\n"),
		"gvk property odd":            properties("properties: [{type: olm.gvk, value: {group: 1}}]\n"),
		"gvk property of more":        properties("properties: [{type: olm.gvk, value: {group: a, kind: b, version: c, more: d}}, {type: olm.gvk, value: {group: acme.example.com, kind: Widget, version: v1}}]\n"),
		"gvk required property":       properties("properties: [{type: olm.gvk.required, value: {group: gizmo.example.com, kind: Gizmo, version: v1}}, {type: olm.package.required, value: {packageName: gizmo, versionRange: '>1'}}]\n"),
		"csv metadata property":       properties("properties: [{type: olm.csv.metadata, value: {a: b}}]\n"),
		"bundle object property":      properties("properties: [{type: olm.bundle.object, value: {data: aaaa}}, {type: olm.bundle.object, value: {data: zzzz}}]\n"),
		"constraints":                 properties("properties: [{type: olm.constraint, value: {failureMessage: x, all: {constraints: [{gvk: {group: a, kind: b, version: c}}]}}}, {type: olm.label, value: {label: x}}]\n"),
		"dependency without type":     dependencies("dependencies: [{value: 1}]\n"),
		"dependency odd":              dependencies("dependencies: [{type: olm.package, value: []}]\n"),
		"dependency without value":    dependencies("dependencies: [{type: olm.gvk}]\n"),
		"dependency twice":            dependencies("dependencies: [{type: olm.package, value: {packageName: a, version: b}}, {type: olm.package, value: {packageName: a, version: b}}, {type: x, value: 1}, {type: x, value: 1}]\n"),
		"dependency that exists":      dependencies("dependencies: [{type: olm.gvk, value: {group: other.example.com, kind: Gizmo, version: v1beta1}}]\n"),
		"dependency on signs":         dependencies("dependencies: [{type: olm.package, value: {packageName: a, version: '>=1 <2'}}, {type: x, value: '>=1'}]\n"),
	}
}

// refusedCases are the cases that cannot be rendered at all. The others can be rendered, some of them only
// without olm.csv.metadata.
var refusedCases = []string{
	"CRD missing", "CRD of another group", "CRD of the core group", "CRD of unknown version", "CRD v1 ignores version",
	"CRD v1beta1, other only", "CRD with a fraction", "CRD with a wrong type", "annotation is a number",
	"apiVersion of a CSV is odd", "broken CSV", "created at some time", "definitions are a list", "dependency odd",
	"dependency without value", "gvk property odd", "no CSV", "no annotations", "no name", "no package", "no spec",
	"nothing", "odd quantity", "owned CRD is null", "owned CRD of another name", "owned CRD without a group",
	"package is a list", "package property odd", "properties annotation bad", "release is a boolean",
	"replicas as text", "replicas as text, no matter", "required API is null", "required CRD without group",
	"spec is a list", "version is a number",
}
