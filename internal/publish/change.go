package publish

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/forge"
	"github.com/olmgraft/graft/internal/gitrepo"
	"github.com/olmgraft/graft/internal/template"
)

// change is the content of one branch and one pull request.
type change struct {
	*publisher
	branch, key string
	own         []subject
	// proposed is the change's open pull request, or nil.
	proposed *forge.Proposal
	again    bool // a refresh: the pull request must still be open when it is proposed
}

// take adds one of the run's subjects. If several tags name one image, the tag that is the version counts. For
// a repository of catalog images, the first one stands for all.
func (c *change) take(s subject) {
	r := s.request()
	for i, o := range c.own {
		if had := o.request(); had.Repository == r.Repository && (o.version() == nil || had.Digest == r.Digest) {
			if taggedByVersion(s) && !taggedByVersion(o) {
				c.own[i] = s
			}
			return
		}
	}
	c.own = append(c.own, s)
}

func taggedByVersion(s subject) bool {
	v := s.version()
	return v != nil && strings.TrimPrefix(s.request().Tag, "v") == v.String()
}

// publish makes the change. The edits depend only on base and requests. If the base or the branch moves between
// read and push, publish starts again on the new state.
func (c *change) publish(ctx context.Context) *Result {
	var names []string
	for _, s := range c.own {
		names = append(names, s.facts().Name)
	}
	defer c.Group("publishing " + strings.Join(names, ", "))()
	var result *Result
	err := gitrepo.Retry(ctx, c.Attempts, 200*time.Millisecond, c.Sleep, func(n int) (err error) {
		if n > 1 {
			c.Line("the base moved, retrying on the new one (%d of %d)", n, c.Attempts)
		}
		result, err = c.attempt(ctx)
		return err
	})
	if result.Err = err; err != nil {
		result.Result = Failed
	}
	return result
}

// attempt makes the change on the present base.
func (c *change) attempt(ctx context.Context) (*Result, error) {
	out := &Result{Result: Unchanged, Branch: c.branch, Subjects: factsOf(c.own)}
	c.Step("reading the base and the branch " + c.branch)
	content, commit, err := c.Repository.Base(ctx)
	if err != nil {
		return out, err
	}
	state, err := c.Repository.Inspect(ctx, c.branch)
	if err != nil {
		return out, err
	}
	subjects, err := c.withStanding(ctx, state)
	if err != nil {
		return out, err
	}
	older, err := c.older(ctx, out, subjects)
	if err != nil {
		return out, err
	}
	if older, err = c.make(ctx, out, Base{template.NewFiles(content), commit}, subjects, older); err != nil {
		return out, err
	}
	if len(out.Work.Changed()) == 0 {
		c.Line("%s", out.Work.Unchanged())
		return out, c.closeDone(ctx, out, state)
	}
	if rejected, err := c.rejectedContent(ctx, out); rejected || err != nil {
		return out, err
	}
	if out.Title, err = newest(out.Work.subjects).title(c.Texts, len(out.Work.subjects)-1); err != nil {
		return out, err
	}
	if out.Body, err = c.body(out.Work); err != nil {
		return out, err
	}
	if c.DryRun {
		out.Result = Planned
		return out, nil
	}
	return out, c.deliver(ctx, out, older, gitrepo.Delivery{Base: commit, Branch: c.branch, State: &state, Force: c.Force})
}

// learnAgain learns a request of an existing change. A catalog image stays one even if the configuration no
// longer names it.
func (c *change) learnAgain(ctx context.Context, r Request) (subject, error) {
	if c.key == catalogImagesKey {
		return c.learnCatalogImage(ctx, r, later)
	}
	return c.learn(ctx, r, 0)
}

// withStanding adds the requests of the branch, so that bundles that share a branch do not displace each other.
// Requests of a closed or merged pull request do not return. A branch without a pull request belongs to another
// run that is about to propose it.
func (c *change) withStanding(ctx context.Context, state gitrepo.State) ([]subject, error) {
	subjects := slices.Clone(c.own)
	if !state.OnlyOurs && !c.Force || len(state.Requests()) == 0 {
		return subjects, nil
	}
	if c.Forge != nil {
		if ended, err := c.Forge.Ended(ctx, c.branch, state.Head); ended || err != nil {
			return subjects, err
		}
	}
	for _, text := range state.Requests() {
		r, err := ParseRequest(text)
		if err != nil || slices.ContainsFunc(subjects, func(s subject) bool { return s.covers(r) }) {
			continue // in an earlier form, or replaced by the present request
		}
		s, err := c.learnAgain(ctx, r)
		if err != nil {
			// Leaving it out would silently remove it from the pull request.
			f := *failure.Of(err)
			return nil, f.Fix("The branch %s has it: publish it again, or close the pull request of that branch. %s", c.branch, f.Remedy)
		}
		subjects = add(subjects, s)
	}
	return subjects, nil
}

// superseded is an older pull request whose bundles move to the new one.
type superseded struct {
	forge.Proposal
	state    gitrepo.State
	subjects []subject
}

// older returns the open pull requests of the package that have only lower versions. It leaves out those to
// which a person has committed.
func (c *change) older(ctx context.Context, out *Result, subjects []subject) ([]superseded, error) {
	highest := newest(subjects)
	if !c.Supersede || c.again || highest.version() == nil {
		return nil, nil
	}
	open, err := c.openFor(ctx, highest.facts().Package)
	if err != nil {
		return nil, err
	}
	var all []superseded
	for _, pr := range open {
		if pr.Marker.Key == c.key || pr.Head == c.branch {
			continue
		}
		one, err := c.lower(ctx, pr, highest)
		if err != nil {
			out.warn("pull request #%d is left alone: %s", pr.Number, failure.Of(err).Error())
		} else if len(one.subjects) > 0 {
			all = append(all, one)
		}
	}
	return all, nil
}

// lower returns the subjects of a pull request if all of them are lower, or else none.
func (c *change) lower(ctx context.Context, pr forge.Proposal, than subject) (one superseded, err error) {
	one.Proposal = pr
	if one.state, err = c.Repository.Inspect(ctx, pr.Head); err != nil || !one.state.OnlyOurs {
		return one, err
	}
	requests, err := requestsOf(pr, one.state)
	if err != nil {
		return one, err
	}
	var lower []subject
	for _, r := range requests {
		s, err := c.learn(ctx, r, 0)
		if err != nil {
			return one, err
		}
		if s.version() == nil || s.facts().Package != than.facts().Package || byVersion(s, than) >= 0 {
			return one, nil
		}
		lower = append(lower, s)
	}
	one.subjects = lower
	return one, nil
}

// make prepares the change with the older bundles, and without those that fail: a faulty older bundle does not
// delay a newer one. It returns the older ones that it took.
func (c *change) make(ctx context.Context, out *Result, base Base, subjects []subject, older []superseded) (taken []superseded, err error) {
	with := subjects
	for _, pr := range older {
		for _, s := range pr.subjects {
			with = add(with, s)
		}
	}
	out.Work, err = c.prepare(ctx, base, with)
	if err != nil && len(older) > 0 {
		out.warn("older pull requests are not taken over: %s", failure.Of(err).Error())
		older = nil
		out.Work, err = c.prepare(ctx, base, subjects)
	}
	if err != nil {
		return nil, err
	}
	out.Subjects = factsOf(out.Work.subjects)
	out.Warnings = append(out.Warnings, out.Work.Warnings...)
	for _, pr := range older {
		if slices.ContainsFunc(pr.subjects, func(s subject) bool { return slices.Contains(out.Work.nowhere, s.facts().Name) }) {
			out.warn("pull request #%d is left alone: %s", pr.Number, out.Work.Unchanged())
			continue
		}
		taken = append(taken, pr)
	}
	return taken, nil
}
