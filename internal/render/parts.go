package render

import (
	"io"
	"io/fs"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/fbc/parts"
)

// Parts gives the files that change so that a directory holds the catalog; see parts.Write.
// Standing are its documents as they are now.
func (r *Result) Parts(fsys fs.FS, dir string, standing []fbc.Doc) ([]parts.File, error) {
	// What opm would drop is refused, as in one file.
	if err := r.Write(io.Discard); err != nil {
		return nil, err
	}
	return parts.Write(fsys, dir, standing, r.blobs)
}
