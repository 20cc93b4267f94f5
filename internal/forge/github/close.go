package github

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/go-github/v60/github"

	"github.com/olmgraft/graft/internal/forge"
	"github.com/olmgraft/graft/internal/markdown"
)

// Close closes a pull request with a comment that says why, such as that a newer
// one contains it. One that is closed or merged already is left alone: unchanged.
//
// The comment comes first, since of a closed pull request nobody would know that it
// is missing. A run that ended in between, or an answer that was lost, does not make
// it twice: a comment of that text is looked for before.
func (c *Client) Close(ctx context.Context, owner, repo string, number int, comment string) (forge.Operation, error) {
	if err := checkRepository(owner, repo); err != nil {
		return "", err
	}
	op := operation{
		doing: fmt.Sprintf("closing the pull request %s/%s#%d", owner, repo, number),
		needs: "pull-requests: write",
	}
	pr, _, err := c.gh.PullRequests.Get(ctx, owner, repo, number)
	if err != nil {
		return "", c.fail(ctx, op, err)
	}
	if pr.GetState() != "open" {
		return forge.Unchanged, nil
	}
	if comment != "" {
		if err := c.comment(ctx, owner, repo, number, markdown.Limit(comment, MaxBody, "")); err != nil {
			return "", c.fail(ctx, op, err)
		}
	}
	closed := "closed"
	if _, _, err := c.gh.PullRequests.Edit(ctx, owner, repo, number, &github.PullRequest{State: &closed}); err != nil {
		return "", c.fail(ctx, op, err)
	}
	return forge.Closed, nil
}

func (c *Client) comment(ctx context.Context, owner, repo string, number int, body string) error {
	there, err := c.hasComment(ctx, owner, repo, number, body)
	if there || err != nil {
		return err
	}
	_, _, err = c.gh.Issues.CreateComment(onceOnly(ctx), owner, repo, number, &github.IssueComment{Body: &body})
	if err == nil || answerOf(err) != nil && statusOf(err) < 500 {
		return err
	}
	// It may have been made all the same.
	if there, again := c.hasComment(ctx, owner, repo, number, body); there || again != nil {
		return again
	}
	_, _, err = c.gh.Issues.CreateComment(onceOnly(ctx), owner, repo, number, &github.IssueComment{Body: &body})
	return err
}

func (c *Client) hasComment(ctx context.Context, owner, repo string, number int, body string) (bool, error) {
	options := &github.IssueListCommentsOptions{ListOptions: github.ListOptions{PerPage: 100}}
	for {
		list, resp, err := c.gh.Issues.ListComments(ctx, owner, repo, number, options)
		if err != nil {
			return false, err
		}
		for _, one := range list {
			if strings.TrimSpace(one.GetBody()) == strings.TrimSpace(body) {
				return true, nil
			}
		}
		if resp.NextPage == 0 {
			return false, nil
		}
		options.Page = resp.NextPage
	}
}
