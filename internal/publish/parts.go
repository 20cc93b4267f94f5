package publish

import (
	"bytes"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/render"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
)

// writeCatalog adds a rendered catalog to the change: its file, or the changed files of its folder.
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

// cut restricts a catalog to a part of its template. The template and the other catalogs from it tell which
// bundles are out.
func (p *preparation) cut(o *render.Options, t *template.Template, c plan.Catalog) {
	if o.Cut = c.Cut; o.Cut.Empty() {
		return
	}
	o.Names = map[string]string{}
	for _, b := range t.Describe().Bundles {
		o.Names[b.Image] = b.Name
	}
	for _, other := range p.catalogs[t.Source.Path] {
		// An unreadable catalog tells nothing.
		if docs, err := documents(p.base.Files, other.Path); err == nil {
			o.Known = append(o.Known, render.NewBase(docs))
		}
	}
}
