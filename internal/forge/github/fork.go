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

// longestForking is the longest time that GitHub takes to fill a fork, by its documentation.
const longestForking = 5 * time.Minute

// UseFork implements forge.Forge. When it returns, the fork accepts pushes.
func (f *Forge) UseFork(ctx context.Context, owner string) (fork forge.Repository, err error) {
	if fork, err = f.ensureFork(ctx, owner); err != nil {
		return fork, err
	}
	_, _, err = f.gh.Repositories.MergeUpstream(ctx, fork.Owner, fork.Name, &github.RepoMergeUpstreamRequest{Branch: &f.base})
	if err != nil {
		return fork, f.fail(ctx, operation{
			doing: fmt.Sprintf("bringing the branch %s of the fork %s up to date", f.base, fork),
			needs: "contents: write", refused: failure.GitFailed,
		}, err)
	}
	f.head = fork
	return fork, nil
}

// ensureFork returns the existing fork, or creates one.
func (f *Forge) ensureFork(ctx context.Context, organization string) (forge.Repository, error) {
	op := operation{
		doing: fmt.Sprintf("forking %s", f.repo),
		needs: "administration: write and contents: read", refused: failure.GitFailed,
	}
	holder, own, err := f.holder(ctx, op, organization)
	if err != nil {
		return forge.Repository{}, err
	}
	if strings.EqualFold(holder, f.repo.Owner) {
		return forge.Repository{}, failure.New(failure.Usage, "%s: %s owns the repository itself", op.doing, holder).
			Fix("Publish without a fork, or name another owner for it.")
	}
	// A fork with another name is found by asking GitHub to fork, which then returns the existing one.
	got, _, err := f.gh.Repositories.Get(ctx, holder, f.repo.Name)
	switch {
	case err != nil && statusOf(err) != http.StatusNotFound:
		return forge.Repository{}, f.fail(ctx, op, err)
	case got.GetFork() && (strings.EqualFold(got.GetParent().GetFullName(), f.repo.String()) || strings.EqualFold(got.GetSource().GetFullName(), f.repo.String())):
		return repositoryOf(got), nil
	}
	options := &github.RepositoryCreateForkOptions{}
	if !own {
		options.Organization = holder
	}
	// GitHub answers 202 because forking takes a moment, and go-github treats that as an error.
	made, _, err := f.gh.Repositories.CreateFork(ctx, f.repo.Owner, f.repo.Name, options)
	if accepted := (*github.AcceptedError)(nil); err != nil && !errors.As(err, &accepted) {
		return forge.Repository{}, f.fail(ctx, op, err)
	}
	return repositoryOf(made), f.filled(ctx, op, repositoryOf(made), made.GetDefaultBranch())
}

// holder returns the owner of the fork, and whether that is the token's own account, which must not be passed
// as an organization. An app's token has no account.
func (f *Forge) holder(ctx context.Context, op operation, organization string) (login string, own bool, err error) {
	user, _, err := f.gh.Users.Get(ctx, "")
	status := statusOf(err)
	switch {
	case err == nil && organization == "":
		return user.GetLogin(), true, nil
	case err == nil:
		return organization, strings.EqualFold(organization, user.GetLogin()), nil
	case organization != "" && (status == http.StatusForbidden || status == http.StatusNotFound):
		return organization, false, nil
	}
	why := failure.Of(f.fail(ctx, op, err))
	if why.Code == failure.ForgeAuth && status != http.StatusUnauthorized {
		why = why.Fix("Name the owner of the fork, or give the token of a user, because a workflow or an app owns no forks.")
	}
	return "", false, why
}

func repositoryOf(got *github.Repository) forge.Repository {
	return forge.Repository{Owner: got.GetOwner().GetLogin(), Name: got.GetName()}
}

// filled waits until the fork has its default branch.
func (f *Forge) filled(ctx context.Context, op operation, fork forge.Repository, branch string) error {
	end := f.retry.Now().Add(longestForking)
	for wait := time.Second; ; wait = min(2*wait, 20*time.Second) {
		sha, err := f.tip(ctx, fork, branch)
		if sha != "" && err == nil {
			return nil
		}
		// GitHub answers 409 while the fork is empty.
		if err != nil && statusOf(err) != http.StatusConflict {
			return err
		}
		if f.retry.Now().Add(wait).After(end) {
			return failure.New(failure.ForgeUnavailable, "%s: %s is still empty after %s", op.doing, fork, longestForking)
		}
		if err := f.retry.Sleep(ctx, wait); err != nil {
			return f.fail(ctx, op, err)
		}
	}
}
