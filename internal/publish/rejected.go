package publish

import (
	"context"
	"slices"

	"github.com/olmgraft/graft/internal/forge"
	"github.com/olmgraft/graft/internal/gitrepo"
)

// rejected returns the result for a subject whose pull request a person closed without a merge, or nil. Another
// digest or other inputs make a new request, and so does an open pull request. Of several pull requests with
// the subject the newest counts.
func (c *change) rejected(ctx context.Context, s subject) (*Result, error) {
	r := s.request()
	if c.Forge == nil || c.Reopen || r.Digest == "" || c.proposes(s) {
		return nil, nil
	}
	past, err := c.pastFrom(ctx, c.branch)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(past, func(pr forge.Past) bool { return holds(pr.Proposal, r.again) })
	if i < 0 || !past[i].Rejected {
		return nil, nil
	}
	pr := past[i]
	out := &Result{Result: Unchanged, Branch: c.branch, Subjects: []Facts{s.facts()}, Proposed: forge.Result{Number: pr.Number, URL: pr.URL, Operation: forge.Unchanged}}
	out.warn("%s is not proposed again: somebody closed pull request #%d without merging it. Reopen it, or publish with reopen.", s.facts().Name, pr.Number)
	return out, nil
}

// pastFrom reads the closed pull requests of a branch once, even if several bundles share the branch.
func (p *publisher) pastFrom(ctx context.Context, branch string) ([]forge.Past, error) {
	if known, ok := p.past[branch]; ok {
		return known, nil
	}
	past, err := p.Forge.Past(ctx, branch)
	if err == nil {
		p.past[branch] = past
	}
	return past, err
}

// proposes reports whether the open pull request of the change has a subject.
func (c *change) proposes(s subject) bool { return c.proposed != nil && holds(*c.proposed, s.covers) }

func holds(pr forge.Proposal, is func(Request) bool) bool {
	requests, err := requestsOf(pr, gitrepo.State{})
	return err == nil && slices.ContainsFunc(requests, is)
}
