package oci

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/olmgraft/graft/internal/atomicfile"
	"github.com/olmgraft/graft/internal/failure"
)

// Write writes the image as an OCI layout: as a tarball if the path ends with .tar, else into a directory. It
// does not touch a place that already holds the image; changed reports that. In a directory it writes the index
// last, so that an incomplete image is never valid, and removes no blob.
func (i *Image) Write(at atomicfile.Place) (changed bool, err error) {
	to := at.String()
	if OnDisk(to) {
		if old, err := openDisk(to); err == nil && old.top.digest == i.Digest {
			return false, nil
		}
	}
	if strings.HasSuffix(to, ".tar") {
		_, err = atomicfile.Stream(at, i.writeTarball)
	} else {
		err = i.writeDir(at)
	}
	var known *failure.Error
	if err != nil && !errors.As(err, &known) {
		err = failure.New(failure.EditRefused, "writing the image: %w", err).At(to, 0, 0).Fix("Name another place with --output, or make this one writable.")
	}
	return err == nil, err
}

func (i *Image) writeDir(at atomicfile.Place) error {
	dir := at.String()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if len(entries) > 0 && !OnDisk(dir) {
		return failure.New(failure.EditRefused, "writing the image: the directory holds something else than an OCI layout").At(dir, 0, 0).
			Fix("Name an empty directory with --output.")
	}
	return i.files(false, func(name string, r io.Reader) error {
		if err := atomicfile.MkdirAll(at.Join(path.Dir(name))); err != nil {
			return err
		}
		_, err := atomicfile.Stream(at.Join(name), func(w io.Writer) error {
			_, err := io.Copy(w, r)
			return err
		})
		return err
	})
}

const layoutText = `{"imageLayoutVersion":"1.0.0"}`

// layoutIndex returns the index of the layout, which names only the image.
func (i *Image) layoutIndex() (string, error) {
	digest, err := v1.NewHash(i.Digest)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(v1.IndexManifest{
		SchemaVersion: 2, MediaType: types.OCIImageIndex,
		Manifests: []v1.Descriptor{{MediaType: types.MediaType(i.MediaType), Digest: digest, Size: i.size}},
	})
	return string(text), err
}

func (i *Image) writeTarball(to io.Writer) error {
	w := tar.NewWriter(to)
	if err := i.files(true, func(name string, r io.Reader) error {
		body, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		if err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(body))}); err != nil {
			return err
		}
		_, err = w.Write(body)
		return err
	}); err != nil {
		return err
	}
	return w.Close()
}

// files writes the files of the layout, each blob once, in the image's order. The oci-layout file comes first,
// so that an interrupted run can be repeated. The index comes before the blobs or last.
func (i *Image) files(indexFirst bool, write func(name string, r io.Reader) error) error {
	index, err := i.layoutIndex()
	if err != nil {
		return err
	}
	if err := write(layoutFile, strings.NewReader(layoutText)); err != nil {
		return err
	}
	if indexFirst {
		if err := write(indexFile, strings.NewReader(index)); err != nil {
			return err
		}
	}
	had := map[v1.Hash]bool{}
	err = i.blobs(func(h v1.Hash, r io.Reader) error {
		if had[h] {
			return nil
		}
		had[h] = true
		return write(path.Join(blobsDir, h.Algorithm, h.Hex), r)
	})
	if err != nil || indexFirst {
		return err
	}
	return write(indexFile, strings.NewReader(index))
}
