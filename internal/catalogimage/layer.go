// Package catalogimage defines a catalog image: its layer, labels, annotations, command and tags. The same
// catalog gives the same bytes.
package catalogimage

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/olmgraft/graft/internal/failure"
)

// Dir is the directory of the catalog in the image.
const Dir = "configs"

// opaque marks a directory that hides its content in lower layers.
const opaque = ".wh..wh..opq"

// Layer packs the files of a catalog, by paths relative to it. Names are sorted, modes are 0644 and 0755, the
// owner is root, and every time is the given one. On a base, the layer hides the base's content of the
// directory, because the base may be a catalog image itself.
func Layer(files map[string][]byte, at time.Time, uponBase bool) ([]byte, error) {
	var out bytes.Buffer
	packed, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, bug(err)
	}
	w := writer{tar.NewWriter(packed), at}
	if err := w.all(files, uponBase); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, bug(err)
	}
	if err := packed.Close(); err != nil {
		return nil, bug(err)
	}
	return out.Bytes(), nil
}

type writer struct {
	*tar.Writer
	at time.Time
}

func (w writer) all(files map[string][]byte, uponBase bool) error {
	if err := w.dir(Dir); err != nil {
		return err
	}
	if uponBase {
		if err := w.file(path.Join(Dir, opaque), nil); err != nil {
			return err
		}
	}
	made := map[string]bool{".": true}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := checkName(name); err != nil {
			return err
		}
		for _, dir := range parents(name) {
			if made[dir] {
				continue
			}
			made[dir] = true
			if err := w.dir(path.Join(Dir, dir)); err != nil {
				return err
			}
		}
		if err := w.file(path.Join(Dir, name), files[name]); err != nil {
			return err
		}
	}
	return nil
}

// checkName refuses names that would not be a file below the directory.
func checkName(name string) error {
	if path.IsAbs(name) || path.Clean(name) != name || name == ".." || strings.HasPrefix(name, "../") {
		return failure.New(failure.TemplateMalformed, "packing the catalog: the path %q leads out of it", name)
	}
	for _, part := range strings.Split(name, "/") {
		if strings.HasPrefix(part, ".wh.") {
			return failure.New(failure.TemplateMalformed, "packing the catalog: in a layer the name %q removes a file", part).At(name, 0, 0).
				Fix("Give the file another name.")
		}
	}
	return nil
}

// parents returns the directories of a file, outermost first.
func parents(name string) (dirs []string) {
	for i, r := range name {
		if r == '/' {
			dirs = append(dirs, name[:i])
		}
	}
	return dirs
}

func (w writer) dir(name string) error {
	return w.entry(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o755}, nil)
}

func (w writer) file(name string, data []byte) error {
	return w.entry(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(data))}, data)
}

func (w writer) entry(h *tar.Header, data []byte) error {
	h.ModTime = w.at
	if err := w.WriteHeader(h); err != nil {
		return bug(err)
	}
	if _, err := io.Copy(w, bytes.NewReader(data)); err != nil {
		return bug(err)
	}
	return nil
}

func bug(err error) error { return failure.New(failure.Internal, "packing the catalog: %w", err) }
