package github

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"

	"github.com/google/go-github/v60/github"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/forge"
)

// Forge is a repository on GitHub with the base branch of its proposals.
type Forge struct {
	*Client
	repo     forge.Repository
	base     string
	settings forge.Settings
	head     forge.Repository // the repository of the branches: the same, or a fork
}

var _ forge.Forge = (*Forge)(nil)

// Forge returns a repository with its base branch and the settings of its pull requests.
func (c *Client) Forge(repo forge.Repository, base string, s forge.Settings) (*Forge, error) {
	return &Forge{Client: c, repo: repo, base: base, settings: s, head: repo}, checkRepository(repo)
}

// Signs implements forge.Forge: an app or a workflow has no account of its own.
func (f *Forge) Signs(ctx context.Context) (bool, error) {
	_, _, err := f.gh.Users.Get(ctx, "")
	switch statusOf(err) {
	case http.StatusForbidden, http.StatusNotFound:
		return true, nil
	}
	if err != nil {
		return false, f.fail(ctx, operation{doing: "looking up the account of the token"}, err)
	}
	return false, nil
}

// Tip implements forge.Forge.
func (f *Forge) Tip(ctx context.Context) (string, error) { return f.tip(ctx, f.repo, f.base) }

// tip returns the commit of a branch, or "" if there is no such branch.
func (c *Client) tip(ctx context.Context, repo forge.Repository, branch string) (string, error) {
	ref, _, err := c.gh.Git.GetRef(ctx, repo.Owner, repo.Name, "heads/"+branch)
	switch {
	case statusOf(err) == http.StatusNotFound:
		return "", nil
	case err != nil:
		return "", c.fail(ctx, operation{
			doing: fmt.Sprintf("reading the branch %s of %s", branch, repo),
			needs: "contents: read", refused: failure.GitFailed,
		}, err)
	}
	return ref.GetObject().GetSHA(), nil
}

// Open implements forge.Proposals.
func (f *Forge) Open(ctx context.Context, prefix string) ([]forge.Proposal, error) {
	var open []forge.Proposal
	for pr, err := range f.pulls(ctx, github.PullRequestListOptions{State: "open", Sort: "created", Direction: "asc"}) {
		if err != nil {
			return nil, err
		}
		marker, ours := forge.ParseMarker(pr.GetBody())
		if ours && strings.HasPrefix(marker.Key, prefix) && f.trusts(pr) && pr.GetBase().GetRef() == f.base && strings.EqualFold(headOwner(pr), f.head.Owner) {
			open = append(open, forge.Proposal{Number: pr.GetNumber(), URL: pr.GetHTMLURL(), Head: pr.GetHead().GetRef(), Marker: marker})
		}
	}
	return open, nil
}

// Titled implements forge.Proposals.
func (f *Forge) Titled(ctx context.Context, title, prefix string) ([]forge.Proposal, error) {
	var open []forge.Proposal
	for pr, err := range f.pulls(ctx, github.PullRequestListOptions{State: "open", Base: f.base, Sort: "created", Direction: "asc"}) {
		if err != nil {
			return nil, err
		}
		head := pr.GetHead()
		if pr.GetTitle() == title && strings.HasPrefix(head.GetRef(), prefix) && strings.EqualFold(head.GetRepo().GetFullName(), f.repo.String()) && pr.GetBase().GetRef() == f.base {
			open = append(open, forge.Proposal{Number: pr.GetNumber(), URL: pr.GetHTMLURL(), Head: head.GetRef()})
		}
	}
	return open, nil
}

// find returns the open pull request of a change: the one from its branch, or else the one to its base whose
// marker has its key, because people rename branches.
func (f *Forge) find(ctx context.Context, branch, key string) (*github.PullRequest, error) {
	pr, err := f.findByHead(ctx, branch, key)
	if pr != nil || err != nil || key == "" {
		return pr, err
	}
	for one, err := range f.pulls(ctx, github.PullRequestListOptions{State: "open", Sort: "created", Direction: "asc"}) {
		if err != nil {
			return nil, err
		}
		if keyOf(one) == key && one.GetBase().GetRef() == f.base && f.trusts(one) {
			return one, nil
		}
	}
	return nil, nil
}

// Past implements forge.Proposals.
func (f *Forge) Past(ctx context.Context, branch string) (past []forge.Past, err error) {
	list, err := f.fromHead(ctx, branch, "closed")
	for _, pr := range list {
		if one := f.past(pr); one.Number != 0 {
			past = append(past, one)
		}
	}
	slices.SortFunc(past, func(a, b forge.Past) int { return cmp.Compare(b.Number, a.Number) })
	return past, err
}

// Numbered implements forge.Proposals.
func (f *Forge) Numbered(ctx context.Context, number int) (forge.Past, error) {
	pr, _, err := f.gh.PullRequests.Get(ctx, f.repo.Owner, f.repo.Name, number)
	switch {
	case statusOf(err) == http.StatusNotFound:
		return forge.Past{}, nil
	case err != nil:
		return forge.Past{}, f.fail(ctx, operation{doing: "reading the pull request " + f.named(number), needs: "pull-requests: read"}, err)
	}
	return f.past(pr), nil
}

// past returns a pull request if it is Graft's and to the base.
func (f *Forge) past(pr *github.PullRequest) forge.Past {
	marker, ours := forge.ParseMarker(pr.GetBody())
	if !ours || !f.trusts(pr) || pr.GetBase().GetRef() != f.base {
		return forge.Past{}
	}
	one := forge.Proposal{Number: pr.GetNumber(), URL: pr.GetHTMLURL(), Head: pr.GetHead().GetRef(), Marker: marker}
	return forge.Past{Proposal: one, Rejected: pr.GetState() == "closed" && pr.MergedAt == nil && !marker.Withdrawn}
}

// Ended implements forge.Proposals.
func (f *Forge) Ended(ctx context.Context, branch, commit string) (bool, error) {
	open, err := f.findByHead(ctx, branch, "")
	if open != nil || err != nil {
		return false, err
	}
	list, err := f.fromHead(ctx, branch, "closed")
	for _, pr := range list {
		if pr.GetHead().GetSHA() == commit {
			return true, nil
		}
	}
	return false, err
}

// findByHead ignores the base: a second pull request from the same branch to another base would be a second one
// for one bundle.
func (f *Forge) findByHead(ctx context.Context, branch, key string) (*github.PullRequest, error) {
	list, err := f.fromHead(ctx, branch, "open")
	// Of several, the bundle's comes first, then the base's, then the oldest.
	rank := func(pr *github.PullRequest) int {
		switch {
		case key != "" && keyOf(pr) == key:
			return 0
		case pr.GetBase().GetRef() == f.base:
			return 1
		}
		return 2
	}
	var best *github.PullRequest
	for _, pr := range list {
		if best == nil || cmp.Or(cmp.Compare(rank(pr), rank(best)), cmp.Compare(pr.GetNumber(), best.GetNumber())) < 0 {
			best = pr
		}
	}
	return best, err
}

// fromHead lists the pull requests from a branch, last updated first. GitHub returns all pull requests if it
// does not understand the filter.
func (f *Forge) fromHead(ctx context.Context, branch, state string) (list []*github.PullRequest, err error) {
	all, _, err := f.gh.PullRequests.List(ctx, f.repo.Owner, f.repo.Name, &github.PullRequestListOptions{
		State: state, Head: f.head.Owner + ":" + branch, Sort: "updated", Direction: "desc", ListOptions: github.ListOptions{PerPage: 100},
	})
	if err != nil {
		return nil, f.listing(ctx, err)
	}
	for _, pr := range all {
		if pr.GetHead().GetRef() == branch && strings.EqualFold(headOwner(pr), f.head.Owner) {
			list = append(list, pr)
		}
	}
	return list, nil
}

// pulls returns the pull requests of the repository.
func (f *Forge) pulls(ctx context.Context, o github.PullRequestListOptions) iter.Seq2[*github.PullRequest, error] {
	return pages(func(page github.ListOptions) ([]*github.PullRequest, *github.Response, error) {
		o.ListOptions = page
		list, resp, err := f.gh.PullRequests.List(ctx, f.repo.Owner, f.repo.Name, &o)
		if err != nil {
			err = f.listing(ctx, err)
		}
		return list, resp, err
	})
}

// pages returns the items of a list, or the error in reading it.
func pages[T any](list func(github.ListOptions) ([]T, *github.Response, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for page := (github.ListOptions{PerPage: 100}); ; {
			items, resp, err := list(page)
			if err != nil {
				yield(*new(T), err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if page.Page = resp.NextPage; page.Page == 0 {
				return
			}
		}
	}
}

func (f *Forge) listing(ctx context.Context, err error) error {
	return f.fail(ctx, operation{doing: fmt.Sprintf("listing the pull requests of %s", f.repo), needs: "pull-requests: read"}, err)
}

// trusts reports whether a pull request's marker counts. Anyone can write a body, so it counts only if the
// branch is in the repository itself or in Graft's fork, to which only trusted people push.
func (f *Forge) trusts(pr *github.PullRequest) bool {
	return strings.EqualFold(pr.GetHead().GetRepo().GetFullName(), f.repo.String()) ||
		f.forked() && strings.EqualFold(headOwner(pr), f.head.Owner)
}

func (f *Forge) forked() bool { return !strings.EqualFold(f.head.Owner, f.repo.Owner) }

func keyOf(pr *github.PullRequest) string {
	marker, _ := forge.ParseMarker(pr.GetBody())
	return marker.Key
}

// headOwner returns the owner of the head's repository, which may no longer exist.
func headOwner(pr *github.PullRequest) string {
	if login := pr.GetHead().GetRepo().GetOwner().GetLogin(); login != "" {
		return login
	}
	return pr.GetHead().GetUser().GetLogin()
}
