package catalogsource

import (
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
)

const digest = "quay.io/a/b@sha256:0123456789012345678901234567890123456789012345678901234567890123"

// What is made is valid, and as wanted already.
func TestMake(t *testing.T) {
	for _, c := range []struct {
		namespace string
		wanted    Wanted
		want      string
	}{
		{"", Wanted{Image: digest}, "apiVersion: operators.coreos.com/v1alpha1\nkind: CatalogSource\nmetadata:\n  name: x\nspec:\n  sourceType: grpc\n  image: " + digest + "\n"},
		{"olm", Wanted{Image: "a/b:v1", Form: New, Template: "a/b:v{kube_major_version}"},
			"apiVersion: operators.coreos.com/v1alpha1\nkind: CatalogSource\nmetadata:\n  name: x\n  namespace: olm\n  annotations:\n    olm.catalogImageTemplate: a/b:v{kube_major_version}\nspec:\n  catalogImageSource:\n    catalogImage: a/b:v1\n"},
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
	const template = "a/b:v{kube_minor_version}"
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
	m := open(t, meta+"  name: x\nspec: {sourceType: grpc, address: a}\n")
	if _, err := m.Bring(m.Sources[0], Wanted{Image: digest}); !failure.Is(err, failure.CatalogSourceInvalid) {
		t.Errorf("got %v", err)
	}
}

// Of several, only the one that is meant becomes another.
func TestFind(t *testing.T) {
	one := "---\n# %\napiVersion: operators.coreos.com/v1alpha1\nkind: CatalogSource\nmetadata: {name: %}\nspec:\n  sourceType: grpc\n  image: a\n"
	text := strings.ReplaceAll(one, "%", "x") + strings.ReplaceAll(one, "%", "y")
	m := open(t, text)
	if _, err := m.Find(""); !failure.Is(err, failure.CatalogSourceInvalid) || !strings.Contains(err.Error(), "2 are there") {
		t.Errorf("got %v", err)
	}
	if _, err := m.Find("z"); !failure.Is(err, failure.CatalogSourceInvalid) || !strings.Contains(err.Error(), "0 have this name") {
		t.Errorf("got %v", err)
	}
	y, err := m.Find("y")
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.Bring(y, Wanted{Form: New, Image: "b"})
	want := strings.ReplaceAll(one, "%", "x") + strings.Replace(strings.ReplaceAll(one, "%", "y"), "  sourceType: grpc\n  image: a\n", "  catalogImageSource:\n    catalogImage: b\n", 1)
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
	single := open(t, strings.ReplaceAll(one, "%", "x"))
	if s, err := single.Find(""); err != nil || s.Name != "x" {
		t.Errorf("got %v, %v", s, err)
	}
}

func TestCheckTemplate(t *testing.T) {
	for reference, says := range map[string]string{
		"quay.io/a/b:v{kube_major_version}.{kube_minor_version}":                                  "",
		"quay.io/a/b-{group:g.h,version:v1,kind:K,name:,namespace:,jsonpath:{.a[?(@.b=='}')]}}/c": "",
		"quay.io/a/b:v1":                          "no template",
		"quay.io/a/b:v{kube_mayor_version}":       "breaks the grammar",
		"quay.io/a/b:v{kube_major_version}}":      "breaks the grammar",
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
