// Package publish is the pipeline from what a registry announced to one pull request:
// plan, insert, render, verify, commit, push, pull request. It knows the order and none
// of the details; registry, repository and forge come in as interfaces.
package publish

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/olmgraft/graft/internal/event"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/forge"
	"github.com/olmgraft/graft/internal/gitrepo"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/oci"
	"github.com/olmgraft/graft/internal/pause"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/render"
	"github.com/olmgraft/graft/internal/template/kind"
)

// Repository is where catalogs are kept.
type Repository interface {
	// Base gives the content of the base branch as it is now, and its commit.
	Base(ctx context.Context) (content fs.FS, commit string, err error)
	// Inspect tells what stands on a branch beyond the base.
	Inspect(ctx context.Context, branch string) (gitrepo.State, error)
	// Deliver puts files onto a branch upon a commit of the base. It is git-race-lost
	// where the base or the branch moved meanwhile, and branch-edited where a person
	// committed to the branch.
	Deliver(ctx context.Context, d gitrepo.Delivery) (gitrepo.Delivered, error)
	// Delete removes a branch that is still where it was last seen.
	Delete(ctx context.Context, branch, expect string) error
}

// Options of a run.
type Options struct {
	Registry   render.Registry
	Repository Repository
	Forge      forge.Proposals // nil: the run ends with the branch
	Levels     graph.Levels
	Jobs       int
	Cache      *oci.Cache
	Progress   func(done, total int, image string)
	Log        func(format string, args ...any)
	// Group folds the log of one change until the returned function is called.
	Group func(title string) (end func())

	// Allow refuses images that nobody is to publish, before anything of them is
	// fetched; nil allows all.
	Allow func(event.Publication) error
	// Setup is what a repository says of a bundle's places.
	Setup func(content fs.FS, b kind.Bundle) (*plan.Setup, error)

	// Operands are images that are no bundles, and where their entries go.
	Operands []plan.OperandSetup

	// CatalogSources are manifests that name catalog images, and CatalogBranch the branch of
	// changes that those are announced by.
	CatalogSources []plan.CatalogSourceSetup
	CatalogBranch  string

	// Base is the branch that changes are proposed to; no change is put onto it.
	Base string
	// Branch, Title and Message are of a change by its bundle, the highest one of
	// several; Intro is text above what Graft writes.
	Branch, Title, Message, Intro Text
	// Rolling puts all bundles of a package into one pull request.
	Rolling bool
	// Supersede takes the bundles of older pull requests of the package over into a
	// newer one, and closes those.
	Supersede bool

	DryRun, Force bool
	// Attempts at a base that moves between read and push: 0 means 6, one and five more.
	Attempts int
	// Patience is how long a bundle is waited for that was announced before it can
	// be served.
	Patience time.Duration
	Sleep    func(context.Context, time.Duration) error
}

// Text makes a text of the bundle's facts.
type Text func(kind.Bundle) (string, error)

// The results of a change.
const (
	Created   = "created"
	Updated   = "updated"
	Unchanged = "unchanged"
	Planned   = "planned" // a dry run would change something
	Closed    = "closed"  // the base has it all by now
	Failed    = "failed"
)

// Result is what became of a change: of one bundle, or of several that share a branch.
type Result struct {
	Result   string
	Requests []Request
	Bundles  []kind.Bundle // of the requests, as far as they could be read
	Work     *Work         // nil where it did not come to that
	Branch   string
	Commit   string
	// Changed says that a branch was pushed, or a pull request made, updated or closed.
	Changed  bool
	Body     string
	Proposed forge.Result
	// Superseded are the pull requests whose bundles were taken over.
	Superseded []int
	Warnings   []string
	Err        error

	superseded []superseded // to be closed once this stands
}

// publisher is one run.
type publisher struct {
	Options
	learned map[string]item             // by request
	open    map[string][]forge.Proposal // by package
}

func newPublisher(o Options) *publisher {
	if o.Attempts <= 0 {
		o.Attempts = 6
	}
	if o.Sleep == nil {
		o.Sleep = pause.For
	}
	return &publisher{Options: o, learned: map[string]item{}, open: map[string][]forge.Proposal{}}
}

func (p *publisher) log(format string, args ...any) {
	if p.Log != nil {
		p.Log(format, args...)
	}
}

func (p *publisher) group(title string) func() {
	if p.Group != nil {
		return p.Group(title)
	}
	return func() {}
}

// Publish publishes bundles. Those whose branch is the same are one change; of the others
// each is published although another one fails. The error is that of all.
func Publish(ctx context.Context, requests []Request, o Options) ([]*Result, error) {
	p := newPublisher(o)
	var results []*Result
	var changes []*change
	by := map[string]*change{}
	for _, r := range requests {
		it, at, err := p.place(ctx, r)
		if err != nil {
			results = append(results, &Result{Result: Failed, Requests: []Request{r}, Err: err})
			continue
		}
		if by[at.branch] == nil {
			by[at.branch] = at
			changes = append(changes, at)
		}
		by[at.branch].take(it)
	}
	for _, c := range changes {
		results = append(results, c.publish(ctx))
	}
	return results, errorsOf(results)
}

// place learns of a bundle and finds its change: the open pull request that has it, on
// whatever branch that is by now, else the branch that the pattern names.
func (p *publisher) place(ctx context.Context, r Request) (item, *change, error) {
	it, err := p.learn(ctx, r, p.Patience)
	if err != nil {
		return it, nil, err
	}
	c := &change{publisher: p, key: p.key(it), branch: p.CatalogBranch}
	if !it.catalogImage {
		if c.branch, err = p.Branch(it.input.Bundle); err != nil {
			return it, nil, err
		}
	}
	if c.branch == p.Base {
		return it, nil, failure.New(failure.Usage, "publishing %s: its branch would be the base, %s", it.input.Bundle.Name, p.Base).Fix("Give the branch another pattern.")
	}
	if c.stands, err = p.standing(ctx, c, it); c.stands != nil {
		c.branch, c.key = c.stands.Head, c.stands.Marker.Key
	}
	return it, c, err
}

// standing is the open pull request of the change, or one that has the bundle already.
func (p *publisher) standing(ctx context.Context, c *change, it item) (*forge.Proposal, error) {
	open, err := p.openFor(ctx, it.input.Bundle.Package)
	if err != nil {
		return nil, err
	}
	has := func(pr forge.Proposal) bool {
		requests, err := requestsOf(pr, gitrepo.State{})
		return err == nil && slices.ContainsFunc(requests, it.covers)
	}
	for _, match := range []func(forge.Proposal) bool{
		func(pr forge.Proposal) bool { return pr.Marker.Key == c.key },
		func(pr forge.Proposal) bool { return pr.Head == c.branch },
		has,
	} {
		if i := slices.IndexFunc(open, match); i >= 0 {
			return &open[i], nil
		}
	}
	return nil, nil
}

// openFor are the open pull requests of a package, as they were when it was first asked
// for them.
func (p *publisher) openFor(ctx context.Context, pkg string) ([]forge.Proposal, error) {
	if p.Forge == nil {
		return nil, nil
	}
	if known, ok := p.open[pkg]; ok {
		return known, nil
	}
	open, err := p.Forge.Open(ctx, pkg+"/")
	if err == nil {
		p.open[pkg] = open
	}
	return open, err
}

// key is what there is one pull request for.
func (p *publisher) key(it item) string {
	b := it.input.Bundle
	switch {
	case it.catalogImage:
		return catalogImagesKey
	case p.Rolling:
		return b.Package + "/*"
	}
	return b.Package + "/" + b.Version.String()
}

func errorsOf(results []*Result) error {
	var errs []error
	for _, r := range results {
		errs = append(errs, r.Err)
	}
	return errors.Join(errs...)
}

// Refresh makes every open pull request again upon the base as it is now, from the
// requests that it holds. One whose bundles the base has by now is closed, and one that a
// person committed to is left alone, unless it is forced.
func Refresh(ctx context.Context, o Options) ([]*Result, error) {
	p := newPublisher(o)
	open, err := p.Forge.Open(ctx, "")
	if err != nil {
		return nil, err
	}
	var results []*Result
	for _, pr := range open {
		results = append(results, p.refresh(ctx, pr))
	}
	return results, errorsOf(results)
}

func (p *publisher) refresh(ctx context.Context, pr forge.Proposal) *Result {
	c := &change{publisher: p, branch: pr.Head, key: pr.Marker.Key, stands: &pr, again: true}
	state, err := p.Repository.Inspect(ctx, pr.Head)
	if err != nil {
		return &Result{Result: Failed, Branch: pr.Head, Err: err}
	}
	if !state.OnlyOurs && !p.Force {
		return &Result{Result: Unchanged, Branch: pr.Head, Warnings: []string{fmt.Sprintf("a person committed to the branch %s of pull request #%d: it is left alone", pr.Head, pr.Number)}}
	}
	requests, err := requestsOf(pr, state)
	if err != nil {
		return &Result{Result: Failed, Branch: pr.Head, Err: err}
	}
	for _, r := range requests {
		it, err := c.learnAgain(ctx, r)
		if err != nil {
			return &Result{Result: Failed, Requests: requests, Branch: pr.Head, Err: err}
		}
		c.take(it)
	}
	r := c.publish(ctx)
	if r.Err == nil && r.Work != nil && len(r.Work.Changed()) == 0 && !p.DryRun {
		p.finish(ctx, r, pr, state)
	}
	return r
}

// finish closes a pull request whose bundles the base has. One with a bundle that goes
// nowhere, as the configuration is now, or with a catalog image that the registry lacks,
// stays: who merges or closes it decides.
func (p *publisher) finish(ctx context.Context, r *Result, pr forge.Proposal, seen gitrepo.State) {
	if len(r.Work.nowhere)+len(r.Work.unserved) > 0 {
		r.warn("pull request #%d stays open: %s", pr.Number, r.Work.Nowhere())
		return
	}
	why := "Every catalog has this by now."
	if onlyImages(r.Work.items) {
		why = "The CatalogSources name what their tags are by now."
	}
	closed, err := p.closeUnedited(ctx, r, pr, seen, why)
	if r.Err = err; err != nil {
		r.Result = Failed
	} else if closed {
		r.Result, r.Changed = Closed, true
		r.Proposed = forge.Result{Number: pr.Number, URL: pr.URL, Operation: forge.Closed}
	}
}

// closeUnedited closes a pull request and deletes its branch, unless somebody has
// committed to that since it was looked at.
func (p *publisher) closeUnedited(ctx context.Context, out *Result, pr forge.Proposal, seen gitrepo.State, why string) (bool, error) {
	now, err := p.Repository.Inspect(ctx, pr.Head)
	if err != nil {
		return false, err
	}
	if now.Head != seen.Head {
		out.warn("pull request #%d is left open: its branch %s has moved", pr.Number, pr.Head)
		return false, nil
	}
	if err := p.Forge.Close(ctx, pr.Number, why); err != nil {
		return false, err
	}
	if now.Exists {
		if err := p.Repository.Delete(ctx, pr.Head, now.Head); err != nil {
			out.warn("the branch %s was not deleted: %s", pr.Head, failure.Of(err).Error())
		}
	}
	return true, nil
}
