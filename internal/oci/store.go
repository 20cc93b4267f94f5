package oci

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/olmgraft/graft/internal/failure"
)

// store is where manifests and blobs are: a repository, or an image on the disk. What it
// gives has the digest that was asked for.
type store interface {
	manifest(ctx context.Context, identifier string) (*manifest, error)
	blob(ctx context.Context, desc v1.Descriptor) ([]byte, error)
	// stream gives a blob to take as it comes, from the beginning again where the connection
	// breaks. Only when it returns without a failure was it held to its digest.
	stream(ctx context.Context, desc v1.Descriptor, take func(io.Reader) error) error
}

// onDisk is what identifies the one image of a store on the disk.
const onDisk = ""

// withStore gives read the image's store and its identifier there: the image on the disk
// where something stands at that path, else the places that the reference can be read from.
func withStore[T any](ctx context.Context, c *Client, ref string, read func(from store, identifier string) (T, error)) (T, error) {
	var none T
	if !OnDisk(ref) {
		return fromSources(ctx, c, ref, func(s *session, identifier string) (T, error) { return read(s, identifier) })
	}
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

// origin is where a repository itself is, its mirrors left out.
func (c *Client) origin(repository string) (name.Repository, error) {
	repo, err := parseRepository(repository)
	if err != nil {
		return repo, err
	}
	sources, err := c.mirrors.sources(repo, "")
	if err != nil {
		return repo, refused(repository, err)
	}
	return sources[len(sources)-1], nil
}

// fromSources tries the mirrors of a reference, if it has any, and at last the
// place that it names. Only a registry's failure leads on to the next place;
// what is wrong with the image itself is reported at once.
func fromSources[T any](ctx context.Context, c *Client, ref string, read func(from *session, identifier string) (T, error)) (T, error) {
	var none T
	parsed, err := parseReference(ref)
	if err != nil {
		return none, err
	}
	sources, err := c.mirrors.sources(parsed.Context(), parsed.Identifier())
	if err != nil {
		return none, refused(ref, err)
	}
	var passed []string
	for i, at := range sources {
		isMirror := i < len(sources)-1
		if isMirror && c.isDown(at) {
			continue
		}
		s, err := c.session(ctx, at)
		if err == nil {
			var got T
			if got, err = read(s, parsed.Identifier()); err == nil {
				return got, nil
			}
		}
		f := c.explain(ctx, ref, err)
		if isMirror && ctx.Err() == nil && leadsOn(f.Code) {
			if f.Code == failure.RegistryUnavailable {
				c.down.Store(at.RegistryStr(), time.Now())
			}
			passed = append(passed, fmt.Sprintf("%s: %s", at.Name(), f.Class))
			continue
		}
		return none, mention(f, passed)
	}
	return none, c.explain(ctx, ref, errors.New("no place to pull from"))
}

// isDown leaves a mirror alone for a while that has used up all attempts: a pool of
// workers would wait for it with every bundle.
func (c *Client) isDown(at name.Repository) bool {
	since, ok := c.down.Load(at.RegistryStr())
	return ok && time.Since(since.(time.Time)) < time.Minute
}

func leadsOn(code failure.Code) bool {
	switch code {
	case failure.BundleNotFound, failure.RegistryAuth, failure.RegistryUnavailable:
		return true
	}
	return false
}
