package fbc

import (
	"errors"
	"io/fs"
	"path"

	"github.com/olmgraft/graft/internal/failure"
)

// ReadFS reads a catalog directory as opm does: every file below it, whatever its name, except those that its
// .indexignore files exclude. Documents come in the order of the files' paths; File is the path in fsys. If root
// is a file, ReadFS reads that file.
func ReadFS(fsys fs.FS, root string) ([]Doc, error) {
	info, err := fs.Stat(fsys, root)
	if err != nil {
		return nil, unreadable(root, err)
	}
	if !info.IsDir() {
		return readFile(fsys, root)
	}
	var docs []Doc
	err = WalkFS(fsys, root, func(more []Doc, err error) error {
		docs = append(docs, more...)
		return err
	})
	if err != nil {
		return nil, err
	}
	return docs, nil
}

func readFile(fsys fs.FS, file string) ([]Doc, error) {
	src, err := fs.ReadFile(fsys, file)
	if err != nil {
		return nil, unreadable(file, err)
	}
	return Read(file, src)
}

func unreadable(file string, err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		err = pe.Err // the failure's place already names the path
	}
	code, remedy := failure.TemplateMalformed, "Make the file readable, or name it in .indexignore."
	if errors.Is(err, fs.ErrNotExist) {
		code, remedy = failure.TemplateNotFound, "Correct the path of the catalog."
	}
	return failure.New(code, "reading a catalog: %w", err).At(path.Clean(file), 0, 0).Fix("%s", remedy)
}
