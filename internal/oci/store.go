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

// store provides manifests and blobs from a repository or from an image on disk. Its results have the requested
// digest.
type store interface {
	manifest(ctx context.Context, identifier string) (*manifest, error)
	blob(ctx context.Context, desc v1.Descriptor) ([]byte, error)
	// stream passes a blob to take as a stream, and starts again if the connection breaks. The digest is
	// verified only when stream returns without an error.
	stream(ctx context.Context, desc v1.Descriptor, take func(io.Reader) error) error
}

// onDisk identifies the one image of a store on disk.
const onDisk = ""

// withStore calls read with the image's store and its identifier there: the image on disk if the path exists,
// else the sources of the reference.
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

// origin returns the repository itself, without its mirrors.
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

// fromSources tries the mirrors of a reference and then the named location. Only a registry's failure leads to
// the next source; a fault of the image is reported at once.
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

// isDown reports whether a mirror recently used up all attempts. Otherwise a pool of workers would wait for it
// with every bundle.
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
