package publish

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/operand"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/yamledit"
)

// operandOf is what the configuration says of an image that is no bundle, nil where it
// says nothing.
func (p *publisher) operandOf(r Request) *plan.OperandSetup {
	i := slices.IndexFunc(p.Operands, func(o plan.OperandSetup) bool { return o.Image == r.Repository })
	if i < 0 {
		return nil
	}
	return &p.Operands[i]
}

// learnOperand takes the version from the tag, and the digest that the tag has. Of the image
// itself nothing is read: what is in it is the operator's concern.
func (p *publisher) learnOperand(ctx context.Context, r Request, o *plan.OperandSetup) (item, error) {
	version, ok := graph.VersionOf(r.Tag)
	if !ok {
		return item{}, failure.New(failure.Usage, "publishing %s: its tag is no version, which an entry of operand %s needs", r.Image(), o.Name).
			Fix("Announce it by a tag such as v1.2.3.")
	}
	now, err := p.Registry.Resolve(ctx, r.Repository+":"+r.Tag)
	if err != nil {
		return item{}, err
	}
	if r.Digest != "" && r.Digest != now {
		return item{}, failure.New(failure.DigestMismatch, "publishing %s: the tag is %s now", r.Image(), now)
	}
	r.Digest = now
	return item{Request: r, operand: o, input: plan.Input{Bundle: kind.Bundle{
		Name: o.Name + ".v" + version.String(), Version: version, Package: o.Name, Image: reference(r.Publication), Digest: now,
	}}}, nil
}

// enter adds the entry of an operand's version to each of its files, and tells which
// bundles take it.
func (p *publisher) enter(w *Work, it item) error {
	o := it.operand
	entry, err := operand.NewEntry(o.Schema, o.Package, o.Name, it.input.Bundle.Version.String(), []fbc.RelatedImage{{Name: o.As, Image: o.Image + "@" + it.Digest}})
	if err != nil {
		return err
	}
	added := false
	for _, file := range o.Files {
		src, err := fs.ReadFile(&w.change, file)
		if err != nil {
			return failure.New(failure.TemplateNotFound, "opening %s: %w", file, err).At(file, 0, 0).Fix("Name a template or a catalog that stands in the repository.")
		}
		f, err := yamledit.Open(file, src)
		if err != nil {
			return err
		}
		i, after, err := operand.Add([]*yamledit.File{f}, entry, template.Lists)
		if err != nil {
			return err
		}
		t := w.target(file)
		t.entries = true
		if i >= 0 {
			added = true
			w.change.Set(file, src, after, false)
			t.Changes = append(t.Changes, kind.Change{What: kind.OperandAdded, Name: o.Name, To: entry.Version.String()})
		}
	}
	if added {
		w.items = append(w.items, it)
	}
	return w.takers(it, entry)
}

// takers names the bundles whose claims take the entry, and warns where there are none.
func (w *Work) takers(it item, entry operand.Entry) error {
	var set operand.Set
	catalogs := it.operand.Catalogs
	if len(catalogs) == 0 {
		catalogs = it.operand.Files
	}
	for _, file := range catalogs {
		src, err := fs.ReadFile(&w.change, file)
		if err != nil {
			return failure.New(failure.TemplateNotFound, "opening %s: %w", file, err).At(file, 0, 0).Fix("Name a catalog that stands in the repository.")
		}
		docs, err := fbc.Read(file, src)
		if err != nil {
			return err
		}
		if err := set.Add(docs); err != nil {
			return err
		}
	}
	var names []string
	for _, b := range set.Bundles {
		if (entry.Package == "" || entry.Package == b.Package) && operand.Takes(b.Claims, &entry) {
			names = append(names, b.Name)
		}
	}
	if names = kind.Unique(names); len(names) == 0 {
		w.Warnings = kind.Unique(append(w.Warnings, fmt.Sprintf("no bundle of %s takes %s %s", strings.Join(catalogs, ", "), it.operand.Name, entry.Version)))
		return nil
	}
	w.Reasons = append(w.Reasons, fmt.Sprintf("%s %s is taken by %s.", it.operand.Name, entry.Version, strings.Join(names, ", ")))
	return nil
}
