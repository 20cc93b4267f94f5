package oci

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/testkit/registry"
)

func pushCatalog(t testing.TB, s *registry.Server, ref string, layers ...registry.Layer) {
	t.Helper()
	if _, err := s.PushImage(ref, registry.Image{OCI: true, Labels: map[string]string{CatalogLabel: "/configs"}, Layers: layers}); err != nil {
		t.Fatal(err)
	}
}

func ofOp(_ string, content []byte) bool { return bytes.Contains(content, []byte("package: op\n")) }

// A part of a catalog equals the whole catalog without the unwanted files. Cases: files that upper layers
// replace or remove, links, and a topmost layer that hides the others.
func TestCatalogPart(t *testing.T) {
	old, own := plain("configs/op/catalog.yaml", "package: op\nold\n"), plain("configs/op/catalog.yaml", "package: op\n")
	other, system := plain("configs/other/catalog.yaml", "package: other\n"), plain("usr/bin/opm", "package: op\n")
	for _, tt := range []struct {
		name   string
		layers []registry.Layer
		want   string
	}{
		{"one layer", []registry.Layer{packed(t, registry.Gzip, own, other, system)}, "op/catalog.yaml=package: op"},
		{"an upper layer replaces", []registry.Layer{packed(t, registry.Zstd, old, other), packed(t, registry.Gzip, own)}, "op/catalog.yaml=package: op"},
		{"an upper layer has another package", []registry.Layer{packed(t, registry.Gzip, own), packed(t, registry.Gzip, other)}, "op/catalog.yaml=package: op"},
		{"an unwanted file replaces", []registry.Layer{packed(t, registry.Gzip, old), packed(t, registry.Gzip, plain("configs/op/catalog.yaml", "package: another\n"))}, ""},
		{"removed", []registry.Layer{packed(t, registry.Gzip, old), packed(t, registry.Gzip, plain("configs/.wh.op", ""))}, ""},
		{"all removed", []registry.Layer{packed(t, registry.Gzip, old), packed(t, registry.Gzip, plain(".wh..wh..opq", ""))}, ""},
		{"the topmost layer hides the others", []registry.Layer{packed(t, registry.Gzip, old, plain("configs/op/more.yaml", "package: op\n")), packed(t, registry.Gzip, plain("configs/.wh..wh..opq", ""), own)}, "op/catalog.yaml=package: op"},
		{"a link", []registry.Layer{packed(t, registry.Gzip, plain("data/catalog.yaml", "package: op\n"), registry.Entry{Name: "configs", Type: tar.TypeSymlink, Link: "data"})}, "catalog.yaml=package: op"},
		{"nothing", []registry.Layer{packed(t, registry.Gzip, system)}, ""},
	} {
		s := startServer(t)
		c, _ := newClient(t, s, nil)
		pushCatalog(t, s, "acme/catalog:v1", tt.layers...)
		for range 2 { // the second time, layers without catalog files are known
			part, err := c.CatalogPart(context.Background(), testHost+"/acme/catalog:v1", ofOp)
			if err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
			var got []string
			for _, name := range slices.Sorted(maps.Keys(part.Files)) {
				got = append(got, name+"="+strings.TrimSpace(string(part.Files[name])))
			}
			if strings.Join(got, " ") != tt.want || part.Digest == "" {
				t.Errorf("%s: got %q", tt.name, got)
			}
		}
	}
}

// A layer without catalog files is read once for all images that have it. Layers below one that hides them are
// never read.
func TestCatalogPartReadsLittle(t *testing.T) {
	s := startServer(t)
	c, _ := newClient(t, s, nil)
	system := packed(t, registry.Gzip, plain("usr/bin/opm", strings.Repeat("x", 1<<20)+fmt.Sprint(t.Name())))
	for i, ref := range []string{"acme/catalog:v1", "acme/catalog:v2"} {
		pushCatalog(t, s, ref, system, packed(t, registry.Gzip, plain("configs/op/catalog.yaml", fmt.Sprintf("package: op\n%d\n", i))))
	}
	s.Reset()
	for range 2 {
		for _, tag := range []string{"v1", "v2"} {
			if _, err := c.CatalogPart(context.Background(), testHost+"/acme/catalog:"+tag, ofOp); err != nil {
				t.Fatal(err)
			}
		}
	}
	times := 0
	for _, r := range s.Requests() {
		if r.Reference == digestOf(system.Blob, "") {
			times++
		}
	}
	if times != 1 {
		t.Errorf("the layer of the system was read %d times", times)
	}
}

// If a connection breaks within a layer, Graft reads the layer again from the start. A layer with a wrong
// digest, or that is no archive, gives a failure.
func TestCatalogPartOfFaultyRegistries(t *testing.T) {
	s := startServer(t)
	c, _ := newClient(t, s, nil)
	layer := packed(t, registry.Gzip, plain("configs/op/catalog.yaml", "package: op\n"+strings.Repeat("0123456789abcdef", 8<<10)))
	pushCatalog(t, s, "acme/catalog:v1", layer)
	for _, tt := range []struct {
		name  string
		fault registry.Fault
		times int
		want  failure.Code
	}{
		{"cut off once", registry.Fault{Truncate: 50}, 1, 0},
		{"altered", registry.Fault{Alter: func(b []byte) []byte { b[len(b)-9] ^= 1; return b }}, 1, failure.DigestMismatch},
	} {
		left := tt.times
		s.SetScript(func(r registry.Request) registry.Fault {
			if left > 0 && r.Reference == digestOf(layer.Blob, "") {
				left--
				return tt.fault
			}
			return registry.Fault{}
		})
		part, err := c.CatalogPart(context.Background(), testHost+"/acme/catalog:v1", ofOp)
		if tt.want == 0 && (err != nil || len(part.Files) != 1) || tt.want != 0 && !failure.Is(err, tt.want) {
			t.Errorf("%s: got %v %v", tt.name, part, err)
		}
	}
}
