package oci

import (
	"archive/tar"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"sync"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/olmgraft/graft/internal/failure"
)

// limits bound what an image may make us read, hold and compute. They hold for
// all layers together, and for what is not kept as well.
type limits struct {
	files  int   // and as many directories
	bytes  int64 // content of all files
	ratio  int64 // of a layer, unpacked to packed
	layers int
}

var defaultLimits = limits{files: 10_000, bytes: 100 << 20, ratio: 1000, layers: 500}

// catalogLimits have room for the packages of a whole platform, and for an opm with the
// system that it runs on.
var catalogLimits = limits{files: 200_000, bytes: 2 << 30, ratio: 1000, layers: 500}

const (
	// headroom is what the headers of an archive may take beside the content.
	headroom = 64 << 20
	// smallLayer may be unpacked to, whatever the ratio: an archive is padded
	// with zeros, and small ones consist of little else.
	smallLayer = 1 << 20
	maxPath    = 4096
)

// checkImage refuses an image before any of it is read.
func (l limits) checkImage(image *v1.Manifest) error {
	if len(image.Layers) > l.layers {
		return tooMuch("has %d layers, more than %d", len(image.Layers), l.layers)
	}
	if image.Config.Size < 0 || image.Config.Size > maxConfig {
		return tooMuch("has a configuration of %d bytes", image.Config.Size)
	}
	var packed int64
	for _, layer := range image.Layers {
		if layer.Size < 0 || layer.Size > l.bytes+headroom {
			return tooMuch("has a layer of %d bytes", layer.Size)
		}
		packed += layer.Size
	}
	if packed > l.bytes+headroom {
		return tooMuch("has layers of %d bytes together, more than %d MiB", packed, l.bytes>>20)
	}
	return nil
}

func tooMuch(format string, args ...any) error {
	return failure.New(failure.BundleInvalid, "the image exceeds the limits: it %w", fmt.Errorf(format, args...)).
		Fix("check that this is the image that is meant; a bundle is built FROM scratch with nothing but manifests/ and metadata/")
}

// entry is one entry of a layer's archive.
type entry struct {
	name  string // relative to the root, clean
	kind  byte   // a type flag of archive/tar: TypeReg, TypeDir, TypeSymlink, TypeLink, or something else
	link  string
	nth   int    // among the entries of the layer
	data  []byte // of a file that is wanted
	known bool   // data is there
}

// meter counts what the layers of one image come to.
type meter struct {
	limits
	files, dirs int
	content     int64
}

// readLayer calls each with every entry of a layer, in order, with the content of
// the files that are wanted.
func readLayer(blob []byte, m *meter, wanted func(name string, nth int) bool, each func(entry) error) error {
	return readArchive(bytes.NewReader(blob), int64(len(blob)), m, wanted, each)
}

// readArchive is readLayer for one of that size that is not held.
func readArchive(blob io.Reader, size int64, m *meter, wanted func(name string, nth int) bool, each func(entry) error) error {
	unpacked, done, err := decompress(blob)
	if err != nil {
		return notABundle("a layer cannot be decompressed: %w", err)
	}
	defer done()
	stream := &bounded{r: unpacked, left: min(m.bytes+headroom, max(smallLayer, m.ratio*size))}
	archive := tar.NewReader(stream)
	for nth := 0; ; nth++ {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return badLayer(err)
		}
		name, err := cleanName(header.Name)
		if err != nil {
			return err
		}
		e := entry{name: name, kind: header.Typeflag, link: header.Linkname, nth: nth}
		if e.kind == tar.TypeGNUSparse || e.kind == tar.TypeCont {
			e.kind = tar.TypeReg
		}
		if err := m.count(e.kind, header.Size); err != nil {
			return err
		}
		if e.kind == tar.TypeXGlobalHeader {
			continue
		}
		if e.kind == tar.TypeReg && wanted(name, nth) {
			if e.data, err = readFile(archive, header, stream.left); err != nil {
				return badLayer(fmt.Errorf("%s: %w", name, err))
			}
			e.known = true
		}
		if err := each(e); err != nil {
			return err
		}
	}
}

func (m *meter) count(kind byte, size int64) error {
	if kind == tar.TypeDir {
		return m.countDir()
	}
	if m.files++; m.files > m.limits.files {
		return tooMuch("has more than %d files", m.limits.files)
	}
	if kind != tar.TypeReg {
		return nil
	}
	if m.content += size; size < 0 || m.content > m.bytes {
		return tooMuch("unpacks to more than %d MiB", m.bytes>>20)
	}
	return nil
}

func (m *meter) countDir() error {
	if m.dirs++; m.dirs > m.limits.files {
		return tooMuch("has more than %d directories", m.limits.files)
	}
	return nil
}

// readFile takes the memory for a file only where the archive can still hold it.
func readFile(archive *tar.Reader, header *tar.Header, left int64) ([]byte, error) {
	if header.Size > left {
		return nil, fmt.Errorf("the file is said to have %d bytes: %w", header.Size, errBounded)
	}
	data := make([]byte, header.Size)
	_, err := io.ReadFull(archive, data)
	return data, err
}

// cleanName refuses names that lead outside of the root. A name with .. in it
// that stays inside is made plain.
func cleanName(name string) (string, error) {
	if len(name) > maxPath {
		return "", tooMuch("has a path of %d bytes", len(name))
	}
	clean := path.Clean(name)
	if strings.HasPrefix(name, "/") || clean == ".." || strings.HasPrefix(clean, "../") {
		return "", outside("a layer holds the path %q", name)
	}
	return clean, nil
}

func outside(format string, args ...any) error {
	return failure.New(failure.BundleInvalid, "%w, which is outside of the image's root", fmt.Errorf(format, args...)).
		Fix("build the bundle image again with relative paths and links that stay inside of it")
}

func badLayer(err error) error {
	if errors.Is(err, errBounded) {
		return tooMuch("has a layer that unpacks to more than its size can account for, like a decompression bomb")
	}
	return notABundle("a layer is no sound archive: %w", err)
}

// bounded fails once more than left bytes were read.
type bounded struct {
	r    io.Reader
	left int64
}

var errBounded = errors.New("more than the archive may unpack to")

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		// The end may be just here.
		if n, err := b.r.Read(make([]byte, 1)); n == 0 && err != nil {
			return 0, err
		}
		return 0, errBounded
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
	// Decoders are kept because their windows are most of what a small layer costs.
	unzippers = sync.Pool{New: func() any { return new(gzip.Reader) }}
	unzstders = sync.Pool{New: newZstd}
)

// newZstd bounds the window as the zstd command bounds it.
func newZstd() any {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(128<<20))
	if err != nil {
		panic(err) // the options are wrong
	}
	return z
}

// decompress goes by the first bytes: media types are often wrong. The stream
// must not be used after done was called.
func decompress(blob io.Reader) (r io.Reader, done func(), err error) {
	packed := bufio.NewReader(blob)
	start, err := packed.Peek(5)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	switch {
	case bytes.HasPrefix(start, gzipMagic):
		z := unzippers.Get().(*gzip.Reader)
		if err := z.Reset(packed); err != nil {
			return nil, nil, err
		}
		return z, func() { unzippers.Put(z) }, nil
	case bytes.HasPrefix(start, zstdMagic) || isSkippable(start):
		z := unzstders.Get().(*zstd.Decoder)
		if err := z.Reset(packed); err != nil {
			return nil, nil, err
		}
		return z, func() { unzstders.Put(z) }, nil
	}
	return packed, func() {}, nil
}

// isSkippable reports whether a blob starts with one of zstd's skippable frames.
func isSkippable(start []byte) bool {
	return len(start) > 4 && start[0]&0xf0 == 0x50 && bytes.Equal(start[1:4], []byte{0x2a, 0x4d, 0x18})
}
