package catalogsource

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/budget"
)

const sampleManifest = `apiVersion: foo.example.com/v1
kind: Sample
metadata:
  name: MySample
  namespace: ns
spec:
  foo:
    bar: v2
  n: 3
  on: true
  none: null
  list: [a, b]
`

func manifests(t *testing.T, texts ...string) *Manifests {
	t.Helper()
	m := &Manifests{}
	for _, text := range texts {
		if err := m.Add("objects.yaml", []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func values(t *testing.T, version string) Values {
	v, _ := ParseKubeVersion(version)
	return Values{Kube: v, Objects: manifests(t, sampleManifest).Object, Path: JSONPath}
}

// The examples of the proposal.
func TestResolve(t *testing.T) {
	kube := "quay.io/kube-release-v{kube_major_version}/catalog:v{kube_major_version}.{kube_minor_version}"
	for _, c := range []struct{ reference, version, image string }{
		{kube, "v1.19.0", "quay.io/kube-release-v1/catalog:v1.19"},
		{kube, "v1.20.7+k3s1", "quay.io/kube-release-v1/catalog:v1.20"},
		{"quay.io/sample/catalog:" + sample, "", "quay.io/sample/catalog:v2"},
		{"quay.io/sample/catalog:" + sample + "-{kube_patch_version}", "v1.22.4", "quay.io/sample/catalog:v2-4"},
		{"a:" + strings.Replace(sample, "MySample", "", 1), "", "a:v2"}, // the only object of its kind there
		{"quay.io/sample/catalog:v1", "", "quay.io/sample/catalog:v1"},
	} {
		if r := Resolve(c.reference, values(t, c.version)); !r.OK() || r.Image != c.image {
			t.Errorf("%s is %+v", c.reference, r)
		}
	}
}

func TestUnresolved(t *testing.T) {
	at := func(path string) string { return strings.Replace(sample, "{.spec.foo.bar}", path, 1) }
	for template, why := range map[string]string{
		"{kube_major_version}":                          "the version of Kubernetes, or this part of the version, is unknown",
		at("{.spec.foo}"):                               "evaluating {.spec.foo}: it is a mapping, not a plain value",
		at("{.spec.list}"):                              "evaluating {.spec.list}: it is a list, not a plain value",
		at("{.spec.none}"):                              "evaluating {.spec.none}: it is null",
		at("{.spec.nothing}"):                           "evaluating {.spec.nothing}: nothing is not found",
		at("{.spec.list[*]}"):                           "evaluating {.spec.list[*]}: it gives 2 values, want one",
		strings.Replace(sample, "MySample", "other", 1): "there is no Sample.v1.foo.example.com ns/other",
		strings.Replace(sample, "namespace:ns", "namespace:", 1): "there is no Sample.v1.foo.example.com MySample",
	} {
		r := Resolve("a/b:"+template, values(t, ""))
		if len(r.Unresolved) != 1 || r.Unresolved[0].Err.Error() != why || r.Image != "a/b:"+template {
			t.Errorf("%s is %+v", template, r)
		}
	}
}

// The messages of the proposal, to the byte, followed by the reason for each template.
func TestConditions(t *testing.T) {
	failing := "quay.io/sample{kube_major_version}/catalog:" + sample
	resolved := "quay.io/kube-release-v1/catalog:v1.20"
	for _, c := range []struct {
		name string
		r    Resolution
		want []Condition
	}{
		{"errors", Resolve(failing, Values{}), []Condition{
			{"TemplatesHaveResolved", "False", "UnableToResolve", `Cannot construct catalog image reference, variable(s) "{kube_major_version}", "{group:foo.example.com,version:v1,kind:Sample,name:MySample,namespace:ns,jsonpath:{.spec.foo.bar}}" couldn't be resolved. {kube_major_version}: the version of Kubernetes, or this part of the version, is unknown; {group:foo.example.com,version:v1,kind:Sample,name:MySample,namespace:ns,jsonpath:{.spec.foo.bar}}: no objects were given.`},
			{"ResolvedImage", "False", "UnableToResolve", "quay.io/sample{kube_major_version}/catalog:{group:foo.example.com,version:v1,kind:Sample,name:MySample,namespace:ns,jsonpath:{.spec.foo.bar}}"},
		}},
		{"success", Resolve(resolved, Values{}), []Condition{
			{"TemplatesHaveResolved", "True", "AllTemplatesResolved", "catalog image reference was successfully resolved"},
			{"ResolvedImage", "True", "AllTemplatesResolved", "quay.io/kube-release-v1/catalog:v1.20"},
		}},
		{"one of two, one of them twice", Resolve("a/{kube_minor_version}:{kube_patch_version}{kube_patch_version}", Values{Kube: KubeVersion{"1", "20", ""}}), []Condition{
			{"TemplatesHaveResolved", "False", "UnableToResolve", `Cannot construct catalog image reference, variable(s) "{kube_patch_version}" couldn't be resolved. {kube_patch_version}: the version of Kubernetes, or this part of the version, is unknown.`},
			{"ResolvedImage", "False", "UnableToResolve", "a/20:{kube_patch_version}{kube_patch_version}"},
		}},
		{"a typo", Resolve("quay.io/a:{kube_mayor_version}", Values{}), []Condition{
			{"TemplatesHaveResolved", "False", "InvalidTemplate", `Cannot construct catalog image reference, variable(s) "{kube_mayor_version}" couldn't be resolved. {kube_mayor_version}: there is no variable "kube_mayor_version". Write {kube_major_version}; valid templates are {kube_major_version}, {kube_minor_version}, {kube_patch_version}, {ocp_major_version}, {ocp_minor_version} or {group:G,version:V,kind:K,name:N,namespace:NS,jsonpath:{.path}}.`},
			{"ResolvedImage", "False", "InvalidTemplate", "quay.io/a:{kube_mayor_version}"},
		}},
		{"no reference", Resolve("Quay.io/A:v1", Values{}), []Condition{
			{"TemplatesHaveResolved", "True", "AllTemplatesResolved", "catalog image reference was successfully resolved"},
			{"ResolvedImage", "False", "InvalidImageReference", "Quay.io/A:v1"},
		}},
	} {
		got := c.r.Conditions()
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
}

func TestMerge(t *testing.T) {
	foreign := map[string]any{"type": "Ready", "status": "True", "extra": []any{"kept"}}
	last := map[string]any{"type": "Last", "status": "False"}
	own := Resolve("quay.io/a:v1", Values{}).Conditions()

	one, changed := Merge([]any{foreign, last}, own, "t1")
	checkTypes(t, one, "Ready Last TemplatesHaveResolved ResolvedImage")
	if !changed || one[2].(map[string]any)["lastTransitionTime"] != "t1" {
		t.Errorf("got %v, %v", one, changed)
	}
	if again, changed := Merge(one, own, "t2"); changed || fmt.Sprint(again) != fmt.Sprint(one) {
		t.Errorf("the same again changes: %v", again)
	}

	// A condition is updated in place between others. The time changes only with the status.
	between := []any{one[2], foreign, one[3], last}
	two, changed := Merge(between, Resolve("quay.io/a:v2", Values{}).Conditions(), "t2")
	checkTypes(t, two, "TemplatesHaveResolved Ready ResolvedImage Last")
	image := two[2].(map[string]any)
	if !changed || image["message"] != "quay.io/a:v2" || image["lastTransitionTime"] != "t1" {
		t.Errorf("got %v, %v", two, changed)
	}
	three, _ := Merge(two, Resolve("quay.io/a:{kube_major_version}", Values{}).Conditions(), "t3")
	if m := three[0].(map[string]any); m["status"] != "False" || m["lastTransitionTime"] != "t3" {
		t.Errorf("got %v", m)
	}
	if fmt.Sprint(three[1], three[3]) != fmt.Sprint(foreign, last) || between[2].(map[string]any)["message"] != "quay.io/a:v1" {
		t.Error("the input was modified")
	}

	long := []Condition{{"A", "True", "R", strings.Repeat("é", 40000)}}
	cut, _ := Merge(nil, long, "t")
	if n := len([]rune(cut[0].(map[string]any)["message"].(string))); n != 32768 {
		t.Errorf("a message of %d characters", n)
	}
	if _, changed := Merge(cut, long, "t2"); changed {
		t.Error("a long message is never at rest")
	}
}

func checkTypes(t *testing.T, conditions []any, want string) {
	t.Helper()
	var types []string
	for _, c := range conditions {
		types = append(types, c.(map[string]any)["type"].(string))
	}
	if got := strings.Join(types, " "); got != want {
		t.Errorf("the order is %s, want %s", got, want)
	}
}

func TestManifests(t *testing.T) {
	m := manifests(t, "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":["+
		`{"apiVersion":"a.b/v1","kind":"One","metadata":{"name":"x"},"v":1.50},`+
		`{"apiVersion":"a.b/v1","kind":"Two","metadata":{"name":"x"}},{"apiVersion":"a.b/v1","kind":"Two","metadata":{"name":"y"}}]}`,
		"# nothing\n---\na: &x 0x10\nb: *x\n")
	o, err := m.Object(Lookup{Group: "a.b", Version: "v1", Kind: "One"})
	if err != nil {
		t.Fatal(err)
	}
	if v, err := JSONPath(o, "{.v}"); v != "1.5" || err != nil {
		t.Errorf("%s, %v", v, err)
	}
	_, err = m.Object(Lookup{Group: "a.b", Version: "v1", Kind: "Two"})
	if err == nil || err.Error() != "there are 2 objects for Two.v1.a.b" {
		t.Errorf("got %v", err)
	}
	for _, text := range []string{"a: [", "- x\n", "text"} {
		if err := m.Add("x.yaml", []byte(text)); err == nil {
			t.Errorf("%q is taken for an object", text)
		}
	}
}

func TestJSONPath(t *testing.T) {
	object := map[string]any{"a": map[string]any{"b.c": "dot", "b": "plain", "é": "x"}, "l": []any{int64(1), 2.5, true}, "n": nil, "": "empty"}
	for expression, want := range map[string]string{
		"{.a.b}": "plain", "{$.a.b}": "plain", "{@.a.b}": "plain", `{.a.b\.c}`: "dot", `{.a['b\.c']}`: "dot", "{['a'].b}": "plain", "{.a['b']}": "plain",
		"{.l[0]}": "1", "{.l[-2]}": "2.5", "{.l[2]}": "true", "{.a.b}-{.l[0]}": "plain-1", "{.a.é}": "x",
	} {
		if got, err := JSONPath(object, expression); got != want || err != nil {
			t.Errorf("%s is %q, %v", expression, got, err)
		}
	}
	for _, expression := range []string{"{}", "{.a}", "{.l}", "{.n}", "{.x}", "{.n.x}", "{.l[3]}", "{.l[-4]}", "{.a[0]}", "{.a.*}", "{.l[*]}", "{.l[0:2]}", "{.l[0,1]}", "{..*}", `{.l[?(@.a=="b")]}`, "{range.l[*]}{.x}{end}", "{a}", "{.a['b.c']}", "{.a.b", "{.a['b]}"} {
		if got, err := JSONPath(object, expression); err == nil {
			t.Errorf("%s is %q", expression, got)
		}
	}
	if _, err := JSONPath(nil, "{.a}"); err == nil || errors.Unwrap(err) == nil {
		t.Errorf("got %v", err)
	}
}

// The number of lookups in a foreign reference is bounded.
func TestLookupsAreBounded(t *testing.T) {
	reference := "a/b:"
	for i := range 100 {
		reference += fmt.Sprintf("{group:g.h,version:v1,kind:K%d,name:,namespace:,jsonpath:{.a}}", i)
	}
	lookups := 0
	objects := func(Lookup) (any, error) { lookups++; return "x", nil }
	r := Resolve(reference, Values{Objects: objects, Path: func(any, string) (string, error) { return "1", nil }})
	if lookups != budget.TemplateLookups || len(r.Unresolved) != 100-budget.TemplateLookups || !strings.Contains(r.Unresolved[0].Err.Error(), "more than 16 lookups") {
		t.Errorf("%d lookups, %d unresolved", lookups, len(r.Unresolved))
	}
}
