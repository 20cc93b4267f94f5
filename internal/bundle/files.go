package bundle

import (
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/budget"
	"github.com/olmgraft/graft/internal/failure"
)

// The directories of a bundle that opm reads.
const (
	manifestsDir = "manifests"
	metadataDir  = "metadata"
)

// Files maps paths relative to the bundle's root, with slashes, to contents.
type Files map[string][]byte

// Counts reports whether a file can affect the document. Unpacking a bundle may skip the others.
func Counts(name string) bool {
	dir, file := path.Split(path.Clean(name))
	return dir == metadataDir+"/" || dir == manifestsDir+"/" && !strings.HasPrefix(file, ".")
}

// FilesOf reads the files that count from a bundle directory. It follows links as far as fsys does, so fsys must
// not leave the directory.
func FilesOf(fsys fs.FS) (Files, error) {
	files, total := Files{}, 0
	for _, dir := range []string{manifestsDir, metadataDir} {
		entries, err := fs.ReadDir(fsys, dir)
		if err != nil {
			return nil, failure.New(failure.BundleInvalid, "reading a bundle directory: %w", err).
				Fix("Give a directory that has manifests/ and metadata/ in it.")
		}
		for _, e := range entries {
			name := path.Join(dir, e.Name())
			if info, err := fs.Stat(fsys, name); err != nil || !info.Mode().IsRegular() || !Counts(name) {
				continue
			}
			content, err := readAtMost(fsys, name, budget.BundleText-total)
			if err != nil {
				return nil, failure.New(failure.BundleInvalid, "reading a bundle directory: %w", err).At(name, 0, 0)
			}
			total += len(content)
			files[name] = content
			if len(files) > budget.BundleFiles {
				return nil, failure.New(failure.BundleInvalid, "reading a bundle directory: it has more than %d files", budget.BundleFiles)
			}
		}
	}
	return files, nil
}

var errTooLarge = fmt.Errorf("the bundle has more than %d MiB of manifests and metadata", budget.BundleText>>20)

func readAtMost(fsys fs.FS, name string, limit int) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err == nil && len(content) > limit {
		err = errTooLarge
	}
	return content, err
}

// in returns the files that count in a directory, in opm's order.
func (f Files) in(dir string) []string {
	var names []string
	for name := range f {
		if d, _ := path.Split(name); d == dir+"/" && Counts(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
