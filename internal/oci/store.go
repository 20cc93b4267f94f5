package oci

import (
	"context"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// store is where manifests and blobs are: a repository, or an image on the disk. What it
// gives has the digest that was asked for.
type store interface {
	manifest(ctx context.Context, identifier string) (*manifest, error)
	blob(ctx context.Context, desc v1.Descriptor) ([]byte, error)
}

// remoteStore is a repository.
type remoteStore struct {
	*session
	client *Client
	repo   name.Repository
}

func (r remoteStore) blob(ctx context.Context, desc v1.Descriptor) ([]byte, error) {
	return r.client.blob(ctx, r.session, desc)
}

// onDisk is what identifies the one image of a store on the disk.
const onDisk = ""

// withStore gives read the image's store and its identifier there: the image on the disk
// where something stands at that path, else the places that the reference can be read from.
func withStore[T any](ctx context.Context, c *Client, ref string, read func(from store, identifier string) (T, error)) (T, error) {
	var none T
	if OnDisk(ref) {
		a, err := openDisk(ref)
		if err != nil {
			return none, c.explain(ctx, ref, err)
		}
		got, err := read(a, onDisk)
		if err != nil {
			return none, c.explain(ctx, ref, err)
		}
		return got, nil
	}
	parsed, err := parseReference(ref)
	if err != nil {
		return none, err
	}
	return fromSources(ctx, c, ref, parsed, func(s *session, at source) (T, error) {
		return read(remoteStore{s, c, at.repo}, at.identifier)
	})
}
