package catalogsource

import (
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
)

const digest = "quay.io/a/b@sha256:0123456789012345678901234567890123456789012345678901234567890123"

// A new manifest is valid and already as wanted.
func TestMake(t *testing.T) {
	for _, c := range []struct {
		namespace string
		wanted    Wanted
		want      string
	}{
		{"", Wanted{Image: digest}, "apiVersion: operators.coreos.com/v1alpha1\nkind: CatalogSource\nmetadata:\n  name: x\nspec:\n  sourceType: grpc\n  image: " + digest + "\n"},
		{"olm", Wanted{Image: "a/b:v1", Form: New, Template: "a/b:v{kube_major_version}"},
			"apiVersion: operators.coreos.com/v1alpha1\nkind: CatalogSource\nmetadata:\n  name: x\n  namespace: olm\n  annotations:\n    olm.catalogImageTemplate: a/b:v{kube_major_version}\nspec:\n  catalogImageSource:\n    catalogImage: a/b:v1\n"},
		{"", Wanted{Image: "a/b:v1", Template: "a/b:v{ocp_minor_version}"}, // OLM has no such variable
			"apiVersion: operators.coreos.com/v1alpha1\nkind: CatalogSource\nmetadata:\n  name: x\n  annotations:\n    graft.olmgraft.io/catalogImageTemplate: a/b:v{ocp_minor_version}\nspec:\n  sourceType: grpc\n  image: a/b:v1\n"},
		{"", Wanted{Image: "localhost:5000/a:1", Form: Legacy, Template: "{kube_major_version}/a"}, ""},
	} {
		text, err := Make("x", c.namespace, c.wanted)
		if err != nil || c.want != "" && string(text) != c.want {
			t.Errorf("%+v made %s, %v", c.wanted, text, err)
		}
		m := open(t, string(text))
		if faults, _ := m.Sources[0].Check(); len(faults) > 0 {
			t.Errorf("%s: %v", text, faults)
		}
		if again, err := m.Bring(m.Sources[0], c.wanted); err != nil || string(again) != string(text) {
			t.Errorf("%s became %s, %v", text, again, err)
		}
	}
}

func TestBring(t *testing.T) {
	const template, ours = "a/b:v{kube_minor_version}", "a/b:v{ocp_minor_version}"
	meta := "apiVersion: operators.coreos.com/v1alpha1\nkind: CatalogSource\nmetadata:\n"
	for _, c := range []struct {
		text   string
		wanted Wanted
		want   string
	}{
		{meta + "  name: x # n\nspec:\n  sourceType: grpc\n  image: a # i\n", Wanted{Image: digest}, meta + "  name: x # n\nspec:\n  sourceType: grpc\n  image: " + digest + " # i\n"},
		{meta + "  name: x # n\nspec:\n  sourceType: grpc\n  image: a # i\n", Wanted{Form: New, Template: template},
			meta + "  name: x # n\n  annotations:\n    olm.catalogImageTemplate: " + template + "\nspec:\n  catalogImageSource:\n    catalogImage: a # i\n"},
		{meta + "  name: x\n  namespace: n\n  labels: {a: b}\nspec: {catalogImageSource: {catalogImage: a}}\n", Wanted{Image: "b", Template: template},
			meta + "  name: x\n  namespace: n\n  annotations:\n    olm.catalogImageTemplate: " + template + "\n  labels: {a: b}\nspec: {catalogImageSource: {catalogImage: b}}\n"},
		{meta + "  name: x\n  annotations:\n    a: b\nspec: {catalogImageSource: {}}\n", Wanted{Image: "b", Template: template},
			meta + "  name: x\n  annotations:\n    a: b\n    olm.catalogImageTemplate: " + template + "\nspec: {catalogImageSource: {catalogImage: b}}\n"},
		{meta + "  name: x\n  annotations:\n    olm.catalogImageTemplate: 'old' # t\nspec: {catalogImageSource: {catalogImage: a}}\n", Wanted{Template: template},
			meta + "  name: x\n  annotations:\n    olm.catalogImageTemplate: '" + template + "' # t\nspec: {catalogImageSource: {catalogImage: a}}\n"},
		{meta + "  name: x\n  annotations: {}\nspec: {catalogImageSource: {catalogImage: a}}\n", Wanted{Template: template},
			meta + "  name: x\n  annotations:\n    olm.catalogImageTemplate: " + template + "\nspec: {catalogImageSource: {catalogImage: a}}\n"},
		{meta + "  name: x\nspec: {catalogImageSource: {catalogImage: a}}\n", Wanted{Template: ours},
			meta + "  name: x\n  annotations:\n    graft.olmgraft.io/catalogImageTemplate: " + ours + "\nspec: {catalogImageSource: {catalogImage: a}}\n"},
		{meta + "  name: x\n  annotations:\n    a: b\n    olm.catalogImageTemplate: " + ours + "\nspec: {catalogImageSource: {catalogImage: a}}\n", Wanted{Template: ours},
			meta + "  name: x\n  annotations:\n    a: b\n    graft.olmgraft.io/catalogImageTemplate: " + ours + "\nspec: {catalogImageSource: {catalogImage: a}}\n"},
		{meta + "  name: x\n  annotations:\n    olm.catalogImageTemplate: " + template + "\nspec: {catalogImageSource: {catalogImage: a}}\n", Wanted{Template: ours},
			meta + "  name: x\n  annotations:\n    graft.olmgraft.io/catalogImageTemplate: " + ours + "\nspec: {catalogImageSource: {catalogImage: a}}\n"},
		{meta + "  name: x\n  annotations: {olm.catalogImageTemplate: " + "'" + template + "'" + ", a: b}\nspec: {catalogImageSource: {catalogImage: a}}\n", Wanted{Template: ours},
			meta + "  name: x\n  annotations: {a: b, graft.olmgraft.io/catalogImageTemplate: '" + ours + "'}\nspec: {catalogImageSource: {catalogImage: a}}\n"},
		{meta + "  name: x\n  annotations:\n    graft.olmgraft.io/catalogImageTemplate: " + ours + "\nspec: {catalogImageSource: {catalogImage: a}}\n", Wanted{Template: template},
			meta + "  name: x\n  annotations:\n    graft.olmgraft.io/catalogImageTemplate: " + template + "\nspec: {catalogImageSource: {catalogImage: a}}\n"},
		{meta + "  name: x\nspec:\n  displayName: d # d\n", Wanted{Image: "b"}, meta + "  name: x\nspec:\n  displayName: d # d\n  sourceType: grpc\n  image: b\n"},
		{meta + "  name: x\nspec: {displayName: d}\n", Wanted{Image: "b"}, meta + "  name: x\nspec: {displayName: d, sourceType: grpc, image: b}\n"},
		{meta + "  name: x\nspec: {catalogImageSource: {catalogImage: a}}\n", Wanted{}, meta + "  name: x\nspec: {catalogImageSource: {catalogImage: a}}\n"},
	} {
		m := open(t, c.text)
		got, err := m.Bring(m.Sources[0], c.wanted)
		if err != nil || string(got) != c.want {
			t.Errorf("%s\nwith %+v became\n%s\n%v", c.text, c.wanted, got, err)
		}
		again := open(t, string(got))
		if more, err := again.Bring(again.Sources[0], c.wanted); err != nil || string(more) != string(got) {
			t.Errorf("%s is not the end: %s, %v", got, more, err)
		}
	}
	for spec, says := range map[string]string{
		"{sourceType: grpc, address: a}":  "its source is address",
		"{sourceType: configmap}":         "its sourceType is configmap",
		"{catalogServiceSource: {}}":      "its source is catalogServiceSource",
		"{configMapSource: {}, image: a}": "its source is configMapSource",
	} {
		m := open(t, meta+"  name: x\nspec: "+spec+"\n")
		if _, err := m.Bring(m.Sources[0], Wanted{Image: digest, Form: New}); !failure.Is(err, failure.CatalogSourceInvalid) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", spec, err)
		}
	}
}

// Only the selected one of several objects changes.
func TestFind(t *testing.T) {
	one := "---\n# %\napiVersion: operators.coreos.com/v1alpha1\nkind: CatalogSource\nmetadata: {name: %}\nspec:\n  sourceType: grpc\n  image: a\n"
	text := strings.ReplaceAll(one, "%", "x") + strings.ReplaceAll(one, "%", "y")
	m := open(t, text)
	if _, err := m.Find("", "", ""); !failure.Is(err, failure.CatalogSourceInvalid) || !strings.Contains(err.Error(), "y is the second of 2") {
		t.Errorf("got %v", err)
	}
	if s, err := m.Find("", "z", ""); s != nil || err != nil {
		t.Errorf("got %v, %v", s, err)
	}
	y, err := m.Find("", "y", "")
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.Bring(y, Wanted{Form: New, Image: "b"})
	want := strings.ReplaceAll(one, "%", "x") + strings.Replace(strings.ReplaceAll(one, "%", "y"), "  sourceType: grpc\n  image: a\n", "  catalogImageSource:\n    catalogImage: b\n", 1)
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
	single := open(t, strings.ReplaceAll(one, "%", "x"))
	if s, err := single.Find("", "", ""); err != nil || s.Name != "x" {
		t.Errorf("got %v, %v", s, err)
	}
}

// The namespace selects between objects with the same name. A name alone must be unique.
func TestFindNamespace(t *testing.T) {
	one := "---\napiVersion: operators.coreos.com/v1alpha1\nkind: CatalogSource\nmetadata: {name: x, namespace: %}\nspec: {}\n"
	m := open(t, strings.ReplaceAll(one, "%", "a")+strings.ReplaceAll(one, "%", "b"))
	if s, err := m.Find("", "x", "b"); err != nil || s.Namespace != "b" {
		t.Errorf("got %v, %v", s, err)
	}
	if _, err := m.Find("", "x", ""); !failure.Is(err, failure.CatalogSourceInvalid) {
		t.Errorf("got %v", err)
	}
	hostile := open(t, strings.ReplaceAll(strings.Replace(one, "name: x", `name: "x\n::error::y"`, 1), "%", "a"))
	if _, err := hostile.Find("", "", ""); !failure.Is(err, failure.CatalogSourceInvalid) || strings.Contains(err.Error(), "\n::") {
		t.Errorf("got %v", err)
	}
}

func TestAppend(t *testing.T) {
	for text, want := range map[string]string{
		"": "a: b\n", "\n\n": "a: b\n", "# c\n": "# c\n---\na: b\n", "c: d": "c: d\n---\na: b\n", "c: d\r\n": "c: d\r\n---\r\na: b\r\n",
	} {
		if got := open(t, text).Append([]byte("a: b\n")); string(got) != want {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestCheckTemplate(t *testing.T) {
	for reference, says := range map[string]string{
		"quay.io/a/b:v{kube_major_version}.{kube_minor_version}":                                  "",
		"quay.io/a/b-{group:g.h,version:v1,kind:K,name:,namespace:,jsonpath:{.a[?(@.b=='}')]}}/c": "",
		"quay.io/a/b:v1":                          "it has no variable",
		"quay.io/a/b:v{kube_mayor_version}":       "{kube_mayor_version} is not a template: there is no variable",
		"quay.io/a/b:v{kube_major_version}}":      "} is not a template: a closing brace has no opening brace",
		"Quay.io/A/b:v{kube_major_version}":       "repository is not valid",
		"quay.io/a/b:v {kube_major_version}":      "tag is not valid",
		"quay.io/a/b@sha256:{kube_major_version}": "digest",
	} {
		err := CheckTemplate(reference)
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%s: %v", reference, err)
		}
	}
}
