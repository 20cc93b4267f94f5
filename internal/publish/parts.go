package publish

import (
	"bytes"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/render"
	"github.com/olmgraft/graft/internal/template/kind"
)

// writeCatalog puts a rendered catalog into the change: its file, or those parts of its folder
// that differ.
func (p *preparation) writeCatalog(c plan.Catalog, before []fbc.Doc, result *render.Result) error {
	if !c.Folder {
		var text bytes.Buffer
		if err := result.Write(&text); err != nil {
			return err
		}
		return p.write(c.Path, text.Bytes())
	}
	files, err := result.Parts(p.files, c.Path, before)
	for _, f := range files {
		p.take([]kind.Written{kind.Written(f)})
	}
	return err
}
