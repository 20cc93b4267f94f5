package oci

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/atomicfile"
)

// Cache keeps data derived from images in a directory, by kind and by the digest of the image's manifest. Any
// number of processes may share it. A nil Cache is empty and stores nothing.
type Cache struct{ dir string }

// cacheMagic starts each entry. The hash of the content follows it.
const cacheMagic = "graft-cache-1 sha256:"

const cacheHeader = len(cacheMagic) + 2*sha256.Size + 1

// OpenCache creates the directory if it is missing.
func OpenCache(dir string) (*Cache, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("opening the cache: %w", err)
	}
	return &Cache{dir}, nil
}

// Get returns the content that Put stored under the kind and digest. Get removes a damaged entry and reports it
// as missing.
func (c *Cache) Get(kind, digest string) ([]byte, bool) {
	path, err := c.path(kind, digest)
	if err != nil {
		return nil, false
	}
	entry, err := os.ReadFile(path)
	if err != nil {
		return nil, false
	}
	content, ok := openEntry(entry)
	if !ok {
		_ = os.Remove(path) // the next Put replaces it anyway
	}
	return content, ok
}

// cacheTemp is the prefix of folders in which an entry is written before it is moved.
const cacheTemp = "graft-new"

// Put stores content. A concurrent reader sees the old entry or the new one. A failed Put leaves no files, and
// callers need not fail the run. The next Put removes the files of a killed process.
func (c *Cache) Put(kind, digest string, content []byte) error {
	if c == nil {
		return nil
	}
	path, err := c.path(kind, digest)
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("writing to the cache: %w", err)
	}
	temp, remove, err := atomicfile.TempDir(c.dir, cacheTemp)
	if err != nil {
		return fmt.Errorf("writing to the cache: %w", err)
	}
	sum := sha256.Sum256(content)
	entry := slices.Concat([]byte(cacheMagic), []byte(hex.EncodeToString(sum[:])), []byte("\n"), content)
	if err = os.WriteFile(filepath.Join(temp, "entry"), entry, 0o600); err == nil {
		err = os.Rename(filepath.Join(temp, "entry"), path)
	}
	if err = errors.Join(err, remove()); err != nil {
		return fmt.Errorf("writing to the cache: %w", err)
	}
	return nil
}

func openEntry(entry []byte) ([]byte, bool) {
	if len(entry) < cacheHeader || !bytes.HasPrefix(entry, []byte(cacheMagic)) || entry[cacheHeader-1] != '\n' {
		return nil, false
	}
	content := entry[cacheHeader:]
	sum := sha256.Sum256(content)
	return content, hex.EncodeToString(sum[:]) == string(entry[len(cacheMagic):cacheHeader-1])
}

// path spreads the entries of a kind over directories by the digest's first byte.
func (c *Cache) path(kind, digest string) (string, error) {
	if c == nil {
		return "", fs.ErrNotExist
	}
	algorithm, hex, _ := strings.Cut(digest, ":")
	if !isDigest(digest) || kind == "" || strings.ContainsAny(kind, `/\`) || strings.HasPrefix(kind, ".") {
		return "", fmt.Errorf("no cache entry can be named %q %q", kind, digest)
	}
	return filepath.Join(c.dir, kind, algorithm, hex[:2], hex), nil
}
