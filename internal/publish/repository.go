package publish

import (
	"context"
	"io/fs"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/forge"
	"github.com/olmgraft/graft/internal/gitrepo"
)

// Repository stores catalogs.
type Repository interface {
	// Base returns the present content of the base branch and its commit.
	Base(ctx context.Context) (content fs.FS, commit string, err error)
	// Inspect returns the state of a branch beyond the base.
	Inspect(ctx context.Context, branch string) (gitrepo.State, error)
	// Deliver puts files on a branch on top of a commit of the base. It returns git-race-lost if the base or
	// the branch moved meanwhile, and branch-edited if a person committed to the branch.
	Deliver(ctx context.Context, d gitrepo.Delivery) (gitrepo.Delivered, error)
	// Delete removes a branch if its tip is still the expected one.
	Delete(ctx context.Context, branch, expect string) error
}

// DefaultAuthor is the author of commits if none is configured. Its address belongs to no one, so that a forge
// links such commits to no account.
var DefaultAuthor = gitrepo.Identity{Name: "graft", Email: "graft@olmgraft.invalid"}

// forgeRepository makes commits through the forge.
type forgeRepository struct {
	*gitrepo.Repo
	forge forge.Forge
	// These are nil if the forge commits in its own name and signs.
	author, committer *forge.Signature
}

// CommittedBy returns the repository with commits through the forge's API. Commits that the forge does not sign
// have the same names as with git.
func CommittedBy(ctx context.Context, f forge.Forge, repo *gitrepo.Repo) (Repository, error) {
	a := forgeRepository{Repo: repo, forge: f}
	signs, err := f.Signs(ctx)
	if err != nil {
		return nil, err
	}
	if s := repo.Signing(); !signs || s.Author != DefaultAuthor {
		a.author = &forge.Signature{Name: s.Author.Name, Email: s.Author.Email}
		a.committer = &forge.Signature{Name: s.Committer.Name, Email: s.Committer.Email}
	}
	return a, nil
}

// Deliver implements Repository.
func (a forgeRepository) Deliver(ctx context.Context, d gitrepo.Delivery) (gitrepo.Delivered, error) {
	d.Put = func(ctx context.Context, made gitrepo.Commit, state gitrepo.State, changed gitrepo.Change) (string, error) {
		tip, err := a.forge.Tip(ctx)
		if err != nil {
			return "", err
		}
		if tip != d.Base {
			return "", failure.New(failure.GitRaceLost, "committing to the branch %s: %s moved to %s meanwhile", d.Branch, a.BaseBranch(), tip)
		}
		c := forge.Commit{Branch: d.Branch, Parent: d.Base, Tip: state.Head, Files: map[string][]byte{}, Deleted: changed.Deleted, Message: made.Message, Author: a.author, Committer: a.committer}
		for name, file := range changed.Files {
			c.Files[name] = file.Data
		}
		return a.forge.Commit(ctx, c)
	}
	return a.Repo.Deliver(ctx, d)
}
