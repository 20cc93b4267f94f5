package oci

import (
	"context"
	"slices"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/testkit/registry"
)

func TestMembers(t *testing.T) {
	s := startServer(t)
	const repository = "acme/operator"
	var images []registry.Member
	for _, arch := range []string{"amd64", "arm64", "s390x"} {
		m, err := s.PushImage(repository, registry.Image{OCI: true, OS: "linux", Architecture: arch})
		if err != nil {
			t.Fatal(err)
		}
		images = append(images, m)
	}
	nested := func(ref string, members ...registry.Member) registry.Member {
		m, err := s.PushIndex(ref, true, members)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	inner := nested(repository+":inner", images[2])
	nested(repository+":v1", images[0], images[1], inner)
	deep := inner
	for range 4 {
		deep = nested(repository+":deep", deep)
	}
	c, _ := newClient(t, s, nil)
	for ref, want := range map[string][]string{
		":v1": {images[0].Digest, images[1].Digest, inner.Digest, images[2].Digest}, "@" + inner.Digest: {images[2].Digest}, "@" + images[0].Digest: nil,
	} {
		if got, err := c.Members(context.Background(), testRepo+ref); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v\ngot  %v\nwant %v", ref, err, got, want)
		}
	}
	for ref, code := range map[string]failure.Code{":v2": failure.BundleNotFound, ":deep": failure.BundleInvalid} {
		if _, err := c.Members(context.Background(), testRepo+ref); !failure.Is(err, code) {
			t.Errorf("%s: %v", ref, err)
		}
	}
}
