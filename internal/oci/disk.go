package oci

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/olmgraft/graft/internal/budget"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/outbound"
)

// File names of an OCI layout.
const (
	layoutFile = "oci-layout"
	indexFile  = "index.json"
	blobsDir   = "blobs"
)

// OnDisk reports whether the path holds an image: an OCI layout in a directory, or a tarball.
func OnDisk(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	if info.IsDir() {
		_, err := os.Stat(filepath.Join(path, layoutFile))
		return err == nil
	}
	return info.Mode().IsRegular() && isTarball(path)
}

// diskImage is the one image of an OCI layout or of an archive that docker save writes. Its blobs are checked
// against their digests like those of a registry, because the file may come from anywhere.
type diskImage struct {
	files fileSet
	top   *manifest
	// names maps digests to files if the files do not have the names of an OCI layout.
	names map[string]string
}

// fileSet reads files by name. It refuses files longer than limit.
type fileSet interface {
	read(name string, limit int64) ([]byte, error)
}

// openDisk opens the image. It refuses an archive with several images, because nothing says which one to use.
func openDisk(path string) (*diskImage, error) {
	files, err := openFiles(path)
	if err != nil {
		return nil, err
	}
	text, err := files.read(indexFile, budget.ImageManifest)
	if errors.Is(err, os.ErrNotExist) {
		if saved, serr := files.read(dockerFile, budget.ImageManifest); serr == nil {
			return openDocker(files, saved)
		}
	}
	if err != nil {
		return nil, notABundle("it is neither an OCI layout nor what docker save writes: %w", err)
	}
	var index v1.IndexManifest
	if err := json.Unmarshal(text, &index); err != nil {
		return nil, notABundle("%s is malformed: %w", indexFile, err)
	}
	images := slices.CompactFunc(index.Manifests, func(a, b v1.Descriptor) bool { return a.Digest == b.Digest })
	if len(images) != 1 {
		return nil, severalImages(len(images))
	}
	a := &diskImage{files: files}
	a.top, err = a.read(images[0].Digest.String(), images[0].MediaType)
	return a, err
}

func severalImages(n int) error {
	return failure.New(failure.BundleInvalid, "the archive holds %d images, not one", n).
		Fix("Write one image to an archive of its own, such as with skopeo copy.")
}

func (a *diskImage) manifest(_ context.Context, identifier string) (*manifest, error) {
	if identifier == onDisk || identifier == a.top.digest {
		return a.top, nil
	}
	return a.read(identifier, "")
}

func (a *diskImage) read(digest string, media types.MediaType) (*manifest, error) {
	hash, err := v1.NewHash(digest)
	if err != nil {
		return nil, notABundle("it names a manifest by %q, which is no digest", digest)
	}
	body, err := a.content("manifest", hash, budget.ImageManifest)
	if err != nil {
		return nil, err
	}
	if said := mediaTypeOf(&answer{body: body}); said != "" {
		media = said
	}
	return &manifest{digest: digest, media: media, body: body}, nil
}

func (a *diskImage) blob(_ context.Context, desc v1.Descriptor) ([]byte, error) {
	return a.content("blob", desc.Digest, desc.Size)
}

func (a *diskImage) stream(ctx context.Context, desc v1.Descriptor, take func(io.Reader) error) error {
	b, err := a.blob(ctx, desc)
	if err != nil {
		return err
	}
	return take(bytes.NewReader(b))
}

// content reads a file and checks its digest.
func (a *diskImage) content(what string, digest v1.Hash, limit int64) ([]byte, error) {
	want := digest.String()
	name, ok := a.names[want]
	if !ok {
		name = blobsDir + "/" + digest.Algorithm + "/" + digest.Hex
	}
	body, err := a.files.read(name, limit)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, notABundle("%s %s is not in the archive", what, want)
	case errors.Is(err, outbound.ErrTooLong):
		return nil, tooMuch("has a %s %s that is longer than it says", what, want)
	case err != nil:
		return nil, notABundle("reading %s %s: %w", what, want, err)
	}
	if got := digestOf(body, want); got != want {
		return nil, failure.New(failure.DigestMismatch, "%s %s: what the archive holds has digest %s", what, want, got).
			Fix("Write the archive again: it is damaged.")
	}
	return body, nil
}
