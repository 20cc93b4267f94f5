package github

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/google/go-github/v60/github"

	"github.com/olmgraft/graft/internal/forge"
)

func proposalOf(pr *github.PullRequest) forge.Proposal {
	marker, _ := forge.ParseMarker(pr.GetBody())
	return forge.Proposal{
		Number: pr.GetNumber(), URL: pr.GetHTMLURL(), Title: pr.GetTitle(),
		HeadOwner: headOwner(pr), Head: pr.GetHead().GetRef(), HeadSHA: pr.GetHead().GetSHA(),
		Base: pr.GetBase().GetRef(), Author: pr.GetUser().GetLogin(), Draft: pr.GetDraft(),
		Labels: labelNames(pr.Labels), Created: pr.GetCreatedAt().Time, Marker: marker,
	}
}

// find gives the open pull request of a request: the one from its head branch, or else the
// one to its base whose marker has its key, since people rename branches.
func (c *Client) find(ctx context.Context, r Request) (*github.PullRequest, error) {
	pr, err := c.findByHead(ctx, r)
	if pr != nil || err != nil || r.Marker.Key == "" {
		return pr, err
	}
	owner, _ := r.head()
	err = c.each(ctx, r.Owner, r.Repo, func(one *github.PullRequest) bool {
		marker, ok := forge.ParseMarker(one.GetBody())
		if ok && marker.Key == r.Marker.Key && one.GetBase().GetRef() == r.Base && trusted(one, r.Owner, r.Repo, owner) {
			pr = one
		}
		return pr == nil
	})
	return pr, err
}

// Open lists the open pull requests whose marker's key begins with the prefix, the
// oldest first. A body can be written by anybody, so a marker counts only where the
// change comes from a branch of the repository itself, or from a fork of one of
// forkOwners: those are the places that only trusted people push to. What the marker
// holds they may have edited, so it is checked like any other request.
func (c *Client) Open(ctx context.Context, owner, repo, prefix string, forkOwners ...string) ([]forge.Proposal, error) {
	if err := checkRepository(owner, repo); err != nil {
		return nil, err
	}
	var open []forge.Proposal
	err := c.each(ctx, owner, repo, func(pr *github.PullRequest) bool {
		marker, ok := forge.ParseMarker(pr.GetBody())
		if ok && strings.HasPrefix(marker.Key, prefix) && trusted(pr, owner, repo, forkOwners...) {
			open = append(open, proposalOf(pr))
		}
		return true
	})
	return open, err
}

// Ended reports whether a branch, OWNER:BRANCH of a fork or one of the repository, is at a
// commit that a closed or merged pull request ended with, and no open one is made from it.
func (c *Client) Ended(ctx context.Context, owner, repo, head, commit string) (bool, error) {
	if err := checkRepository(owner, repo); err != nil {
		return false, err
	}
	r := Request{Owner: owner, Repo: repo, Head: head}
	open, err := c.findByHead(ctx, r)
	if open != nil || err != nil {
		return false, err
	}
	from, branch := r.head()
	list, _, err := c.gh.PullRequests.List(ctx, owner, repo, &github.PullRequestListOptions{
		State: "closed", Head: from + ":" + branch, Sort: "updated", Direction: "desc", ListOptions: github.ListOptions{PerPage: 100},
	})
	if err != nil {
		return false, c.fail(ctx, listing(owner, repo), err)
	}
	for _, pr := range list {
		if pr.GetHead().GetRef() == branch && strings.EqualFold(headOwner(pr), from) && pr.GetHead().GetSHA() == commit {
			return true, nil
		}
	}
	return false, nil
}

// findByHead leaves the base out of the question: a second pull request of the same
// branch to another base would be a second one for one bundle.
func (c *Client) findByHead(ctx context.Context, r Request) (*github.PullRequest, error) {
	owner, branch := r.head()
	list, _, err := c.gh.PullRequests.List(ctx, r.Owner, r.Repo, &github.PullRequestListOptions{
		State: "open", Head: owner + ":" + branch, ListOptions: github.ListOptions{PerPage: 100},
	})
	if err != nil {
		return nil, c.fail(ctx, listing(r.Owner, r.Repo), err)
	}
	// Of several, that of the bundle comes first, then that of the base, then the oldest.
	rank := func(pr *github.PullRequest) int {
		marker, _ := forge.ParseMarker(pr.GetBody())
		switch {
		case marker.Key != "" && marker.Key == r.Marker.Key:
			return 0
		case pr.GetBase().GetRef() == r.Base:
			return 1
		}
		return 2
	}
	var best *github.PullRequest
	for _, pr := range list {
		// GitHub gives everything where it does not understand the filter.
		if pr.GetHead().GetRef() != branch || !strings.EqualFold(headOwner(pr), owner) {
			continue
		}
		if best == nil || cmp.Or(cmp.Compare(rank(pr), rank(best)), cmp.Compare(pr.GetNumber(), best.GetNumber())) < 0 {
			best = pr
		}
	}
	return best, nil
}

// each visits the open pull requests from the oldest on, until visit gives false.
func (c *Client) each(ctx context.Context, owner, repo string, visit func(*github.PullRequest) bool) error {
	options := &github.PullRequestListOptions{
		State: "open", Sort: "created", Direction: "asc", ListOptions: github.ListOptions{PerPage: 100},
	}
	for {
		list, resp, err := c.gh.PullRequests.List(ctx, owner, repo, options)
		if err != nil {
			return c.fail(ctx, listing(owner, repo), err)
		}
		for _, pr := range list {
			if !visit(pr) {
				return nil
			}
		}
		if resp.NextPage == 0 {
			return nil
		}
		options.Page = resp.NextPage
	}
}

func listing(owner, repo string) operation {
	return operation{
		doing: fmt.Sprintf("listing the pull requests of %s/%s", owner, repo),
		needs: "pull-requests: read",
	}
}

func trusted(pr *github.PullRequest, owner, repo string, forkOwners ...string) bool {
	if strings.EqualFold(pr.GetHead().GetRepo().GetFullName(), owner+"/"+repo) {
		return true
	}
	for _, fork := range forkOwners {
		if strings.EqualFold(headOwner(pr), fork) && !strings.EqualFold(fork, owner) {
			return true
		}
	}
	return false
}

// headOwner is who owns the repository that the change comes from; the repository
// itself may be gone.
func headOwner(pr *github.PullRequest) string {
	if login := pr.GetHead().GetRepo().GetOwner().GetLogin(); login != "" {
		return login
	}
	return pr.GetHead().GetUser().GetLogin()
}

func labelNames(labels []*github.Label) []string {
	names := make([]string, 0, len(labels))
	for _, l := range labels {
		names = append(names, l.GetName())
	}
	return names
}
