package oci

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path"

	"github.com/olmgraft/graft/internal/budget"
	"github.com/olmgraft/graft/internal/outbound"
)

// budget.SavedEntries limits the entries of a tarball. An image has a few for each of its layers.

// openFiles opens the files of a directory, without following symbolic links out of it, or those of a tarball.
func openFiles(path string) (fileSet, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, notABundle("it cannot be read: %w", err)
	}
	if !info.IsDir() {
		return indexTarball(path)
	}
	return dirFiles(path), nil
}

type dirFiles string

func (d dirFiles) read(name string, limit int64) ([]byte, error) {
	f, err := os.OpenInRoot(string(d), name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readUpTo(f, limit)
}

func readUpTo(r io.Reader, limit int64) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(body)) > limit {
		err = outbound.ErrTooLong
	}
	return body, err
}

// isTarball looks for the magic number of tar or of gzip, with which a tarball may be compressed.
func isTarball(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 512)
	n, _ := io.ReadFull(f, head)
	return bytes.HasPrefix(head[:n], gzipMagic) || n == len(head) && bytes.HasPrefix(head[257:], []byte("ustar"))
}

// tarFiles holds the offsets of a tarball's files. Names are only keys: none becomes a path on this machine.
type tarFiles struct {
	path    string
	entries map[string]tarEntry
}

type tarEntry struct {
	at, size int64
	link     string
}

func indexTarball(file string) (fileSet, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, notABundle("it cannot be read: %w", err)
	}
	defer f.Close()
	t := &tarFiles{path: file, entries: map[string]tarEntry{}}
	for r := tar.NewReader(f); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		if err != nil {
			return nil, notABundle("the tarball is malformed, or packed: %w", err).Fix("Give a tarball as podman save, docker save or skopeo write it, uncompressed.")
		}
		at, err := f.Seek(0, io.SeekCurrent)
		if err != nil {
			return nil, notABundle("it cannot be read: %w", err)
		}
		if len(t.entries) == budget.SavedEntries {
			return nil, tooMuch("has a tarball of more than %d entries", budget.SavedEntries)
		}
		name := path.Clean(h.Name)
		switch h.Typeflag {
		case tar.TypeReg:
			t.entries[name] = tarEntry{at: at, size: h.Size}
		case tar.TypeSymlink:
			t.entries[name] = tarEntry{link: path.Join(path.Dir(name), h.Linkname)}
		case tar.TypeLink:
			t.entries[name] = tarEntry{link: path.Clean(h.Linkname)}
		}
	}
}

func (t *tarFiles) find(name string) (tarEntry, bool) {
	e, ok := t.entries[name]
	for i := 0; ok && e.link != "" && i < budget.ImageLinks; i++ {
		e, ok = t.entries[e.link]
	}
	return e, ok && e.link == ""
}

func (t *tarFiles) read(name string, limit int64) ([]byte, error) {
	e, ok := t.find(name)
	if !ok {
		return nil, os.ErrNotExist
	}
	f, err := os.Open(t.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readUpTo(io.NewSectionReader(f, e.at, e.size), limit)
}
