package oci

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"path"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/olmgraft/graft/internal/budget"
	"github.com/olmgraft/graft/internal/outbound"
)

// CatalogPart is Catalog restricted to the files that wanted selects. It holds nothing else of the image in
// memory: it streams each layer, from the topmost down to the last that counts.
func (c *Client) CatalogPart(ctx context.Context, ref string, wanted func(name string, content []byte) bool) (*Catalog, error) {
	return withStore(ctx, c, ref, func(from store, identifier string) (*Catalog, error) {
		part, err := c.readPart(ctx, from, identifier, wanted)
		if !errors.Is(err, errLinked) {
			return part, err
		}
		if part, err = readCatalog(ctx, from, identifier); err != nil {
			return nil, err
		}
		for name, data := range part.Files {
			if !wanted(name, data) {
				delete(part.Files, name)
			}
		}
		return part, nil
	})
}

// errLinked reports links, whose targets may be anywhere in the image.
var errLinked = errors.New("the catalog has links")

func (c *Client) readPart(ctx context.Context, from store, identifier string, wanted func(string, []byte) bool) (*Catalog, error) {
	catalog, err := openCatalog(ctx, from, identifier)
	if err != nil {
		return nil, err
	}
	p := &part{dir: catalog.dir, wanted: wanted}
	var layers [][]entry
	for _, desc := range slices.Backward(catalog.image.Layers) {
		seen := desc.Digest.String() + " " + p.dir
		if _, idle := c.idle.Load(seen); idle {
			continue
		}
		if err := p.layer(ctx, from, desc); err != nil {
			return nil, err
		}
		if len(p.entries) == 0 {
			c.idle.Store(seen, true)
			continue
		}
		if layers = append(layers, p.entries); p.alone {
			break
		}
	}
	fs := &rootfs{root: &node{children: map[string]*node{}}, meter: &meter{limits: catalogLimits}}
	for i, entries := range slices.Backward(layers) {
		fs.layer = len(layers) - i
		for _, e := range entries {
			if err := fs.add(e); err != nil {
				return nil, err
			}
		}
	}
	found := map[string]*file{}
	if err := fs.collect(p.dir, found); err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for name, f := range found {
		if f.data != nil {
			files[name] = f.data
		}
	}
	return catalog.with(files)
}

// part searches layers for files in a directory.
type part struct {
	dir    string
	wanted func(string, []byte) bool
	meter  meter // of all layers
	kept   int

	entries []entry // of the last layer
	alone   bool    // the last layer hides all lower ones
}

func (p *part) layer(ctx context.Context, from store, desc v1.Descriptor) error {
	before, kept := p.meter, p.kept
	before.limits = catalogLimits
	return from.stream(ctx, desc, func(r io.Reader) error {
		p.meter, p.kept, p.entries, p.alone = before, kept, nil, false
		return readArchive(ctx, r, desc.Size, &p.meter, func(name string, _ int) bool { return below(name, []string{p.dir}) }, p.take)
	})
}

// take keeps an entry that counts in the directory. Of an unwanted file it keeps the name.
func (p *part) take(e entry) error {
	if !p.concerns(e.name) {
		return nil
	}
	if e.kind == tar.TypeSymlink || e.kind == tar.TypeLink {
		return errLinked
	}
	p.alone = p.alone || e.kind == tar.TypeReg && e.name == path.Join(p.dir, opaque)
	if e.known && !p.wanted(e.name, e.data) {
		e.data = nil
	}
	if p.kept += len(e.data); p.kept > budget.CatalogPart {
		return tooMuch("has more than %d MiB of the package", budget.CatalogPart>>20)
	}
	p.entries = append(p.entries, e)
	return nil
}

// concerns reports whether a name is in the directory or on the way to it, or removes either.
func (p *part) concerns(name string) bool {
	if name == "." {
		return false
	}
	at, base := path.Split(name)
	if removed, ok := strings.CutPrefix(base, whiteout); ok {
		if name = path.Clean(at); base != opaque {
			name = path.Join(at, removed)
		}
	}
	return name == "." || name == p.dir || below(name, []string{p.dir}) || below(p.dir, []string{name})
}

// stream implements store.
func (s *session) stream(ctx context.Context, desc v1.Descriptor, take func(io.Reader) error) error {
	digest := desc.Digest.String()
	if b, ok := s.client.small.get(digest); ok || len(desc.Data) > 0 {
		var err error
		if !ok {
			b, err = s.blob(ctx, desc)
		}
		if err != nil {
			return err
		}
		return take(bytes.NewReader(b))
	}
	err := s.getStream(ctx, "reading blob "+digest, "blobs/"+digest, desc.Size+maxKeptBlob, func(r io.Reader) error {
		sum, err := v1.Hasher(desc.Digest.Algorithm)
		if err != nil {
			return notABundle("a layer has the digest %s: %w", digest, err)
		}
		all := io.TeeReader(r, sum)
		took := take(all)
		if _, err := io.Copy(io.Discard, all); err != nil {
			return err
		}
		if found := (v1.Hash{Algorithm: desc.Digest.Algorithm, Hex: hex.EncodeToString(sum.Sum(nil))}).String(); found != digest {
			return mismatch("blob", digest, found)
		}
		return took
	})
	var refused *outbound.Refused
	if errors.As(err, &refused) {
		return refused.Err
	}
	return err
}
