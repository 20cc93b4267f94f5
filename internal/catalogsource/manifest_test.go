package catalogsource

import (
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
)

func open(t *testing.T, text string) *Manifest {
	t.Helper()
	m, err := Open("source.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

const head = "apiVersion: operators.coreos.com/v1alpha1\nkind: CatalogSource\nmetadata: {name: x, annotations: {olm.catalogImageTemplate: a/b}}\n"

// SetImages writes the image to the field of the spec's form, and nowhere else.
func TestSetImages(t *testing.T) {
	for _, c := range []struct{ spec, want string }{
		{"spec:\n  image: a/b:1 # c\n", "spec:\n  image: a/b:2 # c\n"},
		{"spec:\n  image:\n", "spec:\n  image: a/b:2\n"},
		{"spec:\n  sourceType: grpc\n  priority: 1\n", "spec:\n  sourceType: grpc\n  image: a/b:2\n  priority: 1\n"},
		{"spec:\n  catalogImageSource:\n    catalogImage: \"a/b:1\"\n", "spec:\n  catalogImageSource:\n    catalogImage: \"a/b:2\"\n"},
		{"spec:\n  catalogImageSource: {}\n", "spec:\n  catalogImageSource:\n    catalogImage: a/b:2\n"},
		{"spec:\n  catalogImageSource:\n  priority: 1\n", "spec:\n  catalogImageSource:\n    catalogImage: a/b:2\n  priority: 1\n"},
		{"spec: {catalogImageSource: {catalogImage: a/b:1}}", "spec: {catalogImageSource: {catalogImage: a/b:2}}"},
		{"spec: {image: a/b:2}", "spec: {image: a/b:2}"},
	} {
		m := open(t, head+c.spec)
		got, err := m.SetImages(map[*Source]string{m.Sources[0]: "a/b:2"})
		if err != nil || string(got) != head+c.want {
			t.Errorf("%q became %q, %v", c.spec, strings.TrimPrefix(string(got), head), err)
		}
	}
	for spec, code := range map[string]failure.Code{
		"":                               failure.CatalogSourceInvalid,
		"spec: none\n":                   failure.CatalogSourceInvalid,
		"spec: {configMapSource: {}}":    failure.CatalogSourceInvalid,
		"spec: {address: a}":             failure.CatalogSourceInvalid,
		"spec: &s {image: a}\nother: *s": failure.EditRefused,
	} {
		m := open(t, head+spec)
		if _, err := m.SetImages(map[*Source]string{m.Sources[0]: "a/b:2"}); failure.Of(err).Code != code || failure.Of(err).Line == 0 {
			t.Errorf("%q: %v", spec, err)
		}
	}
}

func TestOpenPassesOthersOver(t *testing.T) {
	m := open(t, "kind: CatalogSource\napiVersion: example.com/v1\n---\n- a list\n---\nkind: List\nitems: 3\n---\nkind: 3\n---\n"+head)
	if len(m.Sources) != 1 || m.Sources[0].String() != "x" {
		t.Errorf("got %v", m.Sources)
	}
	for _, text := range []string{"a: [", "\xff", "{\"a\": ]}"} {
		if _, err := Open("x.yaml", []byte(text)); failure.Of(err).Code != failure.CatalogSourceInvalid {
			t.Errorf("%q: %v", text, err)
		}
	}
}
