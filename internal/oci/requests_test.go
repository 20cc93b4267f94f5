package oci

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/testkit/registry"
)

// The first bundle of a registry costs a ping, one manifest, one configuration and its layers. Each later one
// costs the same without the ping and without known layers.
func TestRequestsOfPulls(t *testing.T) {
	s := startServer(t)
	const n = 5
	for i := range n {
		b := sampleBundle()
		b.Files["manifests/acme.crd.yaml"] = fmt.Appendf(nil, "version: %d\n", i)
		b.Labels["version"] = fmt.Sprint(i)
		push(t, s, fmt.Sprintf("acme/operator:v%d", i), b, registry.Form{})
	}
	c, _ := newClient(t, s, nil)
	for i := range n {
		s.Reset()
		if _, err := c.Pull(context.Background(), fmt.Sprintf("%s:v%d", testRepo, i)); err != nil {
			t.Fatal(err)
		}
		want := 3 // manifest, configuration, layer of manifests/
		if i == 0 {
			want = 5 // plus the ping and the layer of metadata/
		}
		if s.Count() != want || s.Count(registry.Manifest) != 1 {
			t.Errorf("pull %d made %d requests, want %d: %v", i, s.Count(), want, s.Requests())
		}
	}
	for _, r := range s.Requests() {
		if r.UserAgent != "graft" {
			t.Errorf("%s as %q", r.Kind, r.UserAgent)
		}
	}
}

func TestLayerTwiceIsReadOnce(t *testing.T) {
	s := startServer(t)
	big := packed(t, registry.Plain, plain("manifests/a", strings.Repeat("a", maxKeptBlob)))
	if _, err := s.PushImage("acme/operator:v1", registry.Image{Layers: []registry.Layer{big, big}}); err != nil {
		t.Fatal(err)
	}
	c, _ := newClient(t, s, nil)
	if _, err := c.Pull(context.Background(), testRepo+":v1"); err != nil {
		t.Fatal(err)
	}
	if n := s.Count(registry.Blob); n != 2 {
		t.Errorf("%d blobs were read, want the configuration and one layer", n)
	}
}

// A pool of workers signs in to each repository once.
func TestOneTokenForManyPulls(t *testing.T) {
	s := startServer(t)
	s.SetAuth(registry.Auth{Scheme: "bearer"})
	const n = 20
	for i := range n {
		b := sampleBundle()
		b.Labels["version"] = fmt.Sprint(i)
		push(t, s, fmt.Sprintf("acme/operator:v%d", i), b, registry.Form{})
		push(t, s, fmt.Sprintf("acme/other:v%d", i), b, registry.Form{})
	}
	c, _ := newClient(t, s, nil)
	var group sync.WaitGroup
	for i := range n {
		for _, repo := range []string{"acme/operator", "acme/other"} {
			group.Go(func() {
				if _, err := c.Pull(context.Background(), fmt.Sprintf("%s/%s:v%d", testHost, repo, i)); err != nil {
					t.Error(err)
				}
			})
		}
	}
	group.Wait()
	if s.Count(registry.Ping) != 1 || s.Count(registry.Token) != 2 {
		t.Errorf("%d pings and %d tokens, want 1 and 2", s.Count(registry.Ping), s.Count(registry.Token))
	}
	// One ping, two tokens, and a manifest and a configuration for each pull. Both repositories have the same
	// layers and configurations, which are read once, or twice if both ask at the same time.
	if least, most := 1+2+2*n+n+2, 1+2+2*n+2*(n+2); s.Count() < least || s.Count() > most {
		t.Errorf("%d requests, want %d to %d", s.Count(), least, most)
	}
}

func TestTokenIsRenewed(t *testing.T) {
	s := startServer(t)
	s.SetAuth(registry.Auth{Scheme: "bearer", TokenUses: 3})
	// The only slot is released before the token request.
	c, _ := newClient(t, s, nil, func(o *Options) { o.Jobs = 1 })
	for i := range 6 {
		b := sampleBundle()
		b.Labels["version"] = fmt.Sprint(i)
		push(t, s, fmt.Sprintf("acme/operator:v%d", i), b, registry.Form{})
		if _, err := c.Pull(context.Background(), fmt.Sprintf("%s:v%d", testRepo, i)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestJobsBound(t *testing.T) {
	s := startServer(t)
	var mu sync.Mutex
	now, most := 0, 0
	for i := range 12 {
		b := sampleBundle()
		b.Labels["version"] = fmt.Sprint(i)
		push(t, s, fmt.Sprintf("acme/operator:v%d", i), b, registry.Form{})
	}
	s.SetScript(func(registry.Request) registry.Fault {
		mu.Lock()
		now++
		most = max(most, now)
		mu.Unlock()
		defer func() { mu.Lock(); now--; mu.Unlock() }()
		time.Sleep(2 * time.Millisecond)
		return registry.Fault{}
	})
	c, _ := newClient(t, s, nil, func(o *Options) { o.Jobs = 3 })
	var group sync.WaitGroup
	for i := range 12 {
		group.Go(func() {
			if _, err := c.Pull(context.Background(), fmt.Sprintf("%s:v%d", testRepo, i)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if most > 3 {
		t.Errorf("%d requests at a time, want at most 3", most)
	}
}
