package files

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
)

// Paths returns the file itself, or the files of a catalog's directory.
func (at Located) Paths() ([]string, error) {
	if info, err := fs.Stat(at.Repo, at.Path); err != nil || !info.IsDir() {
		return []string{at.Path}, nil //nolint:nilerr // reading the file reports it
	}
	docs, err := fbc.ReadFS(at.Repo, at.Path)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, d := range docs {
		if !slices.Contains(paths, d.File) {
			paths = append(paths, d.File)
		}
	}
	if len(paths) == 0 {
		return nil, failure.New(failure.TemplateUnsupported, "reading %s: the directory holds neither a bundle nor a catalog", at.Name).At(at.Name, 0, 0).
			Fix("Name a file, a bundle's directory with manifests/ in it, or that of a file-based catalog.")
	}
	return paths, nil
}

// Read reads a file of the located path.
func (at Located) Read(p string) ([]byte, error) {
	src, err := fs.ReadFile(at.Repo, p)
	if err != nil {
		shown := at.Shown(p)
		return nil, failure.New(failure.TemplateNotFound, "reading %s: %w", shown, errors.Unwrap(err)).At(shown, 0, 0).Fix("Correct the path.")
	}
	return src, nil
}

// Shown returns the user's name for a file of the located path.
func (at Located) Shown(p string) string {
	if p == at.Path {
		return at.Name
	}
	return path.Join(at.Name, strings.TrimPrefix(strings.TrimPrefix(p, at.Path), "/"))
}
