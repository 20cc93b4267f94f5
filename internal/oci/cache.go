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

// Cache keeps what was made of an image, by the kind of thing and the digest of
// the image's manifest, in a directory. Any number of processes may share it. A
// nil Cache holds nothing and takes nothing.
type Cache struct{ dir string }

// cacheMagic begins each entry; the hash of the content follows it.
const cacheMagic = "graft-cache-1 sha256:"

const cacheHeader = len(cacheMagic) + 2*sha256.Size + 1

// OpenCache makes the directory where it is missing.
func OpenCache(dir string) (*Cache, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("opening the cache: %w", err)
	}
	return &Cache{dir}, nil
}

// Get gives what Put took under the kind and digest. An entry that is damaged is
// dropped, and not there.
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
		_ = os.Remove(path) // the next Put replaces it in any case
	}
	return content, ok
}

// cacheTemp begins the names of folders in which an entry is written, before it is moved.
const cacheTemp = "graft-new"

// Put keeps content. Whoever reads meanwhile sees the old entry or the new one. A failure
// leaves no trace, and is no reason to fail a run; what a kill leaves goes with the next entry.
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
