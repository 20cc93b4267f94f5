package operand

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/reference"
)

func version1(t *testing.T, s string) semver.Version {
	t.Helper()
	v, err := semver.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// A catalog writes the kind of a property under type.
func TestCatalogProperties(t *testing.T) {
	b := setOf(t, `
schema: olm.bundle
name: op.v1.0.0
package: op
image: quay.io/example/op:v1.0.0
properties:
- type: olm.package
  value: {packageName: op, version: 1.0.0}
- type: olm.gvk
  value: {group: g, kind: k, version: v1}
- type: olm.operand.supported
  value: {name: etcd, version: ">=3.0.0 <4.0.0"}
relatedImages:
- {name: "", image: quay.io/example/op:v1.0.0}
`).Bundles[0]
	if got := claims(b); !reflect.DeepEqual(got, [][3]string{{TypeSupported, "etcd", ">=3.0.0 <4.0.0"}}) || b.Version.String() != "1.0.0" || len(b.Related) != 1 {
		t.Errorf("got %+v", b)
	}
}

func TestMalformed(t *testing.T) {
	const entry = "schema: olm.operand\nname: etcd\nversion: 3.1.1\nimages:\n- {name: etcd, image: quay.io/coreos/etcd:v3}\n"
	bundle := func(value string) string {
		return "schema: olm.bundle\nname: b\npackage: p\nimage: i\nproperties:\n- {type: olm.operand.supported, value: " + value + "}\n"
	}
	for name, test := range map[string]struct{ text, want string }{
		"no version":      {strings.Replace(entry, "3.1.1", "v3", 1), `its version "v3" is not a semantic version`},
		"number":          {strings.Replace(entry, "3.1.1", "3.1", 1), "version cannot be a number"},
		"no name":         {strings.Replace(entry, "name: etcd\n", "", 1), "it has no name"},
		"no images":       {strings.Replace(entry, "images:", "relatedImages:", 1), "it has no images"},
		"related":         {strings.Replace(entry, "olm.operand", "olm.relatedimages", 1), "it has no relatedImages"},
		"nameless image":  {strings.Replace(entry, "{name: etcd, ", "{", 1), "has no name"},
		"no image":        {strings.Replace(entry, "quay.io/coreos/etcd:v3", "https://quay.io/etcd", 1), "is not an image reference"},
		"twice":           {entry + "- {name: etcd, image: quay.io/coreos/etcd:v2}\n", "two of its images are named etcd"},
		"claim of a text": {bundle("etcd"), "it must have name and version, both texts"},
		"claim nameless":  {bundle("{version: 1.0.0}"), "it has no name"},
		"claim no range":  {bundle("{name: etcd, version: about 3}"), `"about 3" is not a range of versions`},
		"claim empty":     {bundle(`{name: etcd, version: " "}`), `is not a range of versions`},
		"claim missing":   {bundle("{name: etcd}"), `"" is not a range of versions`},
	} {
		t.Run(name, func(t *testing.T) {
			docs, err := fbc.Read("c.yaml", []byte("---\n"+test.text))
			if err != nil {
				t.Fatal(err)
			}
			err = (&Set{}).Add(docs)
			if f := failure.Of(err); f == nil || f.Code != failure.TemplateMalformed || !strings.Contains(f.Message, test.want) || f.File != "c.yaml" || f.Line < 2 {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func TestRange(t *testing.T) {
	for _, test := range []struct {
		text string
		in   []string
		out  []string
	}{
		{">= 2.1.0 < 3.0.0", []string{"2.1.0", "2.99.0", "3.0.0-rc.1"}, []string{"2.0.9", "3.0.0"}},
		{"3.1.1", []string{"3.1.1", "3.1.1+2"}, []string{"3.1.2", "3.1.1-rc.1"}},
		{"2.x || 3.1.1", []string{"2.0.0", "3.1.1"}, []string{"3.1.0"}},
		{"1.0.0 || || 3.0.0", nil, []string{"2.0.0"}},
	} {
		r, err := ParseRange(test.text)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range slices.Concat(test.in, test.out) {
			if got := r.Holds(version1(t, v)); got != slices.Contains(test.in, v) {
				t.Errorf("%s holds %s: %v", test.text, v, got)
			}
		}
	}
	if !(Range{}).Holds(version1(t, "0.0.0-a")) {
		t.Error("the zero range does not hold all")
	}
	if _, err := ParseRange(""); err == nil {
		t.Error("an empty range is accepted")
	}
}

func TestCompare(t *testing.T) {
	order := []string{"3.1.1-rc.1", "3.1.1", "3.1.1+1", "3.1.1+2", "3.1.1+10", "3.1.1+10.1", "3.1.1+a", "3.1.2"}
	for i := range order {
		for j := range order {
			got := Compare(version1(t, order[i]), version1(t, order[j]))
			if (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("%s and %s: %d", order[i], order[j], got)
			}
		}
	}
}

func TestReference(t *testing.T) {
	for image, want := range map[string]*reference.Reference{
		"quay.io/coreos/etcd:stable":         {Registry: "quay.io", Path: "coreos/etcd", Tag: "stable"},
		"quay.io/coreos/etcd@sha256:12345":   {Registry: "quay.io", Path: "coreos/etcd", Digest: "sha256:12345"},
		"localhost:5000/etcd":                {Registry: "localhost:5000", Path: "etcd"},
		"localhost:5000/etcd:v1@sha256:abcd": {Registry: "localhost:5000", Path: "etcd", Tag: "v1", Digest: "sha256:abcd"},
		"etcd-operator:1.1":                  {Path: "etcd-operator", Tag: "1.1"},
		"[::1]:5000/etcd:v1":                 {Registry: "[::1]:5000", Path: "etcd", Tag: "v1"},
		"quay.io/coreos/e..tcd:v1":           nil,
		"quay.io/coreos/e___tcd:v1":          nil,
		"quay.io:99999/coreos/etcd:v1":       nil,
		"https://quay.io/coreos/etcd":        nil,
		"quay.io/coreos/etcd:":               nil,
		"quay.io/coreos/etcd@":               nil,
		"quay.io/Coreos/etcd":                nil,
		"$(IMAGE)":                           nil,
		"":                                   nil,
	} {
		got, ok := parseReference(image)
		if ok != (want != nil) || ok && got != *want {
			t.Errorf("%s: %+v %v", image, got, ok)
		}
		if want != nil && ByTag(image) != (want.Digest == "") {
			t.Errorf("%s by tag: %v", image, ByTag(image))
		}
	}
}
