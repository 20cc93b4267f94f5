// Package publish is the pipeline from a registry's announcement to one pull request: plan, insert, render,
// verify, commit, push, propose. It knows the order and none of the details; registry, repository and forge are
// interfaces.
package publish

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/olmgraft/graft/internal/atomicfile"
	"github.com/olmgraft/graft/internal/event"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/forge"
	"github.com/olmgraft/graft/internal/gitrepo"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/oci"
	"github.com/olmgraft/graft/internal/pause"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/render"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
)

// Run holds everything for a run: its ports, its policy, its texts and its log.
type Run struct {
	Ports
	Policy
	Texts
	Log
}

// Ports are the connections to the outside.
type Ports struct {
	Registry   render.Registry
	Repository Repository
	Forge      forge.Proposals // nil: the run ends with the branch
	// Setup returns the repository's configuration for a bundle.
	Setup func(base Base, b kind.Bundle) (*plan.Setup, error)
	// Catalogs returns the documents of a package in a catalog image. nil if no published catalog is an image.
	Catalogs func(ctx context.Context, image, pkg string) ([]fbc.Doc, error)
	// Commands runs commands in a copy of the base with a change, and returns the files that differ afterwards;
	// nil content means deleted. nil if commands are not allowed.
	Commands func(ctx context.Context, base fs.FS, change *atomicfile.Change, commands []string) (map[string][]byte, error)
	Cache    *oci.Cache
	Sleep    func(context.Context, time.Duration) error
}

// Base is the content of the base branch at a commit.
type Base struct {
	*template.Files
	Commit string
}

// over returns the files of the base with a change over them.
func (b Base) over(c *atomicfile.Change) *template.Files {
	return b.Over(c, func(name string) ([]byte, bool) {
		p, ok := c.Get(name)
		return p.After, ok
	})
}

// Policy configures what a run may do, and how.
type Policy struct {
	// BaseBranch is the branch that changes are proposed to. No change is pushed to it.
	BaseBranch string
	// OtherBase is BaseBranch, unless that is the default branch.
	OtherBase string
	Levels    graph.Levels
	// Allow refuses images before anything of them is fetched. nil allows all.
	Allow func(event.Publication) error
	// Operands are images that are not bundles, with the files for their entries.
	Operands []plan.OperandSetup
	// CatalogSources are manifests that name catalog images.
	CatalogSources []plan.CatalogSourceSetup
	// Rolling puts all bundles of a package into one pull request.
	Rolling bool
	// Supersede moves the bundles of older pull requests of the package to a newer one and closes the older ones.
	Supersede bool
	// Reopen proposes again what a person has closed.
	Reopen        bool
	DryRun, Force bool
	// Explore keeps the catalogs of a change for the explorer.
	Explore bool
	// RefuseDrift fails if a catalog differed from its template before the change.
	RefuseDrift bool
	Jobs        int // concurrent bundles
	// Attempts limits the attempts if the base or branch moves between read and push. 0 means 10, which
	// suffices for some hundred runs at once.
	Attempts int
	// Patience is how long to wait for a bundle that was announced before the registry serves it.
	Patience time.Duration
}

// Texts of a change use its bundle's facts, the highest version's of several.
type Texts struct {
	Branch, Title, Message Text
	// RebuildTitle and RebuildMessage are for a rebuilt bundle.
	RebuildTitle, RebuildMessage Text
	Intro                        Text // above Graft's text; nil: nothing
	// CatalogBranch is the branch for changes by catalog images. EditBranches is the prefix of branches for edits.
	CatalogBranch, EditBranches string
	// EditTitle and EditMessage replace the default texts of edits, if set.
	EditTitle, EditMessage Text
	// Flags are those of the run that change its result and that no request has, for the command that does the
	// same locally.
	Flags []string
	// Artifacts is the address of the run's files; "" if there are none.
	Artifacts string
}

// Text makes a text from a bundle's facts.
type Text func(kind.Bundle) (string, error)

// Log receives the messages of a run.
type Log struct {
	Line   func(format string, args ...any)
	Notice func(format string, args ...any) // for important messages
	// Step is called when a part of a run begins, Part for each thing that it handles, and Progress for each
	// rendered bundle.
	Step     func(what string)
	Part     func(what string, n, total int)
	Progress func(done, total int, image string)
	// Group folds the lines of one change until the returned function is called.
	Group func(title string) (end func())
}

// The results of a change.
const (
	Created   = "created"
	Updated   = "updated"
	Unchanged = "unchanged"
	Planned   = "planned" // a dry run with changes
	Closed    = "closed"  // the base already has everything
	Failed    = "failed"
)

// Result is the result of a change of one bundle, or of several that share a branch.
type Result struct {
	Result   string
	Subjects []Facts
	Work     *Work // nil if the run ended earlier
	Branch   string
	Commit   string
	// Changed reports that a branch was pushed, or a pull request created, updated or closed.
	Changed  bool
	Title    string
	Body     string
	Proposed forge.Result
	// Superseded are the pull requests whose bundles moved to this one.
	Superseded []int
	Warnings   []string
	Err        error
}

func (r *Result) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}

// failed returns the result of requests that led to no change.
func failed(err error, branch string, requests ...Request) *Result {
	r := &Result{Result: Failed, Branch: branch, Err: err}
	for _, one := range requests {
		if one.Edit.Said() {
			r.Subjects = append(r.Subjects, one.Edit.facts())
			continue
		}
		r.Subjects = append(r.Subjects, Facts{Image: one.Image(), Digest: one.Digest})
	}
	return r
}

// publisher is one run.
type publisher struct {
	Run
	learned map[string]subject          // by request
	early   map[string]early            // by request, until learn takes it
	pulled  map[string]*oci.Pulled      // by reference
	open    map[string][]forge.Proposal // by package
	past    map[string][]forge.Past     // by branch
}

func newPublisher(r Run) *publisher {
	if r.Attempts <= 0 {
		r.Attempts = 10
	}
	if r.Sleep == nil {
		r.Sleep = pause.For
	}
	if r.Step == nil {
		r.Step = func(string) {}
	}
	if r.Part == nil {
		r.Part = func(string, int, int) {}
	}
	return &publisher{Run: r, learned: map[string]subject{}, early: map[string]early{}, pulled: map[string]*oci.Pulled{},
		open: map[string][]forge.Proposal{}, past: map[string][]forge.Past{}}
}

// Publish publishes bundles. Bundles with the same branch are one change. A failure of one change does not stop
// the others. The error joins all errors.
func Publish(ctx context.Context, requests []Request, run Run) ([]*Result, error) {
	p := newPublisher(run)
	if len(requests) > 1 {
		p.Step(fmt.Sprintf("reading %d images", len(requests)))
	}
	p.learnEarly(ctx, requests)
	var results []*Result
	var changes []*change
	by := map[string]*change{}
	for i, r := range requests {
		switch {
		case r.Edit.Said():
		case len(requests) == 1:
			p.Step("reading " + r.Image())
		default:
			p.Part("reading "+r.Image(), i+1, len(requests))
		}
		s, c, err := p.changeOf(ctx, r)
		var rejected *Result
		if err == nil {
			rejected, err = c.rejected(ctx, s)
		}
		if err != nil {
			results = append(results, failed(err, "", r))
			continue
		}
		if rejected != nil {
			results = append(results, rejected)
			continue
		}
		if by[c.branch] == nil {
			by[c.branch] = c
			changes = append(changes, c)
		}
		by[c.branch].take(s)
	}
	for _, c := range changes {
		results = append(results, c.publish(ctx))
	}
	return results, errorsOf(results)
}

func errorsOf(results []*Result) error {
	var errs []error
	for _, r := range results {
		errs = append(errs, r.Err)
	}
	return errors.Join(errs...)
}

// changeOf learns a subject and finds its change: the open pull request that has it, whatever its branch, or
// else the branch of the pattern.
func (p *publisher) changeOf(ctx context.Context, r Request) (subject, *change, error) {
	s, err := p.learn(ctx, r, p.Patience)
	if err != nil {
		return nil, nil, err
	}
	c := &change{publisher: p, key: s.key(p.Rolling)}
	if c.branch, err = s.branch(p.Texts); err != nil {
		return nil, nil, err
	}
	if c.branch == p.BaseBranch {
		return nil, nil, failure.New(failure.Usage, "publishing %s: its branch would be the base, %s", s.facts().Name, p.BaseBranch).Fix("Give the branch another pattern.")
	}
	if c.proposed, err = p.proposalFor(ctx, c, s); c.proposed != nil {
		c.branch, c.key = c.proposed.Head, c.proposed.Marker.Key
	}
	return s, c, err
}

// proposalFor returns the open pull request of the change, or one that already has the subject, even as another
// build.
func (p *publisher) proposalFor(ctx context.Context, c *change, s subject) (*forge.Proposal, error) {
	open, err := p.openFor(ctx, packageOf(c.key))
	if err != nil {
		return nil, err
	}
	matches := []func(forge.Proposal) bool{
		func(pr forge.Proposal) bool { return pr.Marker.Key == c.key },
		func(pr forge.Proposal) bool { return pr.Head == c.branch },
		func(pr forge.Proposal) bool {
			requests, err := requestsOf(pr, gitrepo.State{})
			return err == nil && slices.ContainsFunc(requests, s.covers)
		},
		func(pr forge.Proposal) bool {
			requests, err := requestsOf(pr, gitrepo.State{})
			return err == nil && len(requests) > 1 && slices.ContainsFunc(requests, func(r Request) bool {
				had, err := p.learn(ctx, r, 0)
				return err == nil && had.facts().Name == s.facts().Name
			})
		},
	}
	for _, match := range matches {
		if i := slices.IndexFunc(open, match); i >= 0 {
			return &open[i], nil
		}
	}
	return nil, nil
}

// openFor returns the open pull requests of a package, as of the first call.
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
