package publish

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/oci"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/reference"
	"github.com/olmgraft/graft/internal/render"
	"github.com/olmgraft/graft/internal/template/kind"
)

// Drift is a catalog that differed from its template before the change, so that rendering it changes more than
// the published bundles.
type Drift struct {
	Catalog  string   `json:"catalog"`
	Template string   `json:"template"`
	Differs  []string `json:"differs"`
}

// Drift returns the drift of all catalogs.
func (w *Work) Drift() (all []Drift) {
	for _, t := range w.Targets {
		for _, c := range t.Catalogs {
			if len(c.differed) > 0 {
				all = append(all, Drift{c.Path, t.Template, c.differed})
			}
		}
	}
	return all
}

// Drifted are catalogs that differed alike from their templates.
type Drifted struct {
	Catalogs  []string
	Templates []string
	Differs   []string
}

// Once joins catalogs that differed alike.
func Once(all []Drift) (out []Drifted) {
	for _, said := range failure.Once(all, func(d Drift) failure.Saying {
		return failure.Saying{Text: strings.Join(d.Differs, "\x00"), Place: d.Catalog, Against: d.Template}
	}) {
		out = append(out, Drifted{said.Places, said.Against, said.First.Differs})
	}
	return out
}

// String lists the first differences.
func (d Drifted) String() string {
	const shown = 5
	text := strings.Join(d.Differs[:min(shown, len(d.Differs))], "; ")
	if n := len(d.Differs) - shown; n > 0 {
		text += fmt.Sprintf("; and %d more", n)
	}
	from := d.Templates[0]
	if len(d.Templates) > 1 {
		from = "their templates"
	}
	return fmt.Sprintf("differed from %s before: %s", from, text)
}

func (w *Work) refuseDrift() (errs []error) {
	for _, d := range Once(w.Drift()) {
		if len(d.Templates) > 1 {
			d.Templates = []string{"its template"}
		}
		for _, catalog := range d.Catalogs {
			errs = append(errs, failure.New(failure.CatalogDrifted, "rendering the catalog: it %s", d).At(catalog, 0, 0))
		}
	}
	return errs
}

// known serves only the bundles that were learned and the catalog's tags: Graft pulls nothing to find differences.
type known struct {
	pulled  map[string]*oci.Pulled
	catalog []fbc.Doc
}

func (k known) Pull(_ context.Context, ref string) (*oci.Pulled, error) {
	if found := k.pulled[ref]; found != nil {
		return found, nil
	}
	return nil, failure.New(failure.BundleNotFound, "reading bundle %s: neither the catalog nor the run has it", ref)
}

func (known) Resolve(_ context.Context, ref string) (string, error) {
	return "", failure.New(failure.BundleNotFound, "resolving %s: the catalog alone is asked", ref)
}

func (k known) Tags(_ context.Context, repository string) (tags []string, _ error) {
	for _, d := range k.catalog {
		if name, tag, _ := reference.Cut(d.Image); name == repository && tag != "" {
			tags = append(tags, tag)
		}
	}
	return kind.Unique(tags), nil
}

// drift renders a catalog from the old template and compares the meaning with the old catalog. Bundles that
// only the template names come from the new catalog. It sets the catalog with which the edit alone is compared.
func (p *preparation) drift(ctx context.Context, from string, c plan.Catalog, before, after []fbc.Doc, out *Catalog) {
	out.standing = out.Before
	if p.mayChange(c.Path) || p.mayChange(c.Path+"/") {
		return // the repository's commands may change it
	}
	if src, err := p.base.ReadFile(from); err != nil || len(src) == 0 || len(before) == 0 {
		return
	}
	all := together(before, after)
	made, err := p.rendering(ctx, p.base.Files, from, c, render.Options{Registry: known{p.pulled, all}, Base: render.NewBase(all)})
	var text bytes.Buffer
	if err == nil {
		err = made.Write(&text)
	}
	if err != nil {
		out.differed = []string{"Graft cannot tell why: " + failure.Of(err).Error()}
		return
	}
	if src, err := p.base.ReadFile(c.Path); err == nil && bytes.Equal(src, text.Bytes()) {
		return
	}
	docs, err := fbc.Read(c.Path, text.Bytes())
	if err != nil {
		return // rendering the new template reports its faults
	}
	if out.differed = differences(before, docs); len(out.differed) == 0 {
		return
	}
	if p.semverSkips[from] == "" && edgesMoved(before, docs) {
		out.skips = p.skipsOf(ctx, from, c, before, after)
	}
	b := graph.Builder{Light: true}
	b.Add(docs)
	out.standing = b.Catalog()
}

// together returns the documents of a catalog, and those of another one for images that it lacks.
func together(catalog, other []fbc.Doc) []fbc.Doc {
	has := map[string]bool{}
	for _, d := range catalog {
		has[d.Image] = true
	}
	all := slices.Clone(catalog)
	for _, d := range other {
		if d.Schema == fbc.SchemaBundle && !has[d.Image] {
			all = append(all, d)
		}
	}
	return all
}

// differences describes how a catalog differs from the rendering of its template.
func differences(catalog, made []fbc.Doc) (all []string) {
	type document struct{ stands, made *fbc.Doc }
	var order []string
	by := map[string]*document{}
	at := func(d *fbc.Doc) *document {
		key := d.Schema + "\x00" + d.Package + "\x00" + d.Name
		if by[key] == nil {
			by[key] = &document{}
			order = append(order, key)
		}
		return by[key]
	}
	for i := range catalog {
		at(&catalog[i]).stands = &catalog[i]
	}
	for i := range made {
		at(&made[i]).made = &made[i]
	}
	for _, key := range order {
		switch d := by[key]; {
		case d.made == nil:
			all = append(all, called(d.stands)+" is in the catalog only")
		case d.stands == nil:
			all = append(all, called(d.made)+" is in the template only")
		case bytes.Equal(d.stands.Raw(), d.made.Raw()):
		case d.stands.Schema == fbc.SchemaChannel:
			all = append(all, entriesDiffer(d.stands, d.made)...)
		case !sameMeaning(d.stands, d.made):
			all = append(all, called(d.stands)+" differs")
		}
	}
	return all
}

func sameMeaning(a, b *fbc.Doc) bool {
	x, err := a.JSON()
	y, err2 := b.JSON()
	return err == nil && err2 == nil && bytes.Equal(x, y)
}

func called(d *fbc.Doc) string {
	switch d.Schema {
	case fbc.SchemaBundle:
		return "bundle " + d.Name
	case fbc.SchemaPackage:
		return "package " + d.Name
	case fbc.SchemaChannel:
		return "channel " + d.Name
	}
	return strings.TrimSpace(d.Schema + " " + d.Name)
}

func entriesDiffer(stands, made *fbc.Doc) (all []string) {
	was, err := stands.Channel()
	is, err2 := made.Channel()
	if err != nil || err2 != nil {
		return []string{called(stands) + " differs"}
	}
	entries := map[string]fbc.Entry{}
	for _, e := range was.Entries {
		entries[e.Name] = e
	}
	for _, e := range is.Entries {
		old, ok := entries[e.Name]
		delete(entries, e.Name)
		if !ok {
			all = append(all, fmt.Sprintf("entry %s of %s is in the template only", e.Name, called(stands)))
		} else if change := edgesChanged(old, e); change != "" {
			all = append(all, fmt.Sprintf("entry %s of %s %s by the template", e.Name, called(stands), change))
		}
	}
	for _, e := range was.Entries {
		if _, ok := entries[e.Name]; ok {
			all = append(all, fmt.Sprintf("entry %s of %s is in the catalog only", e.Name, called(stands)))
		}
	}
	if len(all) == 0 && !sameMeaning(stands, made) {
		all = []string{called(stands) + " differs"}
	}
	return kind.Unique(all)
}
