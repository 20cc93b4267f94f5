package catalogsource

import (
	"strings"
	"testing"
)

const sample = "{group:foo.example.com,version:v1,kind:Sample,name:MySample,namespace:ns,jsonpath:{.spec.foo.bar}}"

func TestGrammar(t *testing.T) {
	for _, c := range []struct {
		reference string
		templates []string
	}{
		{"quay.io/kube-release-v{kube_major_version}/catalog:v{kube_major_version}.{kube_minor_version}", []string{"{kube_major_version}", "{kube_major_version}", "{kube_minor_version}"}},
		{"{kube_patch_version}", []string{"{kube_patch_version}"}},
		{"q/a:" + sample, []string{sample}},
		{"q/a:" + sample + "-{kube_minor_version}", []string{sample, "{kube_minor_version}"}},
		{"{{kube_minor_version}}", []string{"{kube_minor_version}"}},
		{"{{{kube_minor_version}", []string{"{kube_minor_version}"}},
		// These break the grammar.
		{"", nil},
		{"quay.io/a/b:v1", nil},
		{"{Kube_minor_version}", nil},
		{"{KUBE_MINOR_VERSION}", nil},
		{"{ kube_minor_version}", nil},
		{"{kube_minor_version }", nil},
		{"{olm_major_version}", nil},
		{"{platform_architecture}", nil},
		{"{kube_minor_version", nil},
		{"{}", nil},
	} {
		checkParts(t, c.reference, c.templates)
	}
}

func TestGrammarOfLookups(t *testing.T) {
	for _, c := range []struct {
		lookup string
		valid  bool
	}{
		{sample, true},
		{"{group:a,version:v1beta1,kind:K,name:,namespace:,jsonpath:{.a}}", true},
		{"{group:a.b,version:v1,kind:K,name:system:node,namespace:,jsonpath:{.a}}", true},
		{"{group:a.b,version:v1,kind:K,name:n,namespace:,jsonpath:{.a}-{.b}}", true},
		{`{group:a.b,version:v1,kind:K,name:n,namespace:,jsonpath:{.a['}']}}`, true},
		{`{group:a.b,version:v1,kind:K,name:n,namespace:,jsonpath:{.a[?(@.b=="{")].c}}`, true},
		{`{group:a.b,version:v1,kind:K,name:n,namespace:,jsonpath:{.a['é']}}`, true},
		// The order of the parts, and missing parts.
		{"{version:v1,group:a.b,kind:K,name:n,namespace:ns,jsonpath:{.a}}", false},
		{"{group:a.b,version:v1,kind:K,namespace:ns,name:n,jsonpath:{.a}}", false},
		{"{group:a.b,version:v1,kind:K,name:n,jsonpath:{.a}}", false},
		{"{group:a.b,version:v1,kind:K,name:n,namespace:ns}", false},
		{"{group:a.b,version:v1,kind:K,name:n,namespace:ns,jsonpath:{.a},x:y}", false},
		{"{group=a.b,version=v1,kind=K,name=n,namespace=ns,jsonpath={.a}}", false},
		{"{Group:a.b,version:v1,kind:K,name:n,namespace:ns,jsonpath:{.a}}", false},
		// White space.
		{"{group:a.b, version:v1,kind:K,name:n,namespace:ns,jsonpath:{.a}}", false},
		{"{group:a.b,version:v1,kind:K,name:n m,namespace:ns,jsonpath:{.a}}", false},
		{"{group:a.b,version:v1,kind:K,name:n,namespace:ns,jsonpath:{.a['b c']}}", false},
		{"{group:a.b,version:v1,kind:K,name:n,namespace:ns,jsonpath:{.a}\t}", false},
		// The grammar of the values.
		{"{group:,version:v1,kind:K,name:n,namespace:ns,jsonpath:{.a}}", false},
		{"{group:A.b,version:v1,kind:K,name:n,namespace:ns,jsonpath:{.a}}", false},
		{"{group:a..b,version:v1,kind:K,name:n,namespace:ns,jsonpath:{.a}}", false},
		{"{group:" + strings.Repeat("a", 254) + ",version:v1,kind:K,name:n,namespace:ns,jsonpath:{.a}}", false},
		{"{group:a.b,version:,kind:K,name:n,namespace:ns,jsonpath:{.a}}", false},
		{"{group:a.b,version:v1.2,kind:K,name:n,namespace:ns,jsonpath:{.a}}", false},
		{"{group:a.b,version:v1,kind:,name:n,namespace:ns,jsonpath:{.a}}", false},
		{"{group:a.b,version:v1,kind:sample,name:n,namespace:ns,jsonpath:{.a}}", false},
		{"{group:a.b,version:v1,kind:K,name:..,namespace:ns,jsonpath:{.a}}", false},
		{"{group:a.b,version:v1,kind:K,name:a/b,namespace:ns,jsonpath:{.a}}", false},
		{"{group:a.b,version:v1,kind:K,name:n,namespace:Ns,jsonpath:{.a}}", false},
		{"{group:a.b,version:v1,kind:K,name:n,namespace:" + strings.Repeat("a", 64) + ",jsonpath:{.a}}", false},
		// The path begins with { and ends with }.
		{"{group:a.b,version:v1,kind:K,name:n,namespace:ns,jsonpath:}", false},
		{"{group:a.b,version:v1,kind:K,name:n,namespace:ns,jsonpath:.a}", false},
		{"{group:a.b,version:v1,kind:K,name:n,namespace:ns,jsonpath:{.a}b}", false},
		{"{group:a.b,version:v1,kind:K,name:n,namespace:ns,jsonpath:a{.b}}", false},
		{"{group:a.b,version:v1,kind:K,name:n,namespace:ns,jsonpath:{.a}", false},
		{"{group:a.b,version:v1,kind:K,name:n,namespace:ns,jsonpath:{.a['}}", false},
	} {
		want := []string(nil)
		if c.valid {
			want = []string{c.lookup}
		}
		checkParts(t, c.lookup, want)
		checkParts(t, "quay.io/a/b:"+c.lookup, want)
	}
}

func checkParts(t *testing.T, reference string, want []string) {
	t.Helper()
	var got []string
	for _, p := range Parse(reference) {
		if p.Template != nil {
			got = append(got, p.Template.Text)
		}
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%q has the templates %q, want %q", reference, got, want)
	}
}

func TestKubeVersions(t *testing.T) {
	for s, want := range map[string]KubeVersion{
		"v1.17.1+6af3663":        {"1", "17", "1"},
		"v1.27.3-gke.100":        {"1", "27", "3"},
		"v1.29.4-eks-036c24b":    {"1", "29", "4"},
		"v1.28.6+k3s2":           {"1", "28", "6"},
		"v1.30.0-rc.1+rke2r1":    {"1", "30", "0"},
		"v1.20.0-1018+ba0c2e2ba": {"1", "20", "0"},
		"1.22.0":                 {"1", "22", "0"},
		"1.29":                   {"1", "29", ""},
		"v1.29+":                 {"1", "29", ""},
		"v1.33.1.fips":           {"1", "33", "1"},
	} {
		if got, ok := ParseKubeVersion(s); !ok || got != want {
			t.Errorf("%s is %v, %v", s, got, ok)
		}
	}
	for _, s := range []string{"", "v", "1", "v1.", "v1.x", "1.2.3/4", "a1.2.3", "v1.29 ", "v01.2", "{kube_major_version}.1"} {
		if got, ok := ParseKubeVersion(s); ok {
			t.Errorf("%q is %v", s, got)
		}
	}
}

// The joined parts are the reference, each template parses on its own, and resolving changes only templates.
func FuzzParse(f *testing.F) {
	for _, s := range []string{sample, "q/{kube_major_version}:v{kube_minor_version}", "{{kube_patch_version}", sample[:len(sample)-1], "{group:a,version:v1,kind:K,name:,namespace:,jsonpath:{.a['}']}{\"}\"}}", "{group:\xff"} {
		f.Add(s, "x")
	}
	f.Fuzz(func(t *testing.T, reference, value string) {
		var joined, want strings.Builder
		for _, p := range Parse(reference) {
			joined.WriteString(p.Text)
			if p.Template == nil {
				want.WriteString(p.Text)
				continue
			}
			again := Parse(p.Text)
			if len(again) != 1 || again[0].Template == nil || *again[0].Template != *p.Template {
				t.Fatalf("%q is a template only within %q", p.Text, reference)
			}
			if p.Template.Variable != "" {
				want.WriteString("1")
			} else {
				want.WriteString(value)
			}
		}
		if joined.String() != reference {
			t.Fatalf("%q became %q", reference, joined.String())
		}
		r := Resolve(reference, Values{Kube: KubeVersion{"1", "1", "1"}, Objects: func(Lookup) (any, error) { return nil, nil }, Path: func(any, string) (string, error) { return value, nil }})
		for _, u := range r.Unresolved {
			if _, broken := u.Err.(*Broken); !broken { //nolint:errorlint // not wrapped here
				t.Fatalf("%q has no value: %v", u.Template.Text, u.Err)
			}
		}
		if r.Image != want.String() {
			t.Fatalf("%q resolved to %q, want %q", reference, r.Image, want.String())
		}
		if r := Resolve(reference, Values{}); r.Image != reference {
			t.Fatalf("%q changed to %q though nothing is known", reference, r.Image)
		}
	})
}
