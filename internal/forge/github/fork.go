package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/forge"
)

// longestForking is how long GitHub takes at most to fill a fork, by its documentation.
const longestForking = 5 * time.Minute

// EnsureFork gives the fork of a repository in an organization, or in the account of
// the token where that is "": the one that is there, or a new one, which is ready to be
// pushed to when this returns.
func (c *Client) EnsureFork(ctx context.Context, owner, repo, organization string) (forge.Repository, error) {
	if err := checkRepository(owner, repo); err != nil {
		return forge.Repository{}, err
	}
	op := operation{
		doing: fmt.Sprintf("forking %s/%s", owner, repo),
		needs: "administration: write and contents: read", refused: failure.GitFailed,
	}
	holder, own, err := c.holder(ctx, op, organization)
	if err != nil {
		return forge.Repository{}, err
	}
	if strings.EqualFold(holder, owner) {
		return forge.Repository{}, failure.New(failure.Usage, "%s: %s owns the repository itself", op.doing, holder).
			Fix("publish without a fork, or name another owner for it")
	}
	fork, err := c.forkAt(ctx, op, holder, owner, repo)
	if err != nil || fork.Name != "" {
		return fork, err
	}
	options := &github.RepositoryCreateForkOptions{}
	if !own {
		options.Organization = holder
	}
	// Since a fork takes a moment, GitHub answers 202, which go-github takes for an error.
	made, _, err := c.gh.Repositories.CreateFork(ctx, owner, repo, options)
	if accepted := (*github.AcceptedError)(nil); err != nil && !errors.As(err, &accepted) {
		return forge.Repository{}, c.fail(ctx, op, err)
	}
	return repositoryOf(made), c.filled(ctx, op, made)
}

// holder is who is to have the fork, and whether that is the token's own account, which
// GitHub does not want to be told as an organization. The token of an app has none.
func (c *Client) holder(ctx context.Context, op operation, organization string) (login string, own bool, err error) {
	user, _, err := c.gh.Users.Get(ctx, "")
	status := statusOf(err)
	switch {
	case err == nil && organization == "":
		return user.GetLogin(), true, nil
	case err == nil:
		return organization, strings.EqualFold(organization, user.GetLogin()), nil
	case organization != "" && (status == http.StatusForbidden || status == http.StatusNotFound):
		return organization, false, nil
	}
	f := failure.Of(c.fail(ctx, op, err))
	if f.Code == failure.ForgeAuth && status != http.StatusUnauthorized {
		f = f.Fix("name the owner of the fork; or give the token of a user, since that of a workflow or an app owns no forks")
	}
	return "", false, f
}

// forkAt looks for a fork under the name of what it was made from. One of another
// name is found by asking GitHub to fork, which then gives the one that is there.
func (c *Client) forkAt(ctx context.Context, op operation, holder, owner, repo string) (forge.Repository, error) {
	got, _, err := c.gh.Repositories.Get(ctx, holder, repo)
	switch {
	case statusOf(err) == http.StatusNotFound:
		return forge.Repository{}, nil
	case err != nil:
		return forge.Repository{}, c.fail(ctx, op, err)
	case got.GetFork() && strings.EqualFold(got.GetParent().GetFullName(), owner+"/"+repo),
		got.GetFork() && strings.EqualFold(got.GetSource().GetFullName(), owner+"/"+repo):
		return repositoryOf(got), nil
	}
	return forge.Repository{}, nil
}

func repositoryOf(got *github.Repository) forge.Repository {
	return forge.Repository{Owner: got.GetOwner().GetLogin(), Name: got.GetName()}
}

// filled waits until the fork has its default branch.
func (c *Client) filled(ctx context.Context, op operation, fork *github.Repository) error {
	owner, name := fork.GetOwner().GetLogin(), fork.GetName()
	end := c.carrier.now().Add(longestForking)
	for wait := time.Second; ; wait = min(2*wait, 20*time.Second) {
		sha, err := c.Branch(ctx, owner, name, fork.GetDefaultBranch())
		if sha != "" && err == nil {
			return nil
		}
		// An empty repository, which the fork still is, gives 409.
		if err != nil && statusOf(err) != http.StatusConflict {
			return err
		}
		if c.carrier.now().Add(wait).After(end) {
			return failure.New(failure.ForgeUnavailable, "%s: %s/%s is still empty after %s", op.doing, owner, name, longestForking)
		}
		if err := c.carrier.sleep(ctx, wait); err != nil {
			return c.fail(ctx, op, err)
		}
	}
}

// SyncFork brings a branch of a fork to what its parent has.
func (c *Client) SyncFork(ctx context.Context, owner, repo, branch string) error {
	if err := checkRepository(owner, repo); err != nil {
		return err
	}
	_, _, err := c.gh.Repositories.MergeUpstream(ctx, owner, repo, &github.RepoMergeUpstreamRequest{Branch: &branch})
	if err != nil {
		return c.fail(ctx, operation{
			doing: fmt.Sprintf("bringing the branch %s of the fork %s/%s up to date", branch, owner, repo),
			needs: "contents: write", refused: failure.GitFailed,
		}, err)
	}
	return nil
}
