// Package publish is the pipeline from what a registry announced to one pull request:
// plan, insert, render, verify, commit, push, pull request. It knows the order and none
// of the details; registry, repository and forge come in as interfaces.
package publish

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/olmgraft/graft/internal/bundle"
	"github.com/olmgraft/graft/internal/event"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/gitrepo"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/oci"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/render"
	"github.com/olmgraft/graft/internal/template/kind"

	"github.com/blang/semver/v4"
)

// Repository is where catalogs are kept.
type Repository interface {
	// Base gives the content of the base branch as it is now, and its commit.
	Base(ctx context.Context) (content fs.FS, commit string, err error)
	// Deliver puts files onto a branch upon a commit of the base. It is
	// git-race-lost where the base or the branch moved meanwhile, and branch-edited
	// where a person committed to the branch.
	Deliver(ctx context.Context, d Delivery) (commit string, changed bool, err error)
}

// Delivery is a commit to be made.
type Delivery struct {
	Base    string // the commit that the files were made upon
	Branch  string
	Message string
	Request string // what the commit answers
	Files   map[string][]byte
	Force   bool
}

// Forge keeps the pull request.
type Forge interface {
	// Propose makes the pull request from a branch be as asked.
	Propose(ctx context.Context, p Proposal) (Proposed, error)
}

// Proposal is a pull request as it should be.
type Proposal struct {
	Branch, Title, Body, Key string
	Request                  any // what the pull request's marker keeps, to make it again
	Bundle                   kind.Bundle
}

// Proposed is what became of a proposal.
type Proposed struct {
	Number    int
	URL       string
	Operation string
	Notes     []string
}

// Options of a run.
type Options struct {
	Registry   render.Registry
	Repository Repository
	Forge      Forge // nil: the run ends with the branch
	Levels     graph.Levels
	Jobs       int
	Cache      *oci.Cache
	Progress   func(done, total int, image string)
	Log        func(format string, args ...any)

	// Setup is what a repository says of a bundle's places.
	Setup func(content fs.FS, b kind.Bundle) (*plan.Setup, error)
	Asked plan.Asked

	Branch, Title, Message Text
	DryRun, Force          bool
	// Attempts at a base that moves between read and push; 0 means 5.
	Attempts int
	// Patience is how long a bundle is waited for that was announced before it can
	// be served.
	Patience time.Duration
	Sleep    func(context.Context, time.Duration) error
}

// Text makes a text of the bundle's facts.
type Text func(kind.Bundle) (string, error)

// Result is what a run came to.
type Result struct {
	// Result is created, updated, unchanged or planned.
	Result   string
	Work     *Work
	Branch   string
	Commit   string
	Body     string
	Proposed Proposed
	Digest   string
}

// run is the publishing of one bundle.
type run struct {
	Options
	input plan.Input
}

func (r *run) log(format string, args ...any) {
	if r.Log != nil {
		r.Log(format, args...)
	}
}

// Publish publishes one bundle. The edits are a function of base and request: where the
// base moves between read and push, all is done again upon the new one.
func Publish(ctx context.Context, p event.Publication, o Options) (*Result, error) {
	r := &run{Options: o}
	if err := r.learn(ctx, p); err != nil {
		return nil, err
	}
	attempts := o.Attempts
	if attempts <= 0 {
		attempts = 5
	}
	var result *Result
	err := gitrepo.Retry(ctx, attempts, 200*time.Millisecond, func(n int) (err error) {
		if n > 1 {
			r.log("the base moved, trying again upon the new one (%d of %d)", n, attempts)
		}
		result, err = r.once(ctx)
		return err
	})
	return result, err
}

// learn pulls the bundle's facts. The digest that was announced is what is pulled, and
// must be what the tag says.
func (r *run) learn(ctx context.Context, p event.Publication) error {
	pulled, err := r.await(ctx, p)
	if err != nil {
		return err
	}
	image := p.Image()
	parsed, err := bundle.Parse(bundle.Image{Ref: reference(p), Labels: pulled.Labels, Files: pulled.Files})
	if err != nil {
		return err
	}
	facts, err := parsed.Facts()
	if err != nil {
		return err
	}
	if said := p.Said; said.Name != "" && said.Name != facts.Name || said.Package != "" && said.Package != facts.Package || said.Version != "" && said.Version != facts.Version {
		return failure.New(failure.BundleConflict, "reading bundle %s: it is %s %s of package %s, announced was %s %s of %s", image, facts.Name, facts.Version, facts.Package, said.Name, said.Version, said.Package).
			Fix("Correct what sends the event.")
	}
	version, err := semver.Parse(facts.Version)
	if err != nil {
		return failure.New(failure.BundleInvalid, "reading bundle %s: %w", image, err)
	}
	r.input = plan.Input{
		Bundle: kind.Bundle{
			Name: facts.Name, Version: version, Package: facts.Package, Image: reference(p), Digest: pulled.Digest,
			Document: document(parsed),
		},
		OpenShiftVersions: facts.OpenShiftVersions,
		Annotated:         facts.Channels,
		Asked:             r.Asked,
	}
	if len(r.input.Asked.Channels) == 0 {
		r.input.Asked.Channels = p.Said.Channels
	}
	return nil
}

// reference is how templates name the image: by tag where one was announced, as people
// read it, else by digest.
func reference(p event.Publication) string {
	if p.Tag != "" {
		return p.Repository + ":" + p.Tag
	}
	return p.Reference()
}

func document(b *bundle.Bundle) func(bool) ([]byte, error) {
	return func(csvMetadata bool) ([]byte, error) {
		format := bundle.BundleObjects
		if csvMetadata {
			format = bundle.CSVMetadata
		}
		doc, err := b.Render(format)
		if err != nil {
			return nil, err
		}
		return bundle.Document(doc)
	}
}

// await pulls the bundle; one that is not there yet is asked for again for a while,
// since some registries announce before they serve.
func (r *run) await(ctx context.Context, p event.Publication) (*oci.Pulled, error) {
	waited := time.Duration(0)
	for wait := time.Second; ; wait *= 2 {
		pulled, err := r.Registry.Pull(ctx, p.Reference())
		if err == nil {
			return pulled, r.checkTag(ctx, p, pulled.Digest)
		}
		if !failure.Is(err, failure.BundleNotFound) || waited >= r.Patience {
			return nil, err
		}
		r.log("%s is not there yet, asking again in %v", p.Reference(), wait)
		if slept := r.sleep(ctx, wait); slept != nil {
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return nil, err
			}
			return nil, slept
		}
		waited += wait
	}
}

func (r *run) checkTag(ctx context.Context, p event.Publication, pulled string) error {
	if p.Tag == "" || p.Digest == "" {
		return nil
	}
	now, err := r.Registry.Resolve(ctx, p.Repository+":"+p.Tag)
	if err != nil {
		return err
	}
	if now != p.Digest {
		return failure.New(failure.DigestMismatch, "reading bundle %s: the tag is %s now, announced was %s", p.Repository+":"+p.Tag, now, pulled)
	}
	return nil
}

func (r *run) sleep(ctx context.Context, d time.Duration) error {
	if r.Sleep != nil {
		return r.Sleep(ctx, d)
	}
	select {
	case <-ctx.Done():
		return failure.New(failure.Interrupted, "waiting: %w", context.Cause(ctx))
	case <-time.After(d):
		return nil
	}
}

// once makes one attempt upon the base as it is now.
func (r *run) once(ctx context.Context) (*Result, error) {
	base, commit, err := r.Repository.Base(ctx)
	if err != nil {
		return nil, err
	}
	work, err := r.prepare(ctx, base)
	out := &Result{Result: "unchanged", Work: work, Digest: r.input.Bundle.Digest}
	if err != nil {
		return out, err
	}
	changed := work.Changed()
	if len(changed) == 0 {
		r.log("%s stands in every catalog already", work.Bundle.Name)
		return out, nil
	}
	if out.Branch, err = r.Branch(work.Bundle); err != nil {
		return out, err
	}
	out.Body = work.body(r.reproduce(), work.Plan.Warnings)
	if r.DryRun {
		out.Result = "planned"
		return out, nil
	}
	return out, r.deliver(ctx, out, commit, changed)
}

func (r *run) deliver(ctx context.Context, out *Result, base string, changed []string) error {
	message, err := r.Message(out.Work.Bundle)
	title, titleErr := r.Title(out.Work.Bundle)
	if err := errors.Join(err, titleErr); err != nil {
		return err
	}
	files := map[string][]byte{}
	for _, name := range changed {
		_, files[name] = out.Work.File(name)
	}
	var pushed bool
	out.Commit, pushed, err = r.Repository.Deliver(ctx, Delivery{Base: base, Branch: out.Branch, Message: message, Request: out.Work.Bundle.Image, Files: files, Force: r.Force})
	if err != nil {
		return err
	}
	if pushed {
		out.Result = "updated"
	}
	if r.Forge == nil {
		return nil
	}
	b := out.Work.Bundle
	out.Proposed, err = r.Forge.Propose(ctx, Proposal{Branch: out.Branch, Title: title, Body: out.Body, Key: b.Package + "/" + b.Version.String(), Bundle: b,
		Request: map[string]string{"image": b.Image, "digest": b.Digest}})
	if err != nil {
		return err
	}
	if op := out.Proposed.Operation; op == "created" || op == "updated" {
		out.Result = op
	}
	return nil
}

// reproduce is the command that does the same at a desk.
func (r *run) reproduce() string {
	return fmt.Sprintf("graft publish --dry-run --image %s", r.input.Bundle.Image)
}
