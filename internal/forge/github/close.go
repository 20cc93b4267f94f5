package github

import (
	"context"
	"strings"

	"github.com/google/go-github/v60/github"

	"github.com/olmgraft/graft/internal/forge"
	"github.com/olmgraft/graft/internal/markdown"
	"github.com/olmgraft/graft/internal/outbound"
)

// Close implements forge.Proposals. It leaves a closed or merged pull request alone.
//
// The comment and the marker, which records who closed it, come before the state: before may delete the branch,
// GitHub then closes the pull request itself, and nobody would notice what a closed pull request lacks. Close
// first looks for a comment with that text, so that an interrupted run or a lost answer does not cause a second
// one.
func (f *Forge) Close(ctx context.Context, number int, c forge.Closing, before func() error) error {
	op := operation{doing: "closing the pull request " + f.named(number), needs: "pull-requests: write"}
	pr, _, err := f.gh.PullRequests.Get(ctx, f.repo.Owner, f.repo.Name, number)
	if err != nil {
		return f.fail(ctx, op, err)
	}
	if pr.GetState() != "open" {
		return before()
	}
	body, err := forge.Withdraw(pr.GetBody(), c.Within, MaxBody, pointer)
	if err != nil {
		return err
	}
	if c.Why != "" {
		err = f.comment(ctx, number, markdown.Limit(c.Why, MaxBody, ""))
	}
	if err == nil && body != pr.GetBody() {
		err = f.edit(ctx, number, &github.PullRequest{Body: &body})
	}
	if err != nil {
		return f.fail(ctx, op, err)
	}
	if err := before(); err != nil {
		return err
	}
	if err := f.edit(ctx, number, &github.PullRequest{State: github.String("closed")}); err != nil {
		return f.fail(ctx, op, err)
	}
	return nil
}

func (f *Forge) edit(ctx context.Context, number int, to *github.PullRequest) error {
	_, _, err := f.gh.PullRequests.Edit(ctx, f.repo.Owner, f.repo.Name, number, to)
	return err
}

func (f *Forge) comment(ctx context.Context, number int, body string) error {
	var err error
	for tries := range 2 {
		there, failed := f.hasComment(ctx, number, body)
		if there || failed != nil {
			return failed
		}
		_, _, err = f.gh.Issues.CreateComment(outbound.Once(ctx), f.repo.Owner, f.repo.Name, number, &github.IssueComment{Body: &body})
		if tries == 1 || err == nil || answerOf(err) != nil && statusOf(err) < 500 {
			break
		}
		// The comment may have been made anyway.
	}
	return err
}

func (f *Forge) hasComment(ctx context.Context, number int, body string) (bool, error) {
	for one, err := range pages(func(page github.ListOptions) ([]*github.IssueComment, *github.Response, error) {
		return f.gh.Issues.ListComments(ctx, f.repo.Owner, f.repo.Name, number, &github.IssueListCommentsOptions{ListOptions: page})
	}) {
		if err != nil || strings.TrimSpace(one.GetBody()) == strings.TrimSpace(body) {
			return err == nil, err
		}
	}
	return false, nil
}
