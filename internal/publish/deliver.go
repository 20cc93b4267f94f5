package publish

import (
	"context"
	"fmt"
	"slices"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/forge"
	"github.com/olmgraft/graft/internal/gitrepo"
)

// deliver pushes the branch, creates the pull request, and closes superseded ones, in this order: the next run
// completes an interrupted one.
func (c *change) deliver(ctx context.Context, out *Result, older []superseded, d gitrepo.Delivery) error {
	highest, others := newest(out.Work.subjects), len(out.Work.subjects)-1
	var err error
	if d.Message, err = highest.message(c.Texts, others); err != nil {
		return err
	}
	for _, s := range out.Work.subjects {
		d.Requests = append(d.Requests, s.request().String())
	}
	d.Files = map[string]gitrepo.File{}
	for _, name := range out.Work.Changed() {
		if p := out.Work.File(name); p.Gone {
			d.Deleted = append(d.Deleted, name)
		} else {
			d.Files[name] = gitrepo.File{Data: p.After}
		}
	}
	if err := c.stillOpen(ctx); err != nil {
		return err
	}
	c.Step("pushing the branch " + c.branch)
	done, err := c.Repository.Deliver(ctx, d)
	if err != nil {
		return err
	}
	out.Commit = done.Commit
	if done.Changed {
		out.Result, out.Changed = Updated, true
	}
	if c.Forge == nil {
		return nil
	}
	c.Step("proposing the branch " + c.branch)
	out.Proposed, err = c.Forge.Propose(ctx, forge.Change{Branch: c.branch, Title: out.Title, Body: out.Body, Key: c.key, Requests: d.Requests, Content: c.content(out.Work), ByHand: out.Work.byHand})
	if err != nil {
		return err
	}
	out.Warnings = append(out.Warnings, out.Proposed.Notes...)
	if op := out.Proposed.Operation; op == forge.Created || op == forge.Updated {
		out.Result, out.Changed = string(op), true
		if err := c.stillNewest(ctx, done.Commit); err != nil {
			return err
		}
	}
	for _, pr := range older {
		closed, err := c.closeUnedited(ctx, out, pr.Proposal, pr.state, forge.Closing{Why: fmt.Sprintf("#%d contains this.", out.Proposed.Number), Within: out.Proposed.Number})
		if err != nil {
			return err
		}
		if closed {
			out.Superseded = append(out.Superseded, pr.Number)
		}
	}
	return nil
}

// stillNewest compares the proposal with the present branch. If another run has pushed more meanwhile, this run
// may have overwritten that run's text, and the change is made again.
func (c *change) stillNewest(ctx context.Context, commit string) error {
	now, err := c.Repository.Inspect(ctx, c.branch)
	if err == nil && now.Exists && now.OnlyOurs && now.Head != commit {
		err = failure.New(failure.GitRaceLost, "proposing: another run moved the branch %s on", c.branch)
	}
	return err
}

// stillOpen refuses to create a pull request again that a person closed during a refresh.
func (c *change) stillOpen(ctx context.Context) error {
	if !c.again {
		return nil
	}
	open, err := c.Forge.Open(ctx, c.key)
	if err == nil && !slices.ContainsFunc(open, func(pr forge.Proposal) bool { return pr.Number == c.proposed.Number }) {
		err = failure.New(failure.PullRequestRefused, "making pull request #%d again: it was closed meanwhile", c.proposed.Number).Fix("Publish the bundle if it is wanted after all.")
	}
	return err
}

// requestsOf returns the requests in a pull request's marker, or in the commits of its branch if they were too
// many for a marker. People with permission may have edited either, so the requests are checked like any
// others.
func requestsOf(pr forge.Proposal, state gitrepo.State) ([]Request, error) {
	texts, err := pr.Marker.Requests()
	if err != nil {
		return nil, failure.New(failure.Usage, "reading the marker of pull request #%d: %w", pr.Number, err).Fix("Close it, and publish its bundle again.")
	}
	if len(pr.Marker.Request) == 0 {
		texts = state.Requests()
	}
	if len(texts) == 0 {
		return nil, failure.New(failure.Usage, "reading pull request #%d: neither its marker nor its branch names a bundle", pr.Number).Fix("Close it, and publish its bundle again.")
	}
	var all []Request
	for _, text := range texts {
		r, err := ParseRequest(text)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}
