package publish

import (
	"slices"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/field"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
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

// setFields sets the values that go with a bundle in files that others read, and reports whether
// one was another.
func (p *preparation) setFields(fields []plan.Field) (changed bool, err error) {
	for _, f := range fields {
		src, err := p.files.ReadFile(f.Path)
		if err != nil {
			return changed, failure.New(failure.EditRefused, "setting %s in %s: %w", f.At, f.Path, err).At(f.Said, f.Line, f.Col).Fix("Name a file that stands in the repository.")
		}
		before, after, err := field.Set(f.Path, src, f.At, f.Value)
		if err != nil {
			return changed, err
		}
		if before == f.Value {
			continue
		}
		changed = true
		p.change.Set(f.Path, src, after, false)
		p.target(f.Path).set(kind.Change{What: kind.FieldSet, Name: f.At, From: before, To: f.Value})
	}
	return changed, nil
}

// set notes what became of a place. Of several bundles the last one counts.
func (t *Target) set(c kind.Change) {
	t.entries = true
	for i, o := range t.Changes {
		if o.What == c.What && o.Name == c.Name {
			t.Changes[i].To = c.To
			return
		}
	}
	t.Changes = append(t.Changes, c)
}

// reusable are the documents of a catalog but for bundles that are rendered anew.
func (p *preparation) reusable(docs []fbc.Doc, c plan.Catalog) []fbc.Doc {
	anew := map[string]bool{}
	for image, moved := range p.anew {
		anew[image], anew[c.Rewrite.Of(image)] = moved, moved
	}
	return slices.DeleteFunc(slices.Clone(docs), func(d fbc.Doc) bool { return d.Schema == fbc.SchemaBundle && anew[d.Image] })
}
