package oci

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"sync"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/olmgraft/graft/internal/budget"
	"github.com/olmgraft/graft/internal/failure"
)

// limits limit what an image may make Graft read, hold and compute. They apply to all layers together,
// including content that is not kept.
type limits struct {
	files  int   // and as many directories
	bytes  int64 // content of all files
	packed int64 // of all layers
	kept   int64 // of the wanted files, once for each name
	ratio  int64 // ratio of unpacked to packed size of a layer
	layers int
}

var defaultLimits = limits{
	files: budget.BundleFiles, bytes: budget.BundleBytes, packed: budget.BundlePacked, kept: budget.BundleKept,
	ratio: budget.ImageRatio, layers: budget.ImageLayers,
}

var catalogLimits = limits{
	files: budget.CatalogFiles, bytes: budget.CatalogBytes, packed: budget.CatalogBytes + budget.ImageHeaders, kept: budget.CatalogBytes,
	ratio: budget.ImageRatio, layers: budget.ImageLayers,
}

// checkImage refuses an image before reading any of it.
func (l limits) checkImage(image *v1.Manifest) error {
	if len(image.Layers) > l.layers {
		return tooMuch("has %d layers, more than %d", len(image.Layers), l.layers)
	}
	if image.Config.Size < 0 || image.Config.Size > budget.ImageConfig {
		return tooMuch("has a configuration of %d bytes", image.Config.Size)
	}
	var packed int64
	for _, layer := range image.Layers {
		if layer.Size < 0 || layer.Size > l.packed {
			return tooMuch("has a layer of %d bytes", layer.Size)
		}
		packed += layer.Size
	}
	if packed > l.packed {
		return tooMuch("has layers of %d bytes together, more than %d MiB", packed, l.packed>>20)
	}
	return nil
}

func tooMuch(format string, args ...any) error {
	return failure.New(failure.BundleInvalid, "the image exceeds the limits: it %w", fmt.Errorf(format, args...)).
		Fix("Check that this is the intended image. A bundle is built FROM scratch, with only manifests/ and metadata/.")
}

// entry is one entry of a layer's archive.
type entry struct {
	name  string // relative to the root, clean
	kind  byte   // a type flag of archive/tar: TypeReg, TypeDir, TypeSymlink, TypeLink, or another
	link  string
	nth   int // index in the layer
	size  int64
	data  []byte // of a wanted file
	known bool   // data is set
}

// meter counts the totals of all layers of one image.
type meter struct {
	limits
	files, dirs, steps int
	content, kept      int64
	read, unpacked     int64 // bytes of layers
}

// keep counts bytes that are held for an image, once for each name.
func (m *meter) keep(size int64) error {
	if m.kept += size; m.kept > m.limits.kept {
		return tooMuch("has more than %d MiB of files that count, each name of a linked file by itself", m.limits.kept>>20)
	}
	return nil
}

// step counts the names along followed paths, which links can make much longer than they look.
func (m *meter) step(names int) error {
	if m.steps += names; m.steps > m.limits.files*budget.ImageSteps {
		return tooMuch("has links whose paths are too long, all of them together")
	}
	return nil
}

// readLayer calls each for every entry of a layer, in order, with the content of the wanted files.
func readLayer(ctx context.Context, blob []byte, m *meter, wanted func(name string, nth int) bool, each func(entry) error) error {
	return readArchive(ctx, bytes.NewReader(blob), int64(len(blob)), m, wanted, each)
}

// readArchive is readLayer for a stream of that size.
func readArchive(ctx context.Context, blob io.Reader, size int64, m *meter, wanted func(name string, nth int) bool, each func(entry) error) error {
	unpacked, done, err := decompress(m.counting(ctx, blob))
	if err != nil {
		return notABundle("a layer cannot be decompressed: %w", err)
	}
	defer done()
	most := min(m.bytes+budget.ImageHeaders-m.unpacked, max(budget.ImageSmall, m.ratio*size))
	stream := &bounded{r: m.counted(ctx, unpacked), left: most}
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
		e := entry{name: name, kind: header.Typeflag, link: header.Linkname, nth: nth, size: header.Size}
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
			if err := m.keep(header.Size); err != nil {
				return err
			}
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

// readFile allocates memory for a file only if the archive can still hold it.
func readFile(archive *tar.Reader, header *tar.Header, left int64) ([]byte, error) {
	if header.Size > left {
		return nil, fmt.Errorf("the file is said to have %d bytes: %w", header.Size, errBounded)
	}
	data := make([]byte, header.Size)
	_, err := io.ReadFull(archive, data)
	return data, err
}

// cleanName refuses names that lead outside of the root. It cleans a name with .. that stays inside.
func cleanName(name string) (string, error) {
	if len(name) > budget.ImagePath {
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
		Fix("Build the bundle image again, with relative paths and links that stay inside of it.")
}

func badLayer(err error) error {
	if failure.Is(err, failure.BundleInvalid) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if errors.Is(err, errBounded) {
		return tooMuch("has a layer that unpacks to more than its size can account for, like a decompression bomb")
	}
	return notABundle("a layer is no sound archive: %w", err)
}

type reader func([]byte) (int, error)

func (r reader) Read(p []byte) (int, error) { return r(p) }

// counting counts the bytes read of a layer. It refuses a layer that continues without unpacking to anything,
// such as one of empty frames. It ends with the context.
func (m *meter) counting(ctx context.Context, blob io.Reader) io.Reader {
	return reader(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		n, err := blob.Read(p)
		if m.read += int64(n); m.read > m.unpacked+budget.ImageIdle {
			return n, tooMuch("has layers that unpack to less than they are")
		}
		return n, err
	})
}

// counted counts the unpacked bytes of a layer.
func (m *meter) counted(ctx context.Context, r io.Reader) io.Reader {
	return reader(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		n, err := r.Read(p)
		m.unpacked += int64(n)
		return n, err
	})
}

// bounded fails after more than left bytes.
type bounded struct {
	r    io.Reader
	left int64
}

var errBounded = errors.New("more than the archive may unpack to")

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		// The stream may end exactly here.
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
	// Decoders are pooled, because their windows are most of the cost of a small layer.
	unzippers = sync.Pool{New: func() any { return new(gzip.Reader) }}
	unzstders = sync.Pool{New: newZstd}
)

// newZstd limits the window as the zstd command does.
func newZstd() any {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(budget.ImageWindow))
	if err != nil {
		panic(err) // the options are wrong
	}
	return z
}

// decompress detects the format by the first bytes, because media types are often wrong. Callers must not use
// the stream after done.
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
