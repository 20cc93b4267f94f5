package oci

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/olmgraft/graft/internal/atomicfile"
	"github.com/olmgraft/graft/internal/budget"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/testkit/registry"
)

func place(path string) atomicfile.Place {
	return atomicfile.Place{Root: filepath.Dir(path), Path: filepath.Base(path)}
}

// layout writes a small catalog image as an OCI layout and returns its directory.
func layout(t *testing.T) (dir string, image *Image) {
	t.Helper()
	_, image = build(t, nil, "", recipe(t))
	dir = filepath.Join(t.TempDir(), "layout")
	if changed, err := image.Write(place(dir)); err != nil || !changed {
		t.Fatalf("writing: %v, %v", changed, err)
	}
	return dir, image
}

// The umask and the form do not change the written image.
func TestWhatIsWrittenIsTheSame(t *testing.T) {
	dir, image := layout(t)
	c, _ := newClient(t, startServer(t), nil)
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	var texts [][]byte
	for i := range 2 {
		_, again := build(t, nil, "", recipe(t))
		file := filepath.Join(t.TempDir(), fmt.Sprintf("%d.tar", i))
		if _, err := again.Write(place(file)); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
		if got := wantCatalog(t, c, file); got.Digest != image.Digest {
			t.Errorf("the tarball holds %s, the directory %s", got.Digest, image.Digest)
		}
	}
	if !bytes.Equal(texts[0], texts[1]) {
		t.Error("two tarballs differ")
	}
	wantCatalog(t, c, dir)
	if changed, err := image.Write(place(dir)); changed || err != nil {
		t.Errorf("writing again: %v, %v", changed, err)
	}
	if _, err := image.Write(place(filepath.Join(dir, blobsDir))); !failure.Is(err, failure.EditRefused) {
		t.Errorf("writing into something else: %v", err)
	}
}

func blobFile(dir, digest string) string {
	return filepath.Join(dir, blobsDir, strings.Replace(digest, ":", "/", 1))
}

// Each faulty archive gives a failure with its own code.
func TestHostileArchives(t *testing.T) {
	edit := func(file string, change func([]byte) []byte) func(*testing.T, string, *Image) {
		return func(t *testing.T, dir string, image *Image) {
			path := filepath.Join(dir, file)
			if file == "" {
				path = blobFile(dir, image.Digest)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, change(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	replaced := func(pairs ...string) func([]byte) []byte {
		return func(b []byte) []byte { return []byte(strings.NewReplacer(pairs...).Replace(string(b))) }
	}
	for name, c := range map[string]struct {
		harm func(*testing.T, string, *Image)
		code failure.Code
		word string
	}{
		"altered manifest":  {edit("", replaced("abc", "abd")), failure.DigestMismatch, "damaged"},
		"no manifest":       {func(t *testing.T, dir string, i *Image) { _ = os.Remove(blobFile(dir, i.Digest)) }, failure.BundleInvalid, "is not in the archive"},
		"two images":        {edit(indexFile, twoImages), failure.BundleInvalid, "holds 2 images"},
		"digest with path":  {edit(indexFile, replaced("sha256:", "sha256:../../")), failure.BundleInvalid, ""},
		"no index":          {edit(indexFile, func([]byte) []byte { return []byte("[") }), failure.BundleInvalid, "malformed"},
		"manifest too long": {edit("", func([]byte) []byte { return make([]byte, budget.ImageManifest+1) }), failure.BundleInvalid, "longer"},
		"link out of it": {func(t *testing.T, dir string, i *Image) {
			_ = os.Remove(blobFile(dir, i.Digest))
			if err := os.Symlink("/etc/passwd", blobFile(dir, i.Digest)); err != nil {
				t.Fatal(err)
			}
		}, failure.BundleInvalid, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir, image := layout(t)
			c.harm(t, dir, image)
			client, _ := newClient(t, startServer(t), nil)
			_, err := client.Catalog(context.Background(), dir)
			wantFailure(t, err, c.code, dir, c.word)
			_, err = client.Base(context.Background(), dir, nil)
			wantFailure(t, err, c.code, dir, c.word)
		})
	}
}

func twoImages(b []byte) []byte {
	var index map[string]any
	if json.Unmarshal(b, &index) != nil {
		return nil
	}
	other := map[string]any{"mediaType": "x", "size": 1, "digest": "sha256:" + strings.Repeat("0", 64)}
	index["manifests"] = append(index["manifests"].([]any), other)
	b, _ = json.Marshal(index)
	return b
}

// Images of a registry are checked too, as a base and as a catalog.
func TestHostileImages(t *testing.T) {
	layer := func(entries ...registry.Entry) []registry.Layer {
		return []registry.Layer{{MediaType: "application/vnd.oci.image.layer.v1.tar+gzip", Blob: archive(t, entries...)}}
	}
	labels := map[string]string{CatalogLabel: "/configs"}
	for name, c := range map[string]struct {
		image registry.Image
		code  failure.Code
		word  string
	}{
		"traversal in a layer": {registry.Image{Labels: labels, Layers: layer(plain("configs/../../x", "y"))}, failure.BundleInvalid, "outside"},
		"link out of it":       {registry.Image{Labels: labels, Layers: layer(symlink("configs/x", "../../etc/passwd"))}, failure.BundleInvalid, "outside"},
		"no label":             {registry.Image{Layers: layer(plain("configs/x", "y"))}, failure.BundleInvalid, "no label"},
		"label leads out":      {registry.Image{Labels: map[string]string{CatalogLabel: "/../x"}, Layers: layer()}, failure.BundleInvalid, "no directory within"},
		"label is the root":    {registry.Image{Labels: map[string]string{CatalogLabel: "/"}, Layers: layer()}, failure.BundleInvalid, "no directory within"},
		"bomb":                 {registry.Image{Labels: labels, Layers: layer(registry.Entry{Name: "configs/x", Data: make([]byte, 64<<20)})}, failure.BundleInvalid, "bomb"},
	} {
		t.Run(name, func(t *testing.T) {
			s := startServer(t)
			if _, err := s.PushImage("acme/operator:v1", c.image); err != nil {
				t.Fatal(err)
			}
			client, _ := newClient(t, s, nil)
			_, err := client.Catalog(context.Background(), testRepo+":v1")
			wantFailure(t, err, c.code, testRepo+":v1", c.word)
		})
	}
}

// Graft reads and builds on an image that has no platform.
func TestImageWithoutPlatform(t *testing.T) {
	s := startServer(t)
	for form, config := range map[string]string{"v1": `{"rootfs":{"type":"layers","diff_ids":[]},"config":{"Labels":{"` + CatalogLabel + `":"/configs"}}}`, "v2": `{"rootfs":{}}`} {
		if _, err := s.PushImage("acme/operator:"+form, registry.Image{Config: []byte(config)}); err != nil {
			t.Fatal(err)
		}
		c, _ := newClient(t, s, nil)
		_, image := build(t, c, testRepo+":"+form, recipe(t))
		file := filepath.Join(t.TempDir(), "x.tar")
		if _, err := image.Write(place(file)); err != nil {
			t.Fatal(err)
		}
		if got := wantCatalog(t, c, file); len(got.Platforms) != 1 || got.Platforms[0] != "unknown" {
			t.Errorf("%s: platforms %v", form, got.Platforms)
		}
		if _, err := c.Base(context.Background(), testRepo+":"+form, []string{"linux/amd64"}); !failure.Is(err, failure.Usage) {
			t.Errorf("%s: with a platform that the image lacks: %v", form, err)
		}
	}
}

// A catalog image may hold an opm larger than a bundle's limits, and an index may name the type of an image's
// configuration.
func TestCatalogBesideLargeProgram(t *testing.T) {
	s := startServer(t)
	program, err := registry.Tar(registry.Entry{Name: "bin/opm", Data: make([]byte, defaultLimits.bytes+1)})
	if err != nil {
		t.Fatal(err)
	}
	configs := packed(t, registry.Gzip, plain("configs/op/catalog.yaml", catalogFiles["op/catalog.yaml"]), plain("configs/other/catalog.json", catalogFiles["other/catalog.json"]))
	m, err := s.PushImage("acme/operator", registry.Image{
		OCI: true, OS: "linux", Architecture: "amd64", Labels: map[string]string{CatalogLabel: "/configs"},
		Layers: []registry.Layer{{MediaType: "application/vnd.oci.image.layer.v1.tar", Blob: program}, configs},
	})
	if err != nil {
		t.Fatal(err)
	}
	index := fmt.Sprintf(`{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[{"mediaType":%q,"digest":%q,"size":%d,"artifactType":"application/vnd.oci.image.config.v1+json","platform":{"os":"linux","architecture":"amd64"}}]}`, m.MediaType, m.Digest, m.Size)
	if _, err := s.PushManifest("acme/operator:v1", "application/vnd.oci.image.index.v1+json", []byte(index)); err != nil {
		t.Fatal(err)
	}
	c, _ := newClient(t, s, nil)
	wantCatalog(t, c, testRepo+":v1")
}

// Faulty bases: a configuration that does not match the layers, a huge layer, a layer of an unknown type, and a
// layer that differs from the manifest.
func TestHostileBases(t *testing.T) {
	s := startServer(t)
	opmImage(t, s, registry.Form{OCI: true})
	c, _ := newClient(t, s, nil)
	ref := testHost + "/acme/opm:v1"
	for name, f := range map[string]struct {
		alter func([]byte) []byte
		code  failure.Code
	}{
		"manifest of another digest": {flip, failure.DigestMismatch},
		"not JSON":                   {func([]byte) []byte { return []byte("{") }, failure.DigestMismatch},
	} {
		s.SetScript(on(func(r registry.Request) bool { return r.Kind == registry.Manifest }, 0, registry.Fault{Alter: f.alter}))
		_, err := c.Base(context.Background(), ref, nil)
		t.Run(name, func(t *testing.T) { wantFailure(t, err, f.code, ref) })
	}
	s.SetScript(nil)
	for name, manifest := range map[string]string{
		"huge layer":     `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"digest":"sha256:` + strings.Repeat("0", 64) + `","size":2},"layers":[{"mediaType":"application/vnd.oci.image.layer.v1.tar+gzip","digest":"sha256:` + strings.Repeat("0", 64) + `","size":9000000000}]}`,
		"negative layer": `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"digest":"sha256:` + strings.Repeat("0", 64) + `","size":2},"layers":[{"digest":"sha256:` + strings.Repeat("0", 64) + `","size":-1}]}`,
		"no image":       `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[]}`,
	} {
		t.Run(name, func(t *testing.T) {
			var media struct{ MediaType string }
			if err := json.Unmarshal([]byte(manifest), &media); err != nil {
				t.Fatal(err)
			}
			if _, err := s.PushManifest("acme/bad:v1", media.MediaType, []byte(manifest)); err != nil {
				t.Fatal(err)
			}
			_, err := c.Base(context.Background(), testHost+"/acme/bad:v1", nil)
			wantFailure(t, err, failure.BundleInvalid, testHost+"/acme/bad:v1")
		})
	}
	inner, err := s.PushIndex("acme/outer:inner", true, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.PushIndex("acme/outer:v1", true, []registry.Member{inner}); err != nil {
		t.Fatal(err)
	}
	_, err = c.Base(context.Background(), testHost+"/acme/outer:v1", nil)
	wantFailure(t, err, failure.BundleInvalid, testHost+"/acme/outer:v1", "no image")
	// A layer that changes in transit stops the push before any manifest is pushed.
	base, image := build(t, c, ref, recipe(t))
	target, err := c.Target(context.Background(), testHost+"/acme/elsewhere", base, true)
	if err != nil {
		t.Fatal(err)
	}
	s.SetScript(func(r registry.Request) registry.Fault {
		switch {
		case r.Kind == registry.Blob && r.Method == http.MethodHead:
			return registry.Fault{Status: 404}
		case r.Kind == registry.Blob:
			return registry.Fault{Alter: flip}
		}
		return registry.Fault{}
	})
	wantFailure(t, target.Push(context.Background(), image, "v1"), failure.DigestMismatch, testHost+"/acme/elsewhere")
	for _, r := range s.Requests() {
		if r.Kind == registry.Manifest && r.Method == http.MethodPut {
			t.Errorf("a manifest was pushed: %+v", r)
		}
	}
}
