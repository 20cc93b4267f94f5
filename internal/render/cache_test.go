package render_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/bundle"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/oci"
	"github.com/olmgraft/graft/internal/render"
)

// The cache keys a rendered bundle by image, digest and form. Everything else is pulled.
func TestCacheOfBundles(t *testing.T) {
	cache, err := oci.OpenCache(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &fakeRegistry{digests: map[string]string{}}
	one := "schema: olm.template.basic\nentries:\n- schema: olm.bundle\n  image: " + opImage + "1.0.0\n"
	for _, tt := range []struct {
		name, src string
		o         render.Options
		moved     string
		pulled    string
	}{
		{"nothing is kept yet", one, render.Options{}, "", "1.0.0"},
		{"it is", one, render.Options{}, "", ""},
		{"not in JSON", one, render.Options{Format: fbc.JSON}, "", "1.0.0"},
		{"that as well", one, render.Options{Format: fbc.JSON}, "", ""},
		{"not with csv metadata", one, render.Options{Metadata: bundle.CSVMetadata}, "", "1.0.0"},
		{"nor in JSON with csv metadata", one, render.Options{Metadata: bundle.CSVMetadata, Format: fbc.JSON}, "", "1.0.0"},
		{"not under another tag", strings.Replace(one, "1.0.0", "1.0.0-a", 1), render.Options{}, "", "1.0.0-a"},
		{"not under another digest", one, render.Options{}, "moved", "1.0.0"},
		{"the same again", one, render.Options{}, "", ""},
	} {
		s.digests[opImage+"1.0.0"], s.digests[opImage+"1.0.0-a"] = digestOf(tt.moved), digestOf("")
		fresh := text(t, open(t, "t.yaml", []byte(tt.src)), render.Options{Registry: s, Format: tt.o.Format, Metadata: tt.o.Metadata})
		s.took()
		tt.o.Registry, tt.o.Cache = s, cache
		got := text(t, open(t, "t.yaml", []byte(tt.src)), tt.o)
		if took := s.took(); took != tt.pulled || string(got) != string(fresh) {
			t.Errorf("%s: pulled %q, want %q; got\n%s\nwithout a cache\n%s", tt.name, took, tt.pulled, got, fresh)
		}
	}
}

// Cached bundles are checked against the sum like pulled ones.
func TestCacheAndSum(t *testing.T) {
	cache, err := oci.OpenCache(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &fakeRegistry{digests: map[string]string{opImage + "1.0.0": digestOf("now")}}
	one := open(t, "t.yaml", []byte("schema: olm.template.basic\nentries:\n- schema: olm.bundle\n  image: "+opImage+"1.0.0\n"))
	text(t, one, render.Options{Registry: s, Cache: cache})
	sum, err := render.ParseSum("catalog.sum", []byte(opImage+"1.0.0 "+digestOf("then")+" h1:1\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := render.Render(context.Background(), one, render.Options{Registry: s, Cache: cache, Sum: sum}); !failure.Is(err, failure.DigestMismatch) {
		t.Errorf("got %v", err)
	}
}

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}
