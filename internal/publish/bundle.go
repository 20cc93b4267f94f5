package publish

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/bundle"
	"github.com/olmgraft/graft/internal/event"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/markdown"
	"github.com/olmgraft/graft/internal/oci"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/render"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
)

// bundleImage is a bundle to insert into templates.
type bundleImage struct {
	versioned
	openShiftVersions string
	annotated         []string // channels
	stated            plan.Edges
	replaced          []replacement // replaced images; empty if the bundle was added
	stands            bool          // already in every template; only other files lack it
}

// learnBundle pulls the facts of a bundle. It pulls the announced digest, which must be the tag's.
func (p *publisher) learnBundle(ctx context.Context, r Request, patience time.Duration) early {
	pulled, err := p.pull(ctx, r.Publication, patience)
	if err != nil {
		return early{err: err}
	}
	b, err := bundleOf(ctx, r, pulled)
	if err != nil {
		return early{err: err}
	}
	return early{subject: b, pulled: pulled}
}

func bundleOf(ctx context.Context, r Request, pulled *oci.Pulled) (*bundleImage, error) {
	parsed, err := bundle.Parse(ctx, bundle.Image{Ref: imageOf(r.Publication), Labels: pulled.Labels, Files: pulled.Files})
	if err != nil {
		return nil, err
	}
	facts, err := parsed.Facts()
	if err != nil {
		return nil, err
	}
	if said := r.Said; said.Name != "" && said.Name != facts.Name || said.Package != "" && said.Package != facts.Package || said.Version != "" && said.Version != facts.Version {
		return nil, failure.New(failure.BundleConflict, "reading bundle %s: it is %s %s of package %s, announced was %s %s of %s", r.Image(), facts.Name, facts.Version, facts.Package, said.Name, said.Version, said.Package).
			Fix("Correct the sender of the event.")
	}
	version, err := semver.Parse(facts.Version)
	if err != nil {
		return nil, failure.New(failure.BundleInvalid, "reading bundle %s: %w", r.Image(), err)
	}
	if err := plan.CheckNames(facts.Package, facts.Name); err != nil {
		return nil, err
	}
	if len(r.Asked.Channels) == 0 {
		r.Asked.Channels = r.Said.Channels
	}
	r.Digest = pulled.Digest
	return &bundleImage{
		versioned: versioned{asked: r, bundle: kind.Bundle{
			Name: facts.Name, Version: version, Package: facts.Package, Image: imageOf(r.Publication), Digest: pulled.Digest, Document: parsed.Document,
		}},
		openShiftVersions: facts.OpenShiftVersions,
		annotated:         facts.Channels,
		stated:            plan.Edges{Replaces: facts.Replaces, Skips: facts.Skips, SkipRange: facts.SkipRange},
	}, nil
}

func (p *publisher) pull(ctx context.Context, image event.Publication, patience time.Duration) (pulled *oci.Pulled, err error) {
	err = p.patiently(ctx, image.Reference(), patience, func() error {
		if pulled, err = p.Registry.Pull(ctx, image.Reference()); err != nil {
			return err
		}
		return p.checkTag(ctx, image)
	})
	return pulled, err
}

func (p *publisher) checkTag(ctx context.Context, image event.Publication) error {
	if image.Tag == "" || image.Digest == "" {
		return nil
	}
	tagged := image.Repository + ":" + image.Tag
	now, err := p.Registry.Resolve(ctx, tagged)
	if err != nil {
		return err
	}
	if now != image.Digest {
		return failure.New(failure.DigestMismatch, "reading bundle %s: the tag is %s now, announced was %s", tagged, now, image.Digest)
	}
	return nil
}

// pinned returns an image that was already pulled instead of pulling it again, so that the rendered image is
// the checked one even if its tag has moved.
type pinned struct {
	render.Registry
	pulled map[string]*oci.Pulled
}

func (p pinned) Pull(ctx context.Context, ref string) (*oci.Pulled, error) {
	if known := p.pulled[ref]; known != nil {
		return known, nil
	}
	return p.Registry.Pull(ctx, ref)
}

func (b *bundleImage) describe(out *strings.Builder) {
	does := "Adds bundle"
	switch {
	case b.stands:
		does = "Names in other files bundle"
	case b.rebuilt():
		does = "Rebuild of bundle"
	}
	fmt.Fprintf(out, "%s %s, version %s of package %s.\n\n", does, markdown.Code(b.bundle.Name), markdown.Code(b.bundle.Version.String()), markdown.Code(b.bundle.Package))
	b.image(out)
	for _, r := range b.replaced {
		r.describe(out)
	}
}

// edit inserts the bundle into all of its templates, based on the edits of earlier subjects.
func (b *bundleImage) edit(ctx context.Context, p *preparation) (subject, error) {
	setup, err := p.Setup(p.base, b.bundle)
	if err != nil {
		return nil, err
	}
	made, err := plan.Make(p.files, plan.Input{Bundle: b.bundle, OpenShiftVersions: b.openShiftVersions, Annotated: b.annotated, Stated: b.stated, Asked: b.asked.Asked, Setup: setup, Published: p.published(ctx, b.bundle.Package), Trusted: p.Allow != nil})
	if err != nil {
		return nil, err
	}
	if c := setup.Community; c != nil && !slices.Contains(p.operators, *c) {
		p.operators = append(p.operators, *c)
	}
	if err := p.useSum(setup.Sum); err != nil {
		return nil, err
	}
	p.after = setup.After
	rebuilds, released := false, false
	var templates []string
	for _, t := range made.Targets {
		templates = append(templates, t.Template)
		p.users.add(t, b.bundle.Package)
		for _, r := range t.Requests {
			if r.InsteadOf != "" {
				p.givenUp[r.InsteadOf] = true
			}
			// An image that a published catalog names by this tag does not change.
			out := r.Published.Image(b.bundle.Name) == made.Bundle.Image
			rebuilds, released = rebuilds || r.Rebuild && !out, released || out
		}
	}
	if rebuilds {
		// An image named by digest does not change; a tag may have moved.
		p.anew[made.Bundle.Image] = !strings.Contains(made.Bundle.Image, "@")
	} else if was := p.recorded(made.Bundle.Image); was != "" && was != b.asked.Digest {
		return nil, refused(made.Bundle, released, "its tag was %s when %s recorded it, and is %s now", was, p.sumFile, b.asked.Digest).At(p.sumFile, 0, 0)
	}
	p.lines.add(made.All, b.bundle.Package)
	p.note(made)
	if len(made.Targets) == 0 {
		p.nowhere = append(p.nowhere, b.bundle.Name)
	} else {
		p.Line("%s: %s", b.bundle.Name, few(templates))
	}
	named, changed, set := *b, false, false
	named.bundle = made.Bundle
	for _, t := range made.Targets {
		changes, err := p.insert(ctx, t, b.bundle.Name)
		if err != nil {
			return nil, err
		}
		if len(changes) == 0 {
			if changes, err = p.tagMoved(t, made.Bundle, rebuilds, released); err != nil {
				return nil, err
			}
		}
		changed = changed || len(changes) > 0
		named.gaveWay(ctx, p, changes, t.Catalogs)
		p.rendered(t)
		fields, err := p.setFields(t.Fields)
		if err != nil {
			return nil, err
		}
		set = set || fields
	}
	if !changed && !set {
		return nil, nil
	}
	named.stands = !changed
	for _, r := range named.replaced {
		if swept := b.asked.Swept; swept != nil && r.From != made.Bundle.Image && swept.has(r.From) {
			return nil, refused(made.Bundle, false, "the template has it with image %s, which is tagged still", r.From)
		}
	}
	if p.sum != nil {
		for _, r := range named.replaced {
			p.sum.Forget(r.From)
		}
	}
	return &named, nil
}

// note records a plan's messages. If there are several subjects, each message names its own.
func (p *preparation) note(made *plan.Plan) {
	about := p.about(made.Bundle.Name)
	for _, left := range made.LeftOut {
		left.Reason = about(left.Reason)
		p.LeftOut = append(p.LeftOut, left)
	}
	for _, reason := range made.Reasons {
		p.Reasons = append(p.Reasons, about(reason))
	}
	for _, warning := range made.Warnings {
		p.Warnings = kind.Unique(append(p.Warnings, about(warning)))
	}
}

func (p *preparation) about(name string) func(text string) string {
	return func(text string) string {
		if p.several {
			return name + ": " + text
		}
		return text
	}
}

// names returns the bundles of the images in a target's catalogs.
func (p *preparation) names(t plan.Target) map[string]string {
	names := map[string]string{}
	for _, c := range t.Catalogs {
		// An unreadable catalog has no names and is rendered again.
		docs, err := documents(p.base.Files, c.Path)
		if err != nil {
			continue
		}
		kind.AddNames(names, docs)
		if len(c.Rewrite) > 0 {
			p.addRewritten(names, t.Template, c)
		}
	}
	return names
}

// namesOf asks the registry for the bundle names of images, and returns which registry it asked.
func (p *preparation) namesOf(ctx context.Context, asked string) func(images []string) (map[string]string, string) {
	return func(images []string) (map[string]string, string) {
		return render.Names(ctx, pinned{p.Registry, p.pulled}, p.Jobs, images), asked
	}
}

// insert inserts the requests of a target and returns the changes.
func (p *preparation) insert(ctx context.Context, t plan.Target, name string) (changes []kind.Change, err error) {
	out, about := p.target(t.Template), p.about(name)
	out.archetypes = len(template.Traits(t.Kind).Archetypes) > 0
	for _, reason := range t.Reasons {
		out.note(about(reason))
	}
	create := ""
	if t.Create {
		create = t.Kind
	}
	names, asked := p.names(t), "the target's catalogs, the registry"
	if len(t.Published) > 0 {
		asked = "the target's and the published catalogs, the registry"
	}
	for _, request := range t.Requests {
		known := maps.Clone(names)
		maps.Copy(known, request.Names)
		request.Names = known
		request.DigestOf = p.sum.Digest
		request.NamesOf = p.namesOf(ctx, asked)
		o, err := template.Insert(p.files, t.Template, t.Template, create, t.Names, request)
		if err != nil {
			return nil, err
		}
		p.take(o.Files)
		changes = append(changes, o.Changes...)
		out.Changes = append(out.Changes, o.Changes...)
		for _, n := range o.Notes {
			out.note(about(n))
		}
	}
	return changes, nil
}
