package oci

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/olmgraft/graft/internal/testkit/corpus"

	"github.com/olmgraft/graft/internal/testkit/registry"
)

// realBundles returns an operator's bundles in the corpus by version.
func realBundles(t testing.TB, c corpus.Corpus, operator string) map[string]registry.Bundle {
	t.Helper()
	bundles := map[string]registry.Bundle{}
	for ref, dir := range c.Bundles(t, operator) {
		b, err := registry.FromDir(dir)
		if err != nil {
			t.Fatalf("%s: %v", ref, err)
		}
		_, version, _ := strings.Cut(ref, ":")
		bundles[version] = b
	}
	return bundles
}

// Real bundles can be pulled unchanged in every form.
func TestRealBundles(t *testing.T) {
	t.Run("own", func(t *testing.T) {
		var operators []string
		for _, dir := range corpus.Own(t).Files(t, "render/bundles/*") {
			operators = append(operators, corpus.Name(dir))
		}
		pullBundles(t, corpus.Own(t), operators...)
	})
	t.Run("shared", func(t *testing.T) {
		pullBundles(t, corpus.Shared(t), "cat-facts-operator", "kairos-operator", "kube-green")
	})
}

func pullBundles(t *testing.T, c corpus.Corpus, operators ...string) {
	for _, operator := range operators {
		bundles := realBundles(t, c, operator)
		s := startServer(t)
		for version, b := range bundles {
			push(t, s, operator+":"+version, b, registry.Form{})
			push(t, s, operator+":"+version+"-zstd", b, registry.Form{OCI: true, Compression: registry.Zstd, Platforms: []string{"linux/amd64"}})
		}
		s.SetLatency(1e6)
		c, _ := newClient(t, s, nil)
		var group sync.WaitGroup
		for version, b := range bundles {
			for _, tag := range []string{version, version + "-zstd"} {
				group.Go(func() {
					got, err := c.Pull(context.Background(), testHost+"/"+operator+":"+tag)
					if err != nil {
						t.Error(err)
						return
					}
					if got.Labels["operators.operatorframework.io.bundle.package.v1"] == "" {
						t.Errorf("%s:%s: labels %v", operator, tag, got.Labels)
					}
					if len(got.Files) != len(b.Files) {
						t.Errorf("%s:%s: %d files, want %d", operator, tag, len(got.Files), len(b.Files))
					}
					for name, data := range b.Files {
						if !slices.Equal(got.Files[name], data) {
							t.Errorf("%s:%s: %s differs from the pushed file", operator, tag, name)
						}
					}
				})
			}
		}
		group.Wait()
		t.Logf("%s: %d pulls, %d requests, %d bytes", operator, 2*len(bundles), s.Count(), s.Bytes())
	}
}
