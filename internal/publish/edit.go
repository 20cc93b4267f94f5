package publish

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/template/kind"
)

// Edit is a change to all templates of a package.
type Edit struct {
	Package string
	// Remove are bundles to remove from the requested channels or from all, and RemoveChannels are channels to
	// remove.
	Remove, RemoveChannels []string
	// Tombstone keeps the entries of Remove for the next version to skip.
	Tombstone bool
	// AllowStranded permits that installed versions lose their path to the head. A deprecation can cause that
	// too, because OLM v1 upgrades to no deprecated bundle.
	AllowStranded bool
	// Deprecation is the message for users of bundles and channels, or of the package if neither is named.
	Deprecate, DeprecateChannels []string
	Deprecation                  string
	// Edges is the bundle whose edges become those of the request.
	Edges string
}

func (e Edit) removes() bool { return len(e.Remove)+len(e.RemoveChannels) > 0 }
func (e Edit) deprecates() bool {
	return e.Deprecation != "" || len(e.Deprecate)+len(e.DeprecateChannels) > 0
}

// Said reports whether an edit is requested.
func (e Edit) Said() bool { return e.removes() || e.deprecates() || e.Edges != "" }

// Check refuses contradictory fields.
func (e Edit) Check() error {
	wrong := func(format string, args ...any) *failure.Error {
		return failure.New(failure.Usage, "reading the inputs: "+format, args...)
	}
	switch {
	case !e.Said() && (e.Package != "" || e.AllowStranded):
		return wrong("package and allow-stranded are for remove, deprecate and edges").Fix("Leave them out, or name what to remove, to deprecate or to give other edges.")
	case e.Tombstone && (len(e.Remove) == 0 || len(e.RemoveChannels) > 0):
		return wrong("tombstone is for bundles that are removed, and for these alone").Fix("Give --remove with --tombstone, and remove channels in another run.")
	case e.removes() && e.deprecates():
		return wrong("something is to be removed, and something deprecated").Fix("Publish, remove and deprecate in separate runs.")
	case e.Edges != "" && (e.removes() || e.deprecates()):
		return wrong("edges is given with remove or deprecate").Fix("Remove, deprecate and change edges in separate runs.")
	case e.deprecates() && e.Deprecation == "":
		return wrong("deprecation is missing").Fix("Give --deprecation with a message for users.")
	case e.Said() && e.Package == "":
		return wrong("the package of %s is unknown", e.facts().Name).Fix("Give --package, or set package in .github/graft.yaml.")
	}
	return nil
}

// names returns the bundles and channels of the edit.
func (e Edit) names() (bundles, channels []string) {
	switch {
	case e.removes():
		return kind.Unique(e.Remove), kind.Unique(e.RemoveChannels)
	case e.Edges != "":
		return []string{e.Edges}, nil
	}
	return kind.Unique(e.Deprecate), kind.Unique(e.DeprecateChannels)
}

func (e Edit) inWords() string {
	bundles, channels := e.names()
	all := slices.Clone(bundles)
	for _, c := range channels {
		all = append(all, "channel "+c)
	}
	if len(all) == 0 {
		return e.Package
	}
	return strings.Join(all, ", ")
}

func (e Edit) facts() Facts { return Facts{Name: e.inWords(), Package: e.Package} }

// learnEdit checks the names, which become part of branches and texts. It sends no request.
func (p *publisher) learnEdit(r Request) (subject, error) {
	if err := r.Edit.Check(); err != nil {
		return nil, err
	}
	bundles, channels := r.Edit.names()
	for _, name := range append(slices.Clone(bundles), r.Edit.Package) {
		if err := plan.CheckNames(r.Edit.Package, name); err != nil {
			return nil, failure.New(failure.Usage, "reading the inputs: %q of package %q: letters, digits and the signs ._+- make a name", name, r.Edit.Package).Fix("Correct the name.")
		}
	}
	for _, c := range slices.Concat(channels, r.Asked.Channels) {
		if err := plan.CheckChannel(c); err != nil {
			return nil, err
		}
	}
	e := edition{asked: r}
	switch {
	case r.Edit.removes():
		return &removal{e}, nil
	case r.Edit.Edges != "":
		return &edges{e}, r.checkEdges()
	}
	return &deprecation{e}, nil
}

// edition is the common part of removals and deprecations.
type edition struct{ asked Request }

func (e *edition) request() Request         { return e.asked }
func (e *edition) facts() Facts             { return e.asked.Edit.facts() }
func (e *edition) version() *semver.Version { return nil }

func (e *edition) verb() string {
	switch {
	case e.asked.Edit.Tombstone:
		return "tombstone"
	case e.asked.Edit.removes():
		return "remove"
	case e.asked.Edit.Edges != "":
		return "edges"
	}
	return "deprecate"
}

func (e *edition) key(bool) string { return e.asked.Edit.Package + "/" + e.slug() }

// slug returns a name for the edit that fits into a branch name.
func (e *edition) slug() string {
	bundles, channels := e.asked.Edit.names()
	words := []string{e.verb()}
	words = append(words, bundles...)
	for _, c := range channels {
		words = append(words, "channel", c)
	}
	slug := strings.Join(words, "-")
	if len(slug) > 100 || strings.Contains(slug, "..") || strings.HasSuffix(slug, ".") || strings.HasSuffix(slug, ".lock") {
		return fmt.Sprintf("%s-%x", e.verb(), sha256.Sum256([]byte(slug)))[:32]
	}
	return slug
}

func (e *edition) branch(t Texts) (string, error) { //nolint:unparam // a subject has it so
	return path.Join(t.EditBranches, e.asked.Edit.Package, e.slug()), nil
}

// covers accepts the same edit, whatever its other parameters.
func (e *edition) covers(r Request) bool {
	other := edition{r}
	return r.Edit.Said() && other.key(false) == e.key(false)
}

func (e *edition) intro(Texts) (string, error) { return "", nil }

// text returns the configured text, or a description of the edit.
func (e *edition) text(said Text, does string) (string, error) {
	if said != nil {
		return said(kind.Bundle{Name: e.asked.Edit.inWords(), Package: e.asked.Edit.Package})
	}
	return does + " " + e.asked.Edit.inWords(), nil
}

// strands reports whether the request allows a finding.
func (e *edition) strands(f graph.Finding) bool {
	asked := e.asked.Edit
	return asked.AllowStranded && f.Package == asked.Package && (f.ID == "upgrade-path-lost" || f.ID == "head-regressed")
}

// eachTarget makes an edit in each existing template and marks the catalogs of changed ones for rendering.
func (e *edition) eachTarget(ctx context.Context, p *preparation, change func(t plan.Target) (*kind.Outcome, error)) (changed bool, err error) {
	facts := e.facts()
	setup, err := p.Setup(p.base, kind.Bundle{Package: facts.Package, Name: facts.Name}) // no version: all templates
	if err != nil {
		return false, err
	}
	about := kind.Bundle{Package: facts.Package, Name: facts.Package}
	made, err := plan.Everywhere(p.files, plan.Input{
		Bundle: about, Asked: plan.Asked{Template: e.asked.Asked.Template, Catalog: e.asked.Asked.Catalog, SemverSkips: e.asked.Asked.SemverSkips}, Setup: setup, Published: p.published(ctx, facts.Package),
	})
	if err != nil {
		return false, err
	}
	if err := p.useSum(setup.Sum); err != nil {
		return false, err
	}
	p.lines.add(made.All, facts.Package)
	p.note(made)
	var errs []error
	for _, t := range made.Targets {
		p.Line("%s: %s", facts.Name, t.Template)
		p.users.add(t, facts.Package)
		o, err := change(t)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		out := p.target(t.Template)
		for _, n := range o.Notes {
			out.note(n)
		}
		p.take(o.Files)
		if out.Changes = append(out.Changes, o.Changes...); len(o.Changes) > 0 {
			changed = true
			p.rendered(t)
		}
	}
	return changed, errors.Join(errs...)
}
