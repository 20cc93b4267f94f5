package oci

import (
	"context"
	"sync"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/sync/errgroup"

	"github.com/olmgraft/graft/internal/failure"
)

// Limits of the blobs that a Client keeps for later pulls. Versions of a bundle often share the layer of their
// metadata, which is small.
const (
	maxKeptBlob  = 64 << 10
	maxKeptBlobs = 16 << 20
)

// blobMemory keeps small blobs by digest and drops the oldest first.
type blobMemory struct {
	mu    sync.Mutex
	blobs map[string][]byte
	order []string
	size  int
}

func (m *blobMemory) get(digest string) ([]byte, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.blobs[digest]
	return b, ok
}

func (m *blobMemory) put(digest string, blob []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.blobs[digest]; ok || len(blob) > maxKeptBlob {
		return
	}
	if m.blobs == nil {
		m.blobs = map[string][]byte{}
	}
	m.blobs[digest], m.order = blob, append(m.order, digest)
	for m.size += len(blob); m.size > maxKeptBlobs; m.order = m.order[1:] {
		m.size -= len(m.blobs[m.order[0]])
		delete(m.blobs, m.order[0])
	}
}

// imageBlobs reads configuration and layers concurrently, and each digest once. The first failure cancels the
// others.
func imageBlobs(ctx context.Context, from store, image *v1.Manifest) (config []byte, layers [][]byte, err error) {
	wanted := append([]v1.Descriptor{image.Config}, image.Layers...)
	got := map[v1.Hash]*[]byte{}
	group, ctx := errgroup.WithContext(ctx)
	for _, desc := range wanted {
		if got[desc.Digest] != nil {
			continue
		}
		into := new([]byte)
		got[desc.Digest] = into
		group.Go(func() (err error) {
			*into, err = from.blob(ctx, desc)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, nil, err
	}
	for _, desc := range image.Layers {
		layers = append(layers, *got[desc.Digest])
	}
	return *got[image.Config.Digest], layers, nil
}

// blob reads one blob and checks its digest. A blob that fails the check is neither kept nor used.
func (s *session) blob(ctx context.Context, desc v1.Descriptor) ([]byte, error) {
	c, digest := s.client, desc.Digest.String()
	if int64(len(desc.Data)) == desc.Size && desc.Size > 0 && digestOf(desc.Data, digest) == digest {
		return desc.Data, nil
	}
	if b, ok := c.small.get(digest); ok {
		return b, nil
	}
	return c.blobs.do(ctx, s.base.String()+digest, func() ([]byte, error) {
		if b, ok := c.small.get(digest); ok {
			// Another call has stored it since the first look.
			return b, nil
		}
		// Reading a little more than announced lets the message name the digest of a blob that is too long.
		got, err := s.get(ctx, "reading blob "+digest, "blobs/"+digest, desc.Size+maxKeptBlob, "")
		if err != nil {
			return nil, err
		}
		if found := digestOf(got.body, digest); found != digest {
			return nil, mismatch("blob", digest, found)
		}
		if n := int64(len(got.body)); n != desc.Size {
			return nil, failure.New(failure.BundleInvalid, "reading blob %s: it has %d bytes, and its manifest says %d", digest, n, desc.Size)
		}
		c.small.put(digest, got.body)
		return got.body, nil
	})
}
