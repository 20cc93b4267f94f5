package cli

import (
	"io"
	"os"
	"path/filepath"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
)

// loadCatalog reads the documents of a catalog: a file, a directory, or - for
// standard input.
func (a *app) loadCatalog(name string) ([]fbc.Doc, error) {
	if name == "-" {
		src, err := io.ReadAll(a.In)
		if err != nil {
			return nil, failure.New(failure.Usage, "reading standard input: %w", err)
		}
		return fbc.Read("standard input", src)
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, failure.New(failure.TemplateNotFound, "opening the catalog %s: there is no such file or directory", name).At(name, 0, 0).
			Fix("Correct the path.")
	}
	if info.IsDir() {
		docs, err := fbc.ReadFS(os.DirFS(name), ".")
		for i := range docs {
			docs[i].File = filepath.Join(name, docs[i].File)
		}
		return docs, err
	}
	src, err := os.ReadFile(name)
	if err != nil {
		return nil, failure.New(failure.TemplateNotFound, "reading the catalog %s: %w", name, err).At(name, 0, 0)
	}
	return fbc.Read(name, src)
}
