package publish

import (
	"context"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/forge"
	"github.com/olmgraft/graft/internal/gitrepo"
)

// Refresh makes every open pull request again on the present base, from its requests. It closes one whose
// bundles the base already has. It leaves one with a person's commits alone, unless forced.
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

// closeDone closes the pull request of an empty change: in a refresh, because the base already has everything,
// and for catalog images at any time, because it would name images that their tags have left. It leaves one
// open that has a bundle for no template, by the present configuration, or a catalog image that the registry
// lacks: a person decides about it.
func (c *change) closeDone(ctx context.Context, out *Result, seen gitrepo.State) error {
	if c.proposed == nil || c.DryRun || !c.again && newest(c.own).version() != nil || !seen.OnlyOurs && !c.Force {
		return nil
	}
	pr := *c.proposed
	if len(out.Work.nowhere)+len(out.Work.unserved) > 0 {
		out.warn("pull request #%d stays open: %s", pr.Number, out.Work.Unchanged())
		return nil
	}
	closed, err := c.closeUnedited(ctx, out, pr, seen, forge.Closing{Why: newest(out.Work.subjects).done()})
	if closed {
		out.Result, out.Changed = Closed, true
		out.Proposed = forge.Result{Number: pr.Number, URL: pr.URL, Operation: forge.Closed}
	}
	return err
}

// closeUnedited closes a pull request and deletes its branch, unless someone has committed to the branch since
// it was read. It deletes the branch first, because no later run would find the branch of a closed pull
// request. The branch stays only if the remote refuses the deletion.
func (p *publisher) closeUnedited(ctx context.Context, out *Result, pr forge.Proposal, seen gitrepo.State, why forge.Closing) (bool, error) {
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
