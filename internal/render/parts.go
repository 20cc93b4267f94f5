package render

import (
	"io"
	"io/fs"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/fbc/parts"
)

// Parts returns the files that must change so that a directory contains the catalog; see parts.Write. standing
// holds the directory's current documents.
func (r *Result) Parts(fsys fs.FS, dir string, standing []fbc.Doc) ([]parts.File, error) {
	// Refuse what opm would drop, as for a single file.
	if err := r.Write(io.Discard); err != nil {
		return nil, err
	}
	return parts.Write(fsys, dir, standing, r.blobs)
}
