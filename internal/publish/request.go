package publish

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/bundle"
	"github.com/olmgraft/graft/internal/event"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/oci"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/render"
	"github.com/olmgraft/graft/internal/template/kind"
)

// Request is a bundle to publish, and what its publisher asks for. A change is made again
// from its requests and a base alone.
type Request struct {
	event.Publication
	Asked plan.Asked
}

// asking is one thing that can be asked for: an input of the action, a flag, a part of
// a request's text.
type asking struct {
	name string
	one  func(*plan.Asked) *string
	many func(*plan.Asked) *[]string
}

var askings = []asking{
	{name: "channels", many: func(a *plan.Asked) *[]string { return &a.Channels }},
	{name: "template", one: func(a *plan.Asked) *string { return &a.Template }},
	{name: "catalog", one: func(a *plan.Asked) *string { return &a.Catalog }},
	{name: "replaces", one: func(a *plan.Asked) *string { return &a.Edges.Replaces }},
	{name: "skips", many: func(a *plan.Asked) *[]string { return &a.Edges.Skips }},
	{name: "skip-range", one: func(a *plan.Asked) *string { return &a.Edges.SkipRange }},
	{name: "default-channel", one: func(a *plan.Asked) *string { return &a.DefaultChannel }},
	{name: "substitutes-for", one: func(a *plan.Asked) *string { return &a.SubstitutesFor }},
	{name: "create", one: func(a *plan.Asked) *string { return &a.Create }},
}

// Ask reads all that can be asked for by its names.
func Ask(one func(name string) string, many func(name string) []string) plan.Asked {
	var a plan.Asked
	for _, it := range askings {
		if it.many != nil {
			*it.many(&a) = many(it.name)
		} else {
			*it.one(&a) = one(it.name)
		}
	}
	return a
}

// said gives what is asked for as pairs of a name and a value.
func (r Request) said(visit func(name, value string)) {
	for _, it := range askings {
		var value string
		if it.many != nil {
			value = strings.Join(*it.many(&r.Asked), ",")
		} else {
			value = *it.one(&r.Asked)
		}
		if value != "" {
			visit(it.name, value)
		}
	}
}

// String is the request in one line, as commits and pull requests keep it: the image
// and, as the query of a URL, what is asked for.
func (r Request) String() string {
	query := url.Values{}
	r.said(query.Set)
	if len(query) == 0 {
		return r.Image()
	}
	return r.Image() + "?" + query.Encode()
}

// ParseRequest reads what String wrote. It may have been edited since.
func ParseRequest(text string) (Request, error) {
	image, query, _ := strings.Cut(text, "?")
	p, err := event.ParseReference(image)
	if err != nil {
		return Request{}, err
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return Request{}, failure.New(failure.Usage, "reading the request for %s: %w", p.Image(), err)
	}
	for name := range values {
		if !slices.ContainsFunc(askings, func(it asking) bool { return it.name == name }) {
			return Request{}, failure.New(failure.Usage, "reading the request for %s: nobody can ask for %q", p.Image(), name)
		}
	}
	many := func(name string) []string {
		return strings.FieldsFunc(values.Get(name), func(r rune) bool { return r == ',' })
	}
	return Request{Publication: p, Asked: Ask(values.Get, many)}, nil
}

// Command is what does the same at a desk.
func (r Request) Command() string {
	words := []string{"graft publish --dry-run --image", quoted(r.Image())}
	r.said(func(name, value string) { words = append(words, "--"+name, quoted(value)) })
	return strings.Join(words, " ")
}

func quoted(word string) string {
	if strings.IndexFunc(word, func(r rune) bool {
		return !strings.ContainsRune("@%+=:,./_-", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// sameImage reports whether two requests are for one tag, or for one digest where there
// is no tag: of those the later one counts.
func sameImage(a, b Request) bool {
	return a.Repository == b.Repository && a.Tag == b.Tag && (a.Tag != "" || a.Digest == b.Digest)
}

// item is a request with the facts of its bundle, and the image that they were read from;
// or an operand's or a catalog image's, whose name stands in the place of a bundle's.
type item struct {
	Request
	input        plan.Input
	pulled       *oci.Pulled
	operand      *plan.OperandSetup // nil for anything else
	catalogImage bool
	warning      string // that its change is to tell
}

// covers reports whether an item takes the place of a request: of one for the same image,
// and of any for a repository of catalog images.
func (it item) covers(r Request) bool {
	return sameImage(it.Request, r) || it.catalogImage && it.Repository == r.Repository
}

// learn pulls the bundle's facts, once for each request. The digest that was announced is
// what is pulled, and must be what the tag says. One that was just announced is waited for
// with patience.
func (p *publisher) learn(ctx context.Context, r Request, patience time.Duration) (item, error) {
	key := r.String()
	if known, ok := p.learned[key]; ok {
		return known, nil
	}
	if p.Allow != nil {
		if err := p.Allow(r.Publication); err != nil {
			return item{}, err
		}
	}
	if IsCatalogImage(p.CatalogSources, r.Repository) {
		return p.learnCatalogImage(ctx, r, patience)
	}
	if o := p.operandOf(r); o != nil {
		it, err := p.learnOperand(ctx, r, o)
		if err == nil {
			p.learned[key] = it
		}
		return it, err
	}
	pulled, err := p.await(ctx, r.Publication, patience)
	if err != nil {
		return item{}, err
	}
	it, err := factsOf(r, pulled)
	if err == nil {
		p.learned[key] = it
	}
	return it, err
}

func factsOf(r Request, pulled *oci.Pulled) (item, error) {
	parsed, err := bundle.Parse(bundle.Image{Ref: reference(r.Publication), Labels: pulled.Labels, Files: pulled.Files})
	if err != nil {
		return item{}, err
	}
	facts, err := parsed.Facts()
	if err != nil {
		return item{}, err
	}
	if said := r.Said; said.Name != "" && said.Name != facts.Name || said.Package != "" && said.Package != facts.Package || said.Version != "" && said.Version != facts.Version {
		return item{}, failure.New(failure.BundleConflict, "reading bundle %s: it is %s %s of package %s, announced was %s %s of %s", r.Image(), facts.Name, facts.Version, facts.Package, said.Name, said.Version, said.Package).
			Fix("Correct what sends the event.")
	}
	version, err := semver.Parse(facts.Version)
	if err != nil {
		return item{}, failure.New(failure.BundleInvalid, "reading bundle %s: %w", r.Image(), err)
	}
	if err := plan.CheckNames(facts.Package, facts.Name); err != nil {
		return item{}, err
	}
	if len(r.Asked.Channels) == 0 {
		r.Asked.Channels = r.Said.Channels
	}
	r.Digest = pulled.Digest
	return item{Request: r, input: plan.Input{
		Bundle: kind.Bundle{
			Name: facts.Name, Version: version, Package: facts.Package, Image: reference(r.Publication), Digest: pulled.Digest,
			Document: parsed.Document,
		},
		OpenShiftVersions: facts.OpenShiftVersions,
		Annotated:         facts.Channels,
		Asked:             r.Asked,
	}, pulled: pulled}, nil
}

// reference is how templates name the image: by tag where one was announced, as people
// read it, else by digest.
func reference(p event.Publication) string {
	if p.Tag != "" {
		return p.Repository + ":" + p.Tag
	}
	return p.Reference()
}

// await pulls the bundle.
func (p *publisher) await(ctx context.Context, image event.Publication, patience time.Duration) (pulled *oci.Pulled, err error) {
	err = p.patiently(ctx, image.Reference(), patience, func() error {
		if pulled, err = p.Registry.Pull(ctx, image.Reference()); err != nil {
			return err
		}
		return p.checkTag(ctx, image)
	})
	return pulled, err
}

// patiently asks for an image that is not there yet again for a while, since some registries
// announce before they serve.
func (p *publisher) patiently(ctx context.Context, image string, patience time.Duration, ask func() error) error {
	waited := time.Duration(0)
	for wait := time.Second; ; wait *= 2 {
		err := ask()
		if err == nil || !failure.Is(err, failure.BundleNotFound) || waited >= patience {
			return err
		}
		p.log("%s is not there yet, asking again in %v", image, wait)
		if slept := p.Sleep(ctx, wait); slept != nil {
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return err
			}
			return failure.New(failure.Interrupted, "waiting: %w", context.Cause(ctx))
		}
		waited += wait
	}
}

// pinned serves what was learned already in place of pulling it again: what is rendered
// is what was checked, whatever its tag says by then.
type pinned struct {
	render.Registry
	images map[string]*oci.Pulled
}

func (p pinned) Pull(ctx context.Context, ref string) (*oci.Pulled, error) {
	if known := p.images[ref]; known != nil {
		return known, nil
	}
	return p.Registry.Pull(ctx, ref)
}

func (p *publisher) pinned(items []item) render.Registry {
	images := map[string]*oci.Pulled{}
	for _, it := range items {
		if it.pulled == nil {
			continue
		}
		images[reference(it.Publication)] = it.pulled
	}
	return pinned{p.Registry, images}
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
