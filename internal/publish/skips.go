package publish

import (
	"bytes"
	"context"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/render"
	"github.com/olmgraft/graft/internal/template/kind"
)

// skipsOf returns the rule for the skips of minor versions' heads that gives every present entry its edges, for
// a catalog whose edges differ from its template's rendering. It returns "" if no rule does.
func (p *preparation) skipsOf(ctx context.Context, from string, c plan.Catalog, before, after []fbc.Doc) kind.SemverSkips {
	all := together(before, after)
	for _, skips := range kind.AllSemverSkips {
		// A rule that fails to render or read is not the answer.
		made, err := p.renderingWith(ctx, skips, p.base.Files, from, c, render.Options{Registry: known{p.pulled, all}, Base: render.NewBase(all)})
		var text bytes.Buffer
		if err == nil {
			err = made.Write(&text)
		}
		if err != nil {
			continue
		}
		if docs, err := fbc.Read(c.Path, text.Bytes()); err == nil && !edgesMoved(before, docs) {
			return skips
		}
	}
	return ""
}

// edgesMoved reports whether an entry that both catalogs have in the same channel replaces or skips something
// else in the other one.
func edgesMoved(catalog, made []fbc.Doc) bool {
	entries := map[string]fbc.Entry{}
	each := func(docs []fbc.Doc, visit func(key string, e fbc.Entry)) {
		for i := range docs {
			if docs[i].Schema != fbc.SchemaChannel {
				continue
			}
			ch, err := docs[i].Channel()
			if err != nil {
				continue // others report its faults
			}
			for _, e := range ch.Entries {
				visit(ch.Package+"\x00"+ch.Name+"\x00"+e.Name, e)
			}
		}
	}
	each(catalog, func(key string, e fbc.Entry) { entries[key] = e })
	moved := false
	each(made, func(key string, e fbc.Entry) {
		was, stands := entries[key]
		moved = moved || stands && edgesChanged(was, e) != ""
	})
	return moved
}

// refuseSwitch fails a change that would give all entries of a catalog other edges, because the configuration
// does not say which edges its template has.
func (w *Work) refuseSwitch() (errs []error) {
	for _, t := range w.Targets {
		for _, c := range t.Catalogs {
			if c.skips != "" {
				errs = append(errs, failure.New(failure.CatalogDrifted, "rendering the catalog: its edges are those of semverSkips: %s, which is not configured; they would become those of %s", c.skips, kind.SkipMajor).
					At(c.Path, 0, 0).
					Fix("Set semverSkips: %s for %s in graft.yaml, or give --semver-skips; with %s the edges change.", c.skips, t.Template, kind.SkipMajor))
			}
		}
	}
	return errs
}
