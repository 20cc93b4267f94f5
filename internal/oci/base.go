package oci

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/olmgraft/graft/internal/failure"
)

// Base is the base of a catalog image: an image, or an index with one image for each platform.
type Base struct {
	// Digest is the digest that the base's reference resolved to. "" means no base.
	Digest string

	members []member
	index   bool
	repo    *name.Repository // layers can be mounted from here
}

type member struct {
	v1.Image
	platform *v1.Platform
}

// Base reads the manifests and configurations of a base in a registry, an OCI layout or a tarball. Layers are
// read when they are needed. If platforms are given, Base takes only these from an index and fails if one is
// missing.
func (c *Client) Base(ctx context.Context, ref string, platforms []string) (*Base, error) {
	return withStore(ctx, c, ref, func(from store, identifier string) (*Base, error) {
		b, err := readBase(ctx, from, identifier)
		if err != nil {
			return nil, err
		}
		if s, ok := from.(*session); ok {
			b.repo = &s.repo
		}
		return b, b.restrict(platforms)
	})
}

// Scratch returns an empty base: one image, or an index if platforms are given.
func Scratch(platforms []string) (*Base, error) {
	b := &Base{index: len(platforms) > 0}
	if !b.index {
		platforms = []string{"linux/amd64"}
	}
	for i, text := range platforms {
		p, err := parsePlatform(text)
		if err != nil {
			return nil, err
		}
		if slices.Contains(platforms[:i], text) {
			continue
		}
		config := &v1.ConfigFile{OS: p.OS, Architecture: p.Architecture, Variant: p.Variant, RootFS: v1.RootFS{Type: "layers"}}
		image, err := mutate.ConfigFile(empty.Image, config)
		if err != nil {
			return nil, failure.New(failure.Internal, "making an empty image: %w", err)
		}
		b.members = append(b.members, member{image, p})
	}
	return b, nil
}

func parsePlatform(text string) (*v1.Platform, error) {
	p, err := v1.ParsePlatform(text)
	if err != nil || p.OS == "" || p.Architecture == "" {
		return nil, failure.New(failure.Usage, "reading the command line: --platform: invalid value %q", text).Fix("Give --platform with OS/ARCHITECTURE, such as linux/arm64.")
	}
	return p, nil
}

func readBase(ctx context.Context, from store, identifier string) (*Base, error) {
	top, err := from.manifest(ctx, identifier)
	if err != nil {
		return nil, err
	}
	b := &Base{Digest: top.digest, index: top.media.IsIndex()}
	if !b.index {
		m, err := readMember(ctx, from, top)
		b.members = []member{m}
		return b, err
	}
	index, err := top.index()
	if err != nil {
		return nil, err
	}
	for _, desc := range index.Manifests {
		if !isMember(desc) {
			continue
		}
		one, err := from.manifest(ctx, desc.Digest.String())
		if err != nil {
			return nil, err
		}
		m, err := readMember(ctx, from, one)
		if err != nil {
			return nil, err
		}
		if desc.Platform != nil {
			m.platform = desc.Platform
		}
		b.members = append(b.members, m)
	}
	if len(b.members) == 0 {
		return nil, notABundle("the index has no image in it")
	}
	return b, nil
}

func readMember(ctx context.Context, from store, m *manifest) (member, error) {
	parsed, err := m.image()
	if err != nil {
		return member{}, err
	}
	if err := catalogLimits.checkImage(parsed); err != nil {
		return member{}, err
	}
	config, err := from.blob(ctx, parsed.Config)
	if err != nil {
		return member{}, err
	}
	stored, err := newStored(ctx, from, parsed, config)
	if err != nil {
		return member{}, err
	}
	image, err := partial.CompressedToImage(stored)
	if err != nil {
		return member{}, notABundle("the image cannot be read: %w", err)
	}
	file, err := image.ConfigFile()
	if err != nil {
		return member{}, notABundle("the image's configuration is malformed: %w", err)
	}
	return member{image, file.Platform()}, nil
}

// restrict removes all platforms except the given ones.
func (b *Base) restrict(platforms []string) error {
	if len(platforms) == 0 {
		return nil
	}
	var has []string
	for _, m := range b.members {
		has = append(has, platformName(m.platform))
	}
	wanted := map[string]bool{}
	for _, text := range platforms {
		want, err := parsePlatform(text)
		if err != nil {
			return err
		}
		found := false
		for i, m := range b.members {
			if m.platform != nil && m.platform.Satisfies(*want) {
				wanted[has[i]], found = true, true
			}
		}
		if !found {
			return failure.New(failure.Usage, "the base is not for %s; it is for %s", text, strings.Join(has, ", ")).Fix("Correct --platform, or name another base.")
		}
	}
	b.members = slices.DeleteFunc(b.members, func(m member) bool { return !wanted[platformName(m.platform)] })
	return nil
}

// stored is an image of a store in OCI's form. Only the types differ from docker's form. Annotations are left
// out, because they describe the base.
type stored struct {
	manifest, config []byte
	layers           map[v1.Hash]*layer
}

func newStored(ctx context.Context, from store, m *v1.Manifest, config []byte) (*stored, error) {
	diffs, err := diffsOf(config, len(m.Layers))
	if err != nil {
		return nil, err
	}
	s := &stored{config: config, layers: map[v1.Hash]*layer{}}
	own := v1.Manifest{SchemaVersion: 2, MediaType: types.OCIManifestSchema1, Config: m.Config, Layers: []v1.Descriptor{}}
	own.Config.MediaType = types.OCIConfigJSON
	for i, desc := range m.Layers {
		media, ok := ociLayers[desc.MediaType]
		if !ok {
			return nil, notABundle("it has a layer of type %q, of which no catalog can be built", desc.MediaType).Fix("Name another base, such as quay.io/operator-framework/opm.")
		}
		desc.MediaType, desc.Annotations, desc.Data = media, nil, nil
		own.Layers = append(own.Layers, desc)
		s.layers[desc.Digest] = &layer{desc: desc, diff: diffs[i], read: sync.OnceValues(func() ([]byte, error) { return from.blob(ctx, desc) })}
	}
	s.manifest, err = json.Marshal(own)
	return s, err
}

var ociLayers = map[types.MediaType]types.MediaType{
	types.OCILayer: types.OCILayer, types.DockerLayer: types.OCILayer,
	types.OCIUncompressedLayer: types.OCIUncompressedLayer, types.DockerUncompressedLayer: types.OCIUncompressedLayer,
	types.OCILayerZStd: types.OCILayerZStd,
}

func (s *stored) RawManifest() ([]byte, error)        { return s.manifest, nil }
func (s *stored) RawConfigFile() ([]byte, error)      { return s.config, nil }
func (s *stored) MediaType() (types.MediaType, error) { return types.OCIManifestSchema1, nil }
func (s *stored) LayerByDigest(h v1.Hash) (partial.CompressedLayer, error) {
	if l, ok := s.layers[h]; ok {
		return l, nil
	}
	return nil, notABundle("the image has no layer %s", h)
}

// layer is a layer as stored. The result of read has the digest of desc.
type layer struct {
	desc v1.Descriptor
	diff v1.Hash
	read func() ([]byte, error)
}

func (l *layer) Digest() (v1.Hash, error)            { return l.desc.Digest, nil }
func (l *layer) DiffID() (v1.Hash, error)            { return l.diff, nil }
func (l *layer) Size() (int64, error)                { return l.desc.Size, nil }
func (l *layer) MediaType() (types.MediaType, error) { return l.desc.MediaType, nil }
func (l *layer) Descriptor() (*v1.Descriptor, error) { return &l.desc, nil }
func (l *layer) Compressed() (io.ReadCloser, error) {
	blob, err := l.read()
	return io.NopCloser(bytes.NewReader(blob)), err
}
