package oci

import (
	"bytes"
	"encoding/json"
	"errors"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/olmgraft/graft/internal/budget"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/outbound"
)

// dockerFile lists the images of an archive that docker save writes.
const dockerFile = "manifest.json"

// budget.SavedLayer limits one packed layer of a catalog image or of its base.

// openDocker makes the manifest that this form lacks. Configuration and layers are files, and their digests
// come from their content. The configuration holds the expected digests.
func openDocker(files fileSet, text []byte) (*diskImage, error) {
	var images []struct {
		Config string
		Layers []string
	}
	if err := json.Unmarshal(text, &images); err != nil {
		return nil, notABundle("%s is malformed: %w", dockerFile, err)
	}
	if len(images) != 1 {
		return nil, severalImages(len(images))
	}
	a := &diskImage{files: files, names: map[string]string{}}
	m := v1.Manifest{SchemaVersion: 2, MediaType: types.DockerManifestSchema2, Layers: []v1.Descriptor{}}
	var err error
	if m.Config, err = a.add(images[0].Config, types.DockerConfigJSON, budget.ImageConfig); err != nil {
		return nil, err
	}
	for _, name := range images[0].Layers {
		layer, err := a.add(name, types.DockerUncompressedLayer, budget.SavedLayer)
		if err != nil {
			return nil, err
		}
		m.Layers = append(m.Layers, layer)
	}
	if err := a.checkDiffs(m); err != nil {
		return nil, err
	}
	body, err := json.Marshal(m)
	if err != nil {
		return nil, notABundle("its manifest cannot be made: %w", err)
	}
	a.top = &manifest{digest: digestOf(body, ""), media: m.MediaType, body: body}
	return a, nil
}

// checkDiffs compares the layers with the digests in the configuration, which are digests of unpacked layers.
func (a *diskImage) checkDiffs(m v1.Manifest) error {
	config, err := a.content("configuration", m.Config.Digest, budget.ImageConfig)
	if err != nil {
		return err
	}
	diffs, err := diffsOf(config, len(m.Layers))
	if err != nil {
		return err
	}
	for i, layer := range m.Layers {
		if layer.MediaType == types.DockerUncompressedLayer && layer.Digest != diffs[i] {
			return failure.New(failure.DigestMismatch, "layer %s: what the archive holds has digest %s", diffs[i], layer.Digest).
				Fix("Write the archive again: it is damaged.")
		}
	}
	return nil
}

// diffsOf returns the digests of the n layers from the configuration.
func diffsOf(config []byte, n int) ([]v1.Hash, error) {
	var c struct {
		RootFS v1.RootFS `json:"rootfs"`
	}
	if err := json.Unmarshal(config, &c); err != nil {
		return nil, notABundle("the image's configuration is malformed: %w", err)
	}
	if len(c.RootFS.DiffIDs) != n {
		return nil, notABundle("the image's configuration tells of %d layers, its manifest of %d", len(c.RootFS.DiffIDs), n)
	}
	return c.RootFS.DiffIDs, nil
}

func (a *diskImage) add(name string, media types.MediaType, limit int64) (v1.Descriptor, error) {
	body, err := a.files.read(name, limit)
	if errors.Is(err, outbound.ErrTooLong) {
		return v1.Descriptor{}, tooMuch("has a file %s of more than %d bytes", name, limit)
	}
	if err != nil {
		return v1.Descriptor{}, notABundle("reading %s: %w", name, err)
	}
	if bytes.HasPrefix(body, gzipMagic) {
		media = types.DockerLayer
	}
	digest := digestOf(body, "")
	hash, err := v1.NewHash(digest)
	a.names[digest] = name
	return v1.Descriptor{MediaType: media, Digest: hash, Size: int64(len(body))}, err
}
