package oci

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/outbound"
	"github.com/olmgraft/graft/internal/testkit/registry"
)

const (
	testHost = "127.0.0.1:5555"
	testRepo = testHost + "/acme/operator"
)

// clock records waits instead of waiting.
type clock struct {
	mu    sync.Mutex
	slept []time.Duration
}

func (c *clock) sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.slept = append(c.slept, d)
	return ctx.Err()
}

func startServer(t testing.TB) *registry.Server {
	t.Helper()
	s, err := registry.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// newClient returns a client that sends all requests to the server, never waits, and knows only the credentials
// in env.
func newClient(t testing.TB, s *registry.Server, env map[string]string, change ...func(*Options)) (*Client, *clock) {
	t.Helper()
	slept := &clock{}
	o := Options{Transport: s.Transport(), Retry: outbound.Retry{Sleep: slept.sleep}}
	for _, f := range change {
		f(&o)
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	c.keys = &keychain{getenv: func(k string) string { return env[k] }, home: "/nonexistent", uid: -1}
	return c, slept
}

func sampleBundle() registry.Bundle {
	return registry.Bundle{
		Files: map[string][]byte{
			"manifests/acme.clusterserviceversion.yaml": []byte("kind: ClusterServiceVersion\n"),
			"manifests/acme.crd.yaml":                   []byte("kind: CustomResourceDefinition\n"),
			"metadata/annotations.yaml":                 []byte("annotations: {}\n"),
		},
		Labels: map[string]string{
			manifestsLabel: "manifests/",
			metadataLabel:  "metadata/",
			"operators.operatorframework.io.bundle.package.v1": "acme",
		},
	}
}

func push(t testing.TB, s *registry.Server, ref string, b registry.Bundle, form registry.Form) string {
	t.Helper()
	digest, err := s.Push(ref, b, form)
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

// archive packs entries into a gzip layer.
func archive(t testing.TB, entries ...registry.Entry) []byte {
	t.Helper()
	return packed(t, registry.Gzip, entries...).Blob
}

func packed(t testing.TB, c registry.Compression, entries ...registry.Entry) registry.Layer {
	t.Helper()
	tarred, err := registry.Tar(entries...)
	if err != nil {
		t.Fatal(err)
	}
	layer, err := registry.Pack(tarred, c, true)
	if err != nil {
		t.Fatal(err)
	}
	return layer
}

func plain(name, data string) registry.Entry {
	return registry.Entry{Name: name, Data: []byte(data)}
}

func symlink(name, to string) registry.Entry { return registry.Entry{Name: name, Link: to} }

func hardlink(name, to string) registry.Entry {
	return registry.Entry{Name: name, Link: to, Type: tar.TypeLink}
}

// wantFailure checks the failure's code and form, and that the message begins with the reference.
func wantFailure(t testing.TB, err error, code failure.Code, ref string, words ...string) failure.Error {
	t.Helper()
	var f *failure.Error
	if !errors.As(err, &f) {
		t.Fatalf("got %v, want a failure %s", err, code.Class())
	}
	if f.Code != code {
		t.Fatalf("got %s (%s), want %s", f.Class, f.Message, code.Class())
	}
	if ref != "" && !strings.HasPrefix(f.Message, ref+": ") {
		t.Errorf("the message does not begin with the reference: %s", f.Message)
	}
	if strings.ContainsAny(f.Message+f.Remedy, "\n\r\x1b") || f.Remedy == "" {
		t.Errorf("message and remedy are to be one line each: %q, %q", f.Message, f.Remedy)
	}
	for _, word := range words {
		if !strings.Contains(f.Message+" "+f.Remedy, word) {
			t.Errorf("message and remedy lack %q: %s; %s", word, f.Message, f.Remedy)
		}
	}
	return *f
}

func wantFiles(t testing.TB, got map[string][]byte, want map[string][]byte) {
	t.Helper()
	same := func(a, b []byte) bool { return string(a) == string(b) }
	if !maps.EqualFunc(got, want, same) {
		t.Fatalf("files: got %s, want %s", show(got), show(want))
	}
}

func show(files map[string][]byte) string {
	var b strings.Builder
	for name, data := range files {
		fmt.Fprintf(&b, "%s=%.40q ", name, data)
	}
	return b.String()
}
