package fbc

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// ReadMap reads a catalog from a map of paths to contents, as ReadFS reads one from a directory: in the same
// order, and without the files that .indexignore files exclude.
func ReadMap(files map[string][]byte) ([]Doc, error) {
	names := slices.SortedFunc(maps.Keys(files), func(a, b string) int {
		return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/"))
	})
	var ignored ignores
	for _, name := range names {
		if path.Base(name) == ignoreFile {
			dir := strings.Split(name, "/")
			ignored = append(ignored, parseIgnores(string(files[name]), dir[:len(dir)-1])...)
		}
	}
	var docs []Doc
	for _, name := range names {
		if path.Base(name) == ignoreFile || ignored.match(strings.Split(name, "/")) {
			continue
		}
		more, err := Read(name, files[name])
		if err != nil {
			return nil, err
		}
		docs = append(docs, more...)
	}
	return docs, nil
}
