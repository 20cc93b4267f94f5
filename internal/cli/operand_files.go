package cli

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
)

// catalogPaths are the file itself, or the files of a catalog's directory.
func catalogPaths(at located) ([]string, error) {
	if info, err := fs.Stat(at.repo, at.path); err != nil || !info.IsDir() {
		return []string{at.path}, nil //nolint:nilerr // reading the file tells
	}
	docs, err := fbc.ReadFS(at.repo, at.path)
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
		return nil, failure.New(failure.TemplateUnsupported, "reading %s: the directory holds neither a bundle nor a catalog", at.name).At(at.name, 0, 0).
			Fix("Name a file, a bundle's directory with manifests/ in it, or that of a file-based catalog.")
	}
	return paths, nil
}

// readAt reads a file of what was located.
func readAt(at located, p string) ([]byte, error) {
	src, err := fs.ReadFile(at.repo, p)
	if err != nil {
		shown := shownPath(at, p)
		return nil, failure.New(failure.TemplateNotFound, "reading %s: %w", shown, errors.Unwrap(err)).At(shown, 0, 0).Fix("Correct the path.")
	}
	return src, nil
}

// shownPath is how a person calls a file of what was located.
func shownPath(at located, p string) string {
	if p == at.path {
		return at.name
	}
	return path.Join(at.name, strings.TrimPrefix(strings.TrimPrefix(p, at.path), "/"))
}
