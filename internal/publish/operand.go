package publish

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/markdown"
	"github.com/olmgraft/graft/internal/operand"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/yamledit"
)

// operandImage is a version of an operand to add to files.
type operandImage struct {
	versioned
	setup *plan.OperandSetup
}

// operandOf returns the configuration for an image that is not a bundle, or nil.
func (p *publisher) operandOf(r Request) *plan.OperandSetup {
	i := slices.IndexFunc(p.Operands, func(o plan.OperandSetup) bool { return o.Image == r.Repository })
	if i < 0 {
		return nil
	}
	return &p.Operands[i]
}

// learnOperand reads the version from the tag, and the tag's digest. It does not read the image's content,
// which is the operator's concern.
func (p *publisher) learnOperand(ctx context.Context, r Request, o *plan.OperandSetup) (subject, error) {
	version, ok := graph.VersionOf(r.Tag)
	if !ok {
		return nil, failure.New(failure.Usage, "publishing %s: its tag is no version, which an entry of operand %s needs", r.Image(), o.Name).
			Fix("Announce it by a tag such as v1.2.3.")
	}
	now, err := p.Registry.Resolve(ctx, r.Repository+":"+r.Tag)
	if err != nil {
		return nil, err
	}
	if r.Digest != "" && r.Digest != now {
		return nil, failure.New(failure.DigestMismatch, "publishing %s: the tag is %s now", r.Image(), now)
	}
	r.Digest = now
	return &operandImage{setup: o, versioned: versioned{asked: r, bundle: kind.Bundle{
		Name: o.Name + ".v" + version.String(), Version: version, Package: o.Name, Image: imageOf(r.Publication), Digest: now,
	}}}, nil
}

func (o *operandImage) describe(b *strings.Builder) {
	fmt.Fprintf(b, "Adds version %s of operand %s.\n\n", markdown.Code(o.bundle.Version.String()), markdown.Code(o.setup.Name))
	o.image(b)
}

// edit adds the version's entry to each file, and reports which bundles accept it.
func (o *operandImage) edit(_ context.Context, p *preparation) (subject, error) {
	s := o.setup
	entry, err := operand.NewEntry(s.Schema, s.Package, s.Name, o.bundle.Version.String(), []fbc.RelatedImage{{Name: s.As, Image: s.Image + "@" + o.asked.Digest}})
	if err != nil {
		return nil, err
	}
	var added subject
	for _, file := range s.Files {
		src, err := p.files.ReadFile(file)
		if err != nil {
			return nil, failure.New(failure.TemplateNotFound, "opening %s: %w", file, err).At(file, 0, 0).Fix("Name a template or a catalog in the repository.")
		}
		f, err := yamledit.Open(file, src)
		if err != nil {
			return nil, err
		}
		i, after, err := operand.Add([]*yamledit.File{f}, entry, template.Lists)
		if err != nil {
			return nil, err
		}
		t := p.target(file)
		t.entries = true
		if i >= 0 {
			added = o
			p.change.Set(file, src, after, false)
			t.Changes = append(t.Changes, kind.Change{What: kind.OperandAdded, Name: s.Name, To: entry.Version.String()})
		}
	}
	return added, o.takenBy(p, entry)
}

// takenBy names the bundles whose claims accept the entry, and warns if there are none.
func (o *operandImage) takenBy(p *preparation, entry operand.Entry) error {
	var set operand.Set
	catalogs := o.setup.Catalogs
	if len(catalogs) == 0 {
		catalogs = o.setup.Files
	}
	for _, file := range catalogs {
		if _, err := p.files.ReadFile(file); err != nil {
			return failure.New(failure.TemplateNotFound, "opening %s: %w", file, err).At(file, 0, 0).Fix("Name a catalog in the repository.")
		}
		docs, err := p.files.Catalog(file)
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
		p.Warnings = kind.Unique(append(p.Warnings, fmt.Sprintf("no bundle of %s takes %s %s", strings.Join(catalogs, ", "), o.setup.Name, entry.Version)))
		return nil
	}
	p.Reasons = append(p.Reasons, fmt.Sprintf("%s %s is taken by %s.", o.setup.Name, entry.Version, strings.Join(names, ", ")))
	return nil
}
