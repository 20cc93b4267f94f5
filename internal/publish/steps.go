package publish

import (
	"slices"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/template"
)

// addRewritten adds the bundles of a template whose images a catalog names otherwise.
func (p *preparation) addRewritten(names map[string]string, from string, c plan.Catalog) {
	tmpl, err := template.Open(p.files, from, from)
	if err != nil {
		return // as who edits it will say
	}
	for _, b := range tmpl.Describe().Bundles {
		if name := names[c.Rewrite.Of(b.Image)]; name != "" {
			names[b.Image] = name
		}
	}
}

// reusable are the documents of a catalog but for bundles that are rendered anew.
func (p *preparation) reusable(docs []fbc.Doc, c plan.Catalog) []fbc.Doc {
	anew := map[string]bool{}
	for image, moved := range p.anew {
		anew[image], anew[c.Rewrite.Of(image)] = moved, moved
	}
	return slices.DeleteFunc(slices.Clone(docs), func(d fbc.Doc) bool { return d.Schema == fbc.SchemaBundle && anew[d.Image] })
}
