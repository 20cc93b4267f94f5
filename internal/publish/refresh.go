package publish

import (
	"context"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/forge"
	"github.com/olmgraft/graft/internal/gitrepo"
)

// Refresh makes every open pull request again upon the base as it is now, from the
// requests that it holds. One whose bundles the base has by now is closed, and one that a
// person committed to is left alone, unless it is forced.
func Refresh(ctx context.Context, run Run) ([]*Result, error) {
	p := newPublisher(run)
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
	c := &change{publisher: p, branch: pr.Head, key: pr.Marker.Key, proposed: &pr, again: true}
	state, err := p.Repository.Inspect(ctx, pr.Head)
	if err != nil {
		return failed(err, pr.Head)
	}
	if !state.OnlyOurs && !p.Force {
		r := &Result{Result: Unchanged, Branch: pr.Head}
		r.warn("a person committed to the branch %s of pull request #%d: it is left alone", pr.Head, pr.Number)
		return r
	}
	requests, err := requestsOf(pr, state)
	if err != nil {
		return failed(err, pr.Head)
	}
	for _, r := range requests {
		s, err := c.learnAgain(ctx, r)
		if err != nil {
			return failed(err, pr.Head, requests...)
		}
		c.take(s)
	}
	return c.publish(ctx)
}

// closeDone closes the pull request of a change that comes to nothing: when it is made again,
// since the base has it all, and of catalog images at any time, since it would name images that
// their tags have left. One with a bundle that goes nowhere, as the configuration is now, or
// with a catalog image that the registry lacks, stays: who merges or closes it decides.
func (c *change) closeDone(ctx context.Context, out *Result, seen gitrepo.State) error {
	if c.proposed == nil || c.DryRun || !c.again && newest(c.own).version() != nil || !seen.OnlyOurs && !c.Force {
		return nil
	}
	pr := *c.proposed
	if len(out.Work.nowhere)+len(out.Work.unserved) > 0 {
		out.warn("pull request #%d stays open: %s", pr.Number, out.Work.Unchanged())
		return nil
	}
	closed, err := c.closeUnedited(ctx, out, pr, seen, newest(out.Work.subjects).done())
	if closed {
		out.Result, out.Changed = Closed, true
		out.Proposed = forge.Result{Number: pr.Number, URL: pr.URL, Operation: forge.Closed}
	}
	return err
}

// closeUnedited closes a pull request and deletes its branch, unless somebody has
// committed to that since it was looked at. Of a closed one no run would know that its branch is
// left: it goes first, and stays only where the remote refuses that it goes.
func (p *publisher) closeUnedited(ctx context.Context, out *Result, pr forge.Proposal, seen gitrepo.State, why string) (bool, error) {
	now, err := p.Repository.Inspect(ctx, pr.Head)
	if err != nil {
		return false, err
	}
	if now.Head != seen.Head {
		out.warn("pull request #%d is left open: its branch %s has moved", pr.Number, pr.Head)
		return false, nil
	}
	err = p.Forge.Close(ctx, pr.Number, why, func() error {
		if !now.Exists {
			return nil
		}
		err := p.Repository.Delete(ctx, pr.Head, now.Head)
		if err != nil && !failure.Of(err).Retryable {
			out.warn("the branch %s was not deleted: %s", pr.Head, failure.Of(err).Error())
			return nil
		}
		return err
	})
	return err == nil, err
}
