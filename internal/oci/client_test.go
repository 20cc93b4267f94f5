package oci

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/testkit/registry"
)

func TestPullForms(t *testing.T) {
	forms := map[string]registry.Form{
		"docker":          {},
		"docker plain":    {Compression: registry.Plain},
		"oci":             {OCI: true},
		"oci zstd":        {OCI: true, Compression: registry.Zstd},
		"oci plain":       {OCI: true, Compression: registry.Plain},
		"one-image index": {OCI: true, Platforms: []string{""}},
		"manifest list":   {Platforms: []string{"linux/arm64", "linux/amd64"}},
		"oci index":       {OCI: true, Platforms: []string{"linux/s390x", "linux/ppc64le"}},
	}
	for name, form := range forms {
		t.Run(name, func(t *testing.T) {
			s := startServer(t)
			bundle := sampleBundle()
			digest := push(t, s, "acme/operator:v1", bundle, form)
			c, _ := newClient(t, s, nil)
			for _, ref := range []string{testRepo + ":v1", testRepo + "@" + digest, testRepo + ":other@" + digest} {
				got, err := c.Pull(context.Background(), ref)
				if err != nil {
					t.Fatal(err)
				}
				if got.Digest != digest || got.Ref != ref {
					t.Errorf("got %s %s, want %s %s", got.Ref, got.Digest, ref, digest)
				}
				if got.Labels[manifestsLabel] != "manifests/" || len(got.Labels) != 3 {
					t.Errorf("labels: %v", got.Labels)
				}
				wantFiles(t, got.Files, bundle.Files)
			}
		})
	}
}

// A label distinguishes the images of the platforms.
func TestIndexChoice(t *testing.T) {
	cases := []struct {
		name      string
		platforms []string
		want      string
	}{
		{"amd64 wherever it stands", []string{"linux/arm64", "linux/amd64"}, "linux/amd64"},
		{"else the first", []string{"linux/s390x", "linux/arm64"}, "linux/s390x"},
		{"attestations are no images", []string{"unknown/unknown", "linux/arm64"}, "linux/arm64"},
		{"no platform", []string{""}, ""},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			s := startServer(t)
			var members []registry.Member
			for _, platform := range tc.platforms {
				img := registry.Image{OCI: true, Labels: map[string]string{"platform": platform}}
				img.OS, img.Architecture, _ = strings.Cut(platform, "/")
				m, err := s.PushImage("acme/operator", img)
				if err != nil {
					t.Fatal(err)
				}
				members = append(members, m)
			}
			if _, err := s.PushIndex("acme/operator:v1", true, members); err != nil {
				t.Fatal(err)
			}
			c, _ := newClient(t, s, nil)
			got, err := c.Pull(context.Background(), testRepo+":v1")
			if err != nil {
				t.Fatal(err)
			}
			if got.Labels["platform"] != tc.want {
				t.Errorf("took %q, want %q", got.Labels["platform"], tc.want)
			}
		})
	}
}

func TestNestedIndexes(t *testing.T) {
	s := startServer(t)
	at, err := s.PushImage("acme/operator", registry.Image{OCI: true})
	if err != nil {
		t.Fatal(err)
	}
	c, _ := newClient(t, s, nil)
	for depth := 1; depth <= 4; depth++ {
		ref := fmt.Sprintf("acme/operator:depth%d", depth)
		if at, err = s.PushIndex(ref, true, []registry.Member{at}); err != nil {
			t.Fatal(err)
		}
		_, err := c.Pull(context.Background(), testHost+"/"+ref)
		if depth <= 3 && err != nil {
			t.Errorf("depth %d: %v", depth, err)
		}
		if depth > 3 {
			wantFailure(t, err, failure.BundleInvalid, testHost+"/"+ref, "nested")
		}
	}
}

func TestNoImage(t *testing.T) {
	const schema1 = "application/vnd.docker.distribution.manifest.v1+prettyjws"
	cases := []struct{ name, media, body, word string }{
		{"schema 1", schema1, `{"schemaVersion":1}`, "schema 2"},
		{"not JSON", "application/vnd.oci.image.manifest.v1+json", `{"schemaVersion":`, "malformed"},
		{"empty index", "application/vnd.oci.image.index.v1+json", `{"schemaVersion":2,"manifests":[]}`, "no image"},
		{"no config", "application/vnd.oci.image.manifest.v1+json", `{"schemaVersion":2,"layers":[]}`, "configuration"},
		{"other", "text/html", `<html>`, "text/html"},
	}
	s := startServer(t)
	c, _ := newClient(t, s, nil)
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := s.PushManifest("acme/operator:odd", tc.media, []byte(tc.body)); err != nil {
				t.Fatal(err)
			}
			_, err := c.Pull(context.Background(), testRepo+":odd")
			wantFailure(t, err, failure.BundleInvalid, testRepo+":odd", tc.word)
		})
	}
}

// The client recognizes a manifest even if the server sends it as text/plain.
func TestMediaTypeFromBody(t *testing.T) {
	s := startServer(t)
	bundle := sampleBundle()
	push(t, s, "acme/operator:v1", bundle, registry.Form{OCI: true})
	s.SetScript(func(r registry.Request) registry.Fault {
		return registry.Fault{Header: map[string]string{"Content-Type": "text/plain; charset=utf-8"}}
	})
	c, _ := newClient(t, s, nil)
	got, err := c.Pull(context.Background(), testRepo+":v1")
	if err != nil {
		t.Fatal(err)
	}
	wantFiles(t, got.Files, bundle.Files)
}

func TestResolve(t *testing.T) {
	s := startServer(t)
	digest := push(t, s, "acme/operator:v1", sampleBundle(), registry.Form{})
	c, _ := newClient(t, s, nil)
	ctx := context.Background()
	ask := func(ref string) string {
		t.Helper()
		s.Reset()
		got, err := c.Resolve(ctx, ref)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	ask(testRepo + ":v1")
	if got := ask(testRepo + ":v1"); got != digest || s.Count() != 1 || s.Requests()[0].Method != http.MethodHead {
		t.Errorf("got %s by %v, want %s by one HEAD", got, s.Requests(), digest)
	}
	if got := ask(testRepo + "@" + digest); got != digest || s.Count() != 0 {
		t.Errorf("got %s by %v, want %s by nothing", got, s.Requests(), digest)
	}

	moved := sampleBundle()
	moved.Labels["moved"] = "yes"
	after := push(t, s, "acme/operator:v1", moved, registry.Form{})
	if got := ask(testRepo + ":v1"); got != after || got == digest {
		t.Errorf("after the tag moved: got %s, want %s", got, after)
	}
	pulled, err := c.Pull(ctx, testRepo+":v1")
	if err != nil || pulled.Digest != after || pulled.Labels["moved"] != "yes" {
		t.Errorf("after the tag moved: got %v, %v", pulled, err)
	}

	for _, fault := range []registry.Fault{{Status: 400}, {Status: 405}, {Status: 501}, {Header: map[string]string{"Docker-Content-Digest": ""}}} {
		s.SetScript(func(r registry.Request) registry.Fault {
			if r.Method == http.MethodHead {
				return fault
			}
			return registry.Fault{}
		})
		if got := ask(testRepo + ":v1"); got != after {
			t.Errorf("without HEAD: got %s, want %s", got, after)
		}
	}
	s.SetScript(nil)
	_, err = c.Resolve(ctx, testRepo+":v2")
	wantFailure(t, err, failure.BundleNotFound, testRepo+":v2")
}

func TestTags(t *testing.T) {
	s := startServer(t)
	var want []string
	for i := range 25 {
		tag := fmt.Sprintf("v0.%02d.0", i)
		want = append(want, tag)
		push(t, s, "acme/operator:"+tag, sampleBundle(), registry.Form{})
	}
	c, _ := newClient(t, s, nil)
	for pageSize, pages := range map[int]int{0: 1, 10: 3, 25: 1, 24: 2} {
		s.SetPageSize(pageSize)
		s.Reset()
		got, err := c.Tags(context.Background(), testRepo)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("page size %d: got %v, %v", pageSize, got, err)
		}
		if n := s.Count(registry.Tags); n != pages {
			t.Errorf("page size %d: %d pages, want %d", pageSize, n, pages)
		}
	}
	_, err := c.Tags(context.Background(), testHost+"/acme/none")
	wantFailure(t, err, failure.BundleNotFound, testHost+"/acme/none")
	_, err = c.Tags(context.Background(), testRepo+":v1")
	wantFailure(t, err, failure.Usage, testRepo+":v1")
}

func TestTagPagesThatLead(t *testing.T) {
	cases := map[string]struct{ link, word string }{
		"in a circle": {`</v2/acme/operator/tags/list?n=1000>; rel="next"`, "no end"},
		"elsewhere":   {`<https://evil.example/v2/acme/operator/tags/list>; rel="next"`, "evil.example"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := startServer(t)
			push(t, s, "acme/operator:v1", sampleBundle(), registry.Form{})
			s.SetScript(func(registry.Request) registry.Fault {
				return registry.Fault{Header: map[string]string{"Link": tc.link}}
			})
			c, _ := newClient(t, s, nil)
			_, err := c.Tags(context.Background(), testRepo)
			wantFailure(t, err, failure.RegistryUnavailable, testRepo, tc.word)
			for _, r := range s.Requests() {
				if r.Host != testHost {
					t.Errorf("a request went to %s", r.Host)
				}
			}
		})
	}
}

func TestBadReferences(t *testing.T) {
	s := startServer(t)
	c, _ := newClient(t, s, nil)
	for _, ref := range []string{"", ":", "quay.io/Acme/x:v1", "quay.io/acme/x@sha256:short", "quay.io/acme/x:v 1", "https://quay.io/acme/x:v1"} {
		_, err := c.Pull(context.Background(), ref)
		wantFailure(t, err, failure.Usage, "", "registry/repository")
		_, err = c.Resolve(context.Background(), ref)
		wantFailure(t, err, failure.Usage, "", "registry/repository")
	}
	if s.Count() != 0 {
		t.Errorf("requests were made: %v", s.Requests())
	}
}

func TestLabelsNameDirectories(t *testing.T) {
	s := startServer(t)
	files := map[string][]byte{
		"deploy/olm/csv.yaml": []byte("csv"), "meta/a.yaml": []byte("a"), "manifests/x.yaml": []byte("x"),
		"root/buildinfo": []byte("b"), "deploy/other": []byte("o"), "metadatax/y": []byte("y"),
	}
	b := registry.Bundle{Files: files, Labels: map[string]string{manifestsLabel: "/deploy/olm/", metadataLabel: "./meta"}}
	push(t, s, "acme/operator:v1", b, registry.Form{})
	c, _ := newClient(t, s, nil)
	got, err := c.Pull(context.Background(), testRepo+":v1")
	if err != nil {
		t.Fatal(err)
	}
	wantFiles(t, got.Files, map[string][]byte{
		"deploy/olm/csv.yaml": []byte("csv"), "meta/a.yaml": []byte("a"), "manifests/x.yaml": []byte("x"),
	})

	b.Labels = map[string]string{manifestsLabel: "../etc"}
	push(t, s, "acme/operator:v2", b, registry.Form{})
	_, err = c.Pull(context.Background(), testRepo+":v2")
	wantFailure(t, err, failure.BundleInvalid, testRepo+":v2", "../etc")
}

// The client does not request a blob that the manifest contains.
func TestConfigInManifest(t *testing.T) {
	const config = `{"config":{"Labels":{"a":"b"}}}`
	body := fmt.Sprintf(`{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":"application/vnd.oci.image.config.v1+json","size":%d,"digest":"sha256:%x","data":%q},"layers":[]}`,
		len(config), sha256.Sum256([]byte(config)), base64.StdEncoding.EncodeToString([]byte(config)))
	s := startServer(t)
	if _, err := s.PushManifest("acme/operator:v1", "application/vnd.oci.image.manifest.v1+json", []byte(body)); err != nil {
		t.Fatal(err)
	}
	c, _ := newClient(t, s, nil)
	got, err := c.Pull(context.Background(), testRepo+":v1")
	if err != nil || got.Labels["a"] != "b" {
		t.Fatalf("got %v, %v", got, err)
	}
	if n := s.Count(registry.Blob); n != 0 {
		t.Errorf("%d blobs were asked for", n)
	}
}

func TestMalformedConfig(t *testing.T) {
	s := startServer(t)
	if _, err := s.PushImage("acme/operator:v1", registry.Image{Config: []byte(`{"config":{"Labels":[]}}`)}); err != nil {
		t.Fatal(err)
	}
	c, _ := newClient(t, s, nil)
	_, err := c.Pull(context.Background(), testRepo+":v1")
	wantFailure(t, err, failure.BundleInvalid, testRepo+":v1", "configuration")
}

// The sizes in the manifest suffice to refuse the image. The client requests no blob.
func TestTooMuchIsNotRead(t *testing.T) {
	digest := "sha256:" + strings.Repeat("ab", 32)
	layer := func(size int64) string {
		return fmt.Sprintf(`{"mediaType":"application/vnd.oci.image.layer.v1.tar","digest":%q,"size":%d}`, digest, size)
	}
	repeat := func(s string, n int) string { return strings.TrimSuffix(strings.Repeat(s+",", n), ",") }
	cases := map[string]struct {
		config int64
		layers string
	}{
		"a large layer":            {10, layer(1 << 40)},
		"many large layers":        {10, repeat(layer(60<<20), 3)},
		"a size below nothing":     {10, layer(-1)},
		"many layers":              {10, repeat(layer(1), 501)},
		"a large configuration":    {1 << 30, ""},
		"a negative configuration": {-1, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := startServer(t)
			body := fmt.Sprintf(`{"schemaVersion":2,"config":{"mediaType":"application/vnd.oci.image.config.v1+json","size":%d,"digest":%q},"layers":[%s]}`, tc.config, digest, tc.layers)
			if _, err := s.PushManifest("acme/operator:v1", "application/vnd.oci.image.manifest.v1+json", []byte(body)); err != nil {
				t.Fatal(err)
			}
			c, _ := newClient(t, s, nil)
			_, err := c.Pull(context.Background(), testRepo+":v1")
			wantFailure(t, err, failure.BundleInvalid, testRepo+":v1", "limits")
			if n := s.Count(registry.Blob); n != 0 {
				t.Errorf("%d blobs were asked for", n)
			}
		})
	}
}

// The kept blobs stay within their limit.
func TestBlobMemory(t *testing.T) {
	var m blobMemory
	blob := make([]byte, maxKeptBlob)
	n := maxKeptBlobs/maxKeptBlob + 10
	for i := range n {
		m.put(fmt.Sprint(i), blob)
	}
	m.put("large", make([]byte, maxKeptBlob+1))
	if m.size > maxKeptBlobs || len(m.blobs) != maxKeptBlobs/maxKeptBlob || len(m.order) != len(m.blobs) {
		t.Errorf("%d bytes in %d blobs", m.size, len(m.blobs))
	}
	if _, ok := m.get("0"); ok {
		t.Error("the oldest blob is still kept")
	}
	if _, ok := m.get(fmt.Sprint(n - 1)); !ok {
		t.Error("the newest blob is missing")
	}
}
