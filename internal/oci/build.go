package oci

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/olmgraft/graft/internal/failure"
)

// Recipe describes what Build adds to a base.
type Recipe struct {
	// Layer is the archive of the layer, compressed with gzip.
	Layer []byte
	// Labels are set in each configuration, Annotations on each manifest and the index.
	Labels, Annotations map[string]string
	// Entrypoint and Cmd replace those of the base. nil keeps them.
	Entrypoint, Cmd []string
	Created         time.Time
}

// Image is an image or index that was built. The layers of its base are read when it is written or pushed.
type Image struct {
	Digest, MediaType string
	Platforms         []string

	content content
	size    int64
}

// content is the common interface of images and indexes.
type content interface {
	mutate.Appendable
	RawManifest() ([]byte, error)
}

// imageLabels is the prefix of labels that describe an image. Those of a base do not describe the catalog.
const imageLabels = "org.opencontainers.image."

// Build adds the layer to each image of the base. The same base and recipe give the same digest.
func (b *Base) Build(r Recipe) (*Image, error) {
	built, err := b.build(r)
	if err != nil {
		return nil, failure.New(failure.BundleInvalid, "building on the base: %w", err).Fix("Name another base: the parts of this one do not fit together.")
	}
	return built, nil
}

func (b *Base) build(r Recipe) (*Image, error) {
	packed := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(r.Layer)), nil }
	added, err := tarball.LayerFromOpener(packed, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	var images []mutate.IndexAddendum
	built := &Image{}
	for _, m := range b.members {
		image, err := m.build(r, added, b.repo)
		if err != nil {
			return nil, err
		}
		built.content = image
		built.Platforms = append(built.Platforms, platformName(m.platform))
		images = append(images, mutate.IndexAddendum{Add: member{image, m.platform}})
	}
	if b.index {
		index := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex), images...)
		built.content = mutate.Annotations(index, r.Annotations).(v1.ImageIndex)
	}
	desc, err := partial.Descriptor(built.content)
	if err != nil {
		return nil, err
	}
	built.Digest, built.MediaType, built.size = desc.Digest.String(), string(desc.MediaType), desc.Size
	return built, nil
}

func (m member) build(r Recipe, added v1.Layer, from *name.Repository) (v1.Image, error) {
	base := m.Image
	if from != nil {
		base = mountable{base, from.Tag("latest")}
	}
	at := v1.Time{Time: r.Created}
	image, err := mutate.Append(base, mutate.Addendum{Layer: added, History: v1.History{Created: at, CreatedBy: "graft image"}})
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config.Created = at
	if config.Config.Labels == nil {
		config.Config.Labels = map[string]string{}
	}
	maps.DeleteFunc(config.Config.Labels, func(k, _ string) bool { return strings.HasPrefix(k, imageLabels) })
	maps.Copy(config.Config.Labels, r.Labels)
	if r.Entrypoint != nil {
		config.Config.Entrypoint, config.Config.Cmd = r.Entrypoint, r.Cmd
	}
	if image, err = mutate.ConfigFile(image, config); err != nil {
		return nil, err
	}
	image = mutate.ConfigMediaType(mutate.MediaType(image, types.OCIManifestSchema1), types.OCIConfigJSON)
	return mutate.Annotations(image, r.Annotations).(v1.Image), nil
}

// Descriptor returns the index's entry for the image. By default the library adds the type of the configuration
// as the artifact type, and some tools then do not accept the entry as an image.
func (m member) Descriptor() (*v1.Descriptor, error) {
	digest, err := m.Digest()
	if err != nil {
		return nil, err
	}
	size, err := m.Size()
	return &v1.Descriptor{MediaType: types.OCIManifestSchema1, Digest: digest, Size: size, Platform: m.platform}, err
}

// mountable names the image in the registry that already has the layers.
type mountable struct {
	v1.Image
	from name.Reference
}

func (m mountable) LayerByDigest(h v1.Hash) (v1.Layer, error) {
	l, err := m.Image.LayerByDigest(h)
	return &remote.MountableLayer{Layer: l, Reference: m.from}, err
}

// blobs visits all parts of the image. Manifests come after the parts that they name.
func (i *Image) blobs(visit func(v1.Hash, io.Reader) error) error {
	if index, ok := i.content.(v1.ImageIndex); ok {
		m, err := index.IndexManifest()
		if err != nil {
			return err
		}
		for _, desc := range m.Manifests {
			image, err := index.Image(desc.Digest)
			if err == nil {
				err = imageFiles(image, visit)
			}
			if err != nil {
				return err
			}
		}
		return visitManifest(index, visit)
	}
	image, ok := i.content.(v1.Image)
	if !ok {
		return fmt.Errorf("%T is no image", i.content)
	}
	return imageFiles(image, visit)
}

func imageFiles(image v1.Image, visit func(v1.Hash, io.Reader) error) error {
	layers, err := image.Layers()
	if err != nil {
		return err
	}
	config, err := partial.ConfigLayer(image)
	if err != nil {
		return err
	}
	for _, l := range append(layers, config) {
		digest, err := l.Digest()
		if err != nil {
			return err
		}
		r, err := l.Compressed()
		if err != nil {
			return err
		}
		if err := visit(digest, r); err != nil {
			return err
		}
	}
	return visitManifest(image, visit)
}

func visitManifest(c content, visit func(v1.Hash, io.Reader) error) error {
	digest, err := c.Digest()
	if err != nil {
		return err
	}
	body, err := c.RawManifest()
	if err != nil {
		return err
	}
	return visit(digest, bytes.NewReader(body))
}
