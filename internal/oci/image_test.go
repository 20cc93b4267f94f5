package oci

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/testkit/registry"
)

var catalogFiles = map[string]string{"op/catalog.yaml": "schema: olm.package\nname: op\n", "other/catalog.json": "{\"schema\": \"x\"}\n"}

// recipe returns a layer with the files. The layer hides the base's files in the directory.
func recipe(t testing.TB) Recipe {
	t.Helper()
	entries := []registry.Entry{{Name: "configs/"}, {Name: "configs/" + opaque}}
	for _, file := range slices.Sorted(maps.Keys(catalogFiles)) {
		entries = append(entries, plain("configs/"+file, catalogFiles[file]))
	}
	return Recipe{
		Layer: archive(t, entries...), Labels: map[string]string{CatalogLabel: "/configs"}, Annotations: map[string]string{"org.opencontainers.image.revision": "abc"},
		Entrypoint: []string{"/bin/opm"}, Cmd: []string{"serve", "/configs"}, Created: time.Unix(0, 0),
	}
}

// opmImage pushes the base acme/opm:v1 with two layers, an older catalog, a user and labels.
func opmImage(t testing.TB, s *registry.Server, form registry.Form) {
	t.Helper()
	layers := []registry.Layer{
		packed(t, registry.Gzip, plain("bin/opm", "opm")),
		packed(t, registry.Gzip, plain("configs/old/catalog.yaml", "old"), plain("tmp/cache/digest", "stale")),
	}
	config := fmt.Sprintf(`{"os":"linux","architecture":"amd64","config":{"User":"1001","Entrypoint":["/bin/sh"],"Labels":{"org.opencontainers.image.title":"opm","keep":"me"}},"rootfs":{"type":"layers","diff_ids":[%q,%q]}}`,
		diffOf(t, layers[0].Blob), diffOf(t, layers[1].Blob))
	var members []registry.Member
	for _, p := range append([]string{""}, form.Platforms...) {
		arch := strings.TrimPrefix(p, "linux/")
		to := "acme/opm"
		if p == "" {
			to += ":v1"
		}
		text := config
		if arch != "" {
			text = strings.Replace(config, "amd64", arch, 1)
		}
		m, err := s.PushImage(to, registry.Image{OCI: form.OCI, Layers: layers, Config: []byte(text), OS: "linux", Architecture: arch})
		if err != nil {
			t.Fatal(err)
		}
		if p != "" {
			members = append(members, m)
		}
	}
	if len(members) > 0 {
		if _, err := s.PushIndex("acme/opm:v1", form.OCI, members); err != nil {
			t.Fatal(err)
		}
	}
}

func diffOf(t testing.TB, blob []byte) string {
	t.Helper()
	unpacked, done, err := decompress(bytes.NewReader(blob))
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	h, _, err := v1.SHA256(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	return h.String()
}

func build(t testing.TB, c *Client, base string, r Recipe) (*Base, *Image) {
	t.Helper()
	b, err := Scratch(nil)
	if base != "" {
		b, err = c.Base(context.Background(), base, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	image, err := b.Build(r)
	if err != nil {
		t.Fatal(err)
	}
	return b, image
}

func wantCatalog(t testing.TB, c *Client, ref string) *Catalog {
	t.Helper()
	got, err := c.Catalog(context.Background(), ref)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]byte{}
	for file, text := range catalogFiles {
		want[file] = []byte(text)
	}
	wantFiles(t, got.Files, want)
	return got
}

// Another client can pull the pushed image; it is consistent and holds the catalog byte for byte. A second push
// only reads.
func TestImageIsPushedOnce(t *testing.T) {
	for _, form := range []registry.Form{{}, {OCI: true}, {Platforms: []string{"linux/amd64", "linux/arm64"}}, {OCI: true, Platforms: []string{"linux/amd64", "linux/s390x"}}} {
		t.Run(fmt.Sprintf("%+v", form), func(t *testing.T) {
			s := startServer(t)
			opmImage(t, s, form)
			c, _ := newClient(t, s, nil)
			base, image := build(t, c, testHost+"/acme/opm:v1", recipe(t))
			target, err := c.Target(context.Background(), testHost+"/acme/catalog", base, true)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if err := target.Push(context.Background(), image, "v1", "v2"); err != nil {
					t.Fatal(err)
				}
				s.Reset()
			}
			if err := target.Push(context.Background(), image, "v1", "v2"); err != nil {
				t.Fatal(err)
			}
			if s.Count() != 2 || s.Count(registry.Manifest) != 2 {
				t.Errorf("pushing again made the requests %v", s.Requests())
			}
			p, err := target.Published(context.Background(), "v2")
			if err != nil || p == nil || p.Digest != image.Digest || p.Annotations["org.opencontainers.image.revision"] != "abc" {
				t.Errorf("published is %+v, %v", p, err)
			}
			if p, err := target.Published(context.Background(), "v3"); p != nil || err != nil {
				t.Errorf("a missing tag: %+v, %v", p, err)
			}
			got := wantCatalog(t, c, testHost+"/acme/catalog:v1")
			if got.Digest != image.Digest || len(got.Platforms) != max(1, len(form.Platforms)) || !slices.Equal(got.Cmd, []string{"serve", "/configs"}) {
				t.Errorf("pulled %+v", got)
			}
			checkWithLibrary(t, s)
		})
	}
}

// checkWithLibrary pulls with go-containerregistry and checks configuration and files.
func checkWithLibrary(t *testing.T, s *registry.Server) {
	t.Helper()
	ref, err := name.ParseReference(testHost + "/acme/catalog:v1")
	if err != nil {
		t.Fatal(err)
	}
	image, err := remote.Image(ref, remote.WithTransport(s.Transport()))
	if err != nil {
		t.Fatal(err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{CatalogLabel: "/configs", "keep": "me"}
	if !maps.Equal(config.Config.Labels, labels) || config.Config.User != "1001" || !slices.Equal(config.Config.Entrypoint, []string{"/bin/opm"}) {
		t.Errorf("the configuration is %+v", config.Config)
	}
	flat := mutate.Extract(image)
	defer flat.Close()
	files := tarred(t, flat)
	if files["bin/opm"] != "opm" || files["configs/op/catalog.yaml"] != catalogFiles["op/catalog.yaml"] || files["configs/old/catalog.yaml"] != "" {
		t.Errorf("the image holds %v", files)
	}
}

func tarred(t *testing.T, r io.Reader) map[string]string {
	t.Helper()
	files := map[string]string{}
	for a := tar.NewReader(r); ; {
		h, err := a.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(a)
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name] = string(data)
	}
}

// seen records the addresses of requests.
type seen struct {
	http.RoundTripper
	mu   sync.Mutex
	urls []string
}

func (s *seen) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	s.urls = append(s.urls, r.Method+" "+r.URL.String())
	s.mu.Unlock()
	return s.RoundTripper.RoundTrip(r)
}

// Layers of the base are mounted from its repository, with a token for both repositories.
func TestLayersAreMounted(t *testing.T) {
	s := startServer(t)
	opmImage(t, s, registry.Form{})
	s.SetAuth(registry.Auth{Scheme: "bearer", Username: "u", Password: "p"})
	// In this registry all repositories share their blobs. The script hides that.
	s.SetScript(func(r registry.Request) registry.Fault {
		if r.Kind == registry.Blob && r.Method == http.MethodHead {
			return registry.Fault{Status: http.StatusNotFound}
		}
		return registry.Fault{}
	})
	spy := &seen{RoundTripper: s.Transport()}
	auth := filepath.Join(t.TempDir(), "auth.json")
	if err := os.WriteFile(auth, []byte(`{"auths":{"`+testHost+`":{"auth":"dTpw"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _ := newClient(t, s, map[string]string{"REGISTRY_AUTH_FILE": auth}, func(o *Options) { o.Transport = spy })
	base, image := build(t, c, testHost+"/acme/opm:v1", recipe(t))
	target, err := c.Target(context.Background(), testHost+"/acme/catalog", base, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := target.Push(context.Background(), image, "v1"); err != nil {
		t.Fatal(err)
	}
	mounts := slices.DeleteFunc(spy.urls, func(u string) bool { return !strings.Contains(u, "from=acme%2Fopm") })
	if len(mounts) != 2 {
		t.Errorf("mounts: %v", mounts)
	}
	// A dry run requests a token for reading only.
	reader, err := c.Target(context.Background(), testHost+"/acme/catalog", base, false)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := reader.Published(context.Background(), "v1"); err != nil || p.Digest != image.Digest {
		t.Errorf("%+v, %v", p, err)
	}
	wantFailure(t, reader.Push(context.Background(), image, "v2"), failure.RegistryAuth, testHost+"/acme/catalog", "may push")
}

// A push survives a temporary fault. A permanent fault ends it with the fault's own code.
func TestPushSurvivesFaults(t *testing.T) {
	for _, kind := range []registry.Kind{registry.Upload, registry.Manifest} {
		for _, fault := range []registry.Fault{{Status: http.StatusServiceUnavailable}, {Reset: true}} {
			s := startServer(t)
			c, _ := newClient(t, s, nil, func(o *Options) { o.Retry.First = time.Millisecond })
			base, image := build(t, c, "", recipe(t))
			target, err := c.Target(context.Background(), testRepo, base, true)
			if err != nil {
				t.Fatal(err)
			}
			writes := func(times int) func(registry.Request) registry.Fault {
				var n atomic.Int32
				return on(func(r registry.Request) bool {
					return r.Kind == kind && r.Method != http.MethodHead && n.Add(1) <= int32(times)
				}, 0, fault)
			}
			s.SetScript(writes(2))
			if err := target.Push(context.Background(), image, "v1"); err != nil {
				t.Errorf("%s, %+v: %v", kind, fault, err)
			}
			s.SetScript(writes(100))
			image.content, err = mutate.Append(image.content.(v1.Image), mutate.Addendum{Layer: static.NewLayer(archive(t, plain("x", "y")), types.OCILayer)})
			if err != nil {
				t.Fatal(err)
			}
			wantFailure(t, target.Push(context.Background(), image, "v2"), failure.RegistryUnavailable, testRepo)
		}
	}
}
