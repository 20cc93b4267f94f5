package registries

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/atomicfile"
	"github.com/olmgraft/graft/internal/catalogimage"
	"github.com/olmgraft/graft/internal/oci"
	"github.com/olmgraft/graft/internal/testkit/registry"
)

var catalogFiles = map[string][]byte{"op/catalog.yaml": []byte("schema: olm.package\nname: op\n"), "other/catalog.json": []byte("{\"schema\": \"x\"}\n")}

// Skopeo reads what Graft pushed to the distribution project's registry and what Graft wrote, and Graft reads
// what skopeo writes.
func TestSkopeoReadsAndWrites(t *testing.T) {
	at := startRegistry(t, "http://127.0.0.1:1", secret) // no server listens there
	pushBase(t, at+"/acme/opm:v1")
	c, err := oci.New(oci.Options{})
	if err != nil {
		t.Fatal(err)
	}
	base, image := build(t, c, at+"/acme/opm:v1")
	target, err := c.Target(context.Background(), at+"/acme/catalog", base, true)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time everything exists
		if err := target.Push(context.Background(), image, "v1"); err != nil {
			t.Fatal(err)
		}
	}
	if p, err := target.Published(context.Background(), "v1"); err != nil || p == nil || p.Digest != image.Digest {
		t.Errorf("published is %+v, %v", p, err)
	}
	wantCatalog(t, c, at+"/acme/catalog:v1", image.Digest)
	dir := t.TempDir()
	in := func(file string) string { return filepath.Join(dir, file) }
	if _, err := image.Write(atomicfile.Place{Root: dir, Path: "own.tar"}); err != nil {
		t.Fatal(err)
	}
	skopeo(t, "copy", "--all", "--src-tls-verify=false", "docker://"+at+"/acme/catalog:v1", "oci:"+in("layout"))
	skopeo(t, "copy", "--src-tls-verify=false", "docker://"+at+"/acme/catalog:v1", "docker-archive:"+in("docker.tar"))
	skopeo(t, "copy", "--all", "oci-archive:"+in("own.tar"), "oci-archive:"+in("theirs.tar"))
	wantCatalog(t, c, in("layout"), image.Digest)
	wantCatalog(t, c, in("own.tar"), image.Digest)
	wantCatalog(t, c, in("theirs.tar"), image.Digest)
	wantCatalog(t, c, in("docker.tar"), "") // one platform of it
	for _, file := range []string{"layout", "docker.tar", "theirs.tar", "own.tar"} {
		// Each of them can be the base of another image.
		if _, again := build(t, c, in(file)); again.Digest == "" {
			t.Errorf("there is no image on the base %s", file)
		}
	}
	if index := read(t, in("layout/index.json")); !strings.Contains(index, image.Digest) {
		t.Errorf("the layout's index is %s", index)
	}
}

// pushBase pushes an opm image for two platforms with two layers, an older catalog, a user and labels.
func pushBase(t *testing.T, to string) {
	t.Helper()
	s := startWorkshop(t)
	var layers []registry.Layer
	var diffs []string
	for _, entries := range [][]registry.Entry{
		{{Name: "bin/opm", Data: []byte("opm")}},
		{{Name: "configs/old/catalog.yaml", Data: []byte("old")}, {Name: "tmp/cache/digest", Data: []byte("stale")}},
	} {
		archive, err := registry.Tar(entries...)
		if err != nil {
			t.Fatal(err)
		}
		layer, err := registry.Pack(archive, registry.Gzip, false)
		if err != nil {
			t.Fatal(err)
		}
		layers, diffs = append(layers, layer), append(diffs, fmt.Sprintf("sha256:%x", sha256.Sum256(archive)))
	}
	var members []registry.Member
	for _, arch := range []string{"amd64", "arm64"} {
		config := fmt.Sprintf(`{"os":"linux","architecture":%q,"config":{"User":"1001","Entrypoint":["/bin/sh"],"Labels":{"org.opencontainers.image.title":"opm","keep":"me"}},"rootfs":{"type":"layers","diff_ids":[%q,%q]}}`, arch, diffs[0], diffs[1])
		m, err := s.PushImage("acme/opm", registry.Image{Layers: layers, Config: []byte(config), OS: "linux", Architecture: arch})
		if err != nil {
			t.Fatal(err)
		}
		members = append(members, m)
	}
	if _, err := s.PushIndex("acme/opm:v1", false, members); err != nil {
		t.Fatal(err)
	}
	copyImage(t, s.Addr+"/acme/opm:v1", to)
}

// build makes a catalog image on a base.
func build(t *testing.T, c *oci.Client, from string) (*oci.Base, *oci.Image) {
	t.Helper()
	base, err := c.Base(context.Background(), from, nil)
	if err != nil {
		t.Fatal(err)
	}
	layer, err := catalogimage.Layer(catalogFiles, time.Unix(0, 0), true)
	if err != nil {
		t.Fatal(err)
	}
	image, err := base.Build(oci.Recipe{
		Layer: layer, Labels: catalogimage.Origin{}.Labels(), Annotations: map[string]string{"org.opencontainers.image.revision": "abc"},
		Entrypoint: catalogimage.Entrypoint, Cmd: catalogimage.Cmd, Created: time.Unix(0, 0),
	})
	if err != nil {
		t.Fatal(err)
	}
	return base, image
}

// wantCatalog checks the catalog in an image, and its digest if given.
func wantCatalog(t *testing.T, c *oci.Client, ref, digest string) {
	t.Helper()
	got, err := c.Catalog(context.Background(), ref)
	if err != nil {
		t.Fatal(err)
	}
	if !maps.EqualFunc(got.Files, catalogFiles, slices.Equal) || digest != "" && got.Digest != digest {
		t.Errorf("%s has %q under %s, want %q under %s", ref, got.Files, got.Digest, catalogFiles, digest)
	}
}
