package publish

import (
	"cmp"
	"context"
	"net/url"
	"strings"

	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/config"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/forge"
	"github.com/olmgraft/graft/internal/forge/github"
	"github.com/olmgraft/graft/internal/gitrepo"
	"github.com/olmgraft/graft/internal/publish"
)

// openSource opens the source of the run's content.
func (p *publishing) openSource(ctx context.Context) (source, error) {
	if p.readsWorkTree() {
		return p.openWorkTree()
	}
	repo, err := p.openRepository(ctx)
	if err != nil {
		return nil, err
	}
	return repo, nil
}

// openRepository opens the repository at the base from the inputs, or else from its configuration, and reads
// the configuration there.
func (p *publishing) openRepository(ctx context.Context) (*gitrepo.Repo, error) {
	o := gitrepo.Options{Dir: cmp.Or(p.env("GITHUB_WORKSPACE"), "."), Base: p.base, Token: p.token}
	if p.repository != "" {
		o.URL = p.remoteURL(p.repository)
	}
	repo, read, err := p.openAt(ctx, o)
	if err == nil && o.Base == "" && read.PullRequest.Base != "" && read.PullRequest.Base != repo.BaseBranch() {
		_ = repo.Close()
		o.Base = read.PullRequest.Base
		repo, read, err = p.openAt(ctx, o)
	}
	if err != nil {
		return nil, err
	}
	p.config = read.With(&p.given)
	p.sign(repo)
	return repo, nil
}

func (p *publishing) openAt(ctx context.Context, o gitrepo.Options) (*gitrepo.Repo, *config.Config, error) {
	repo, err := gitrepo.Open(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	read, err := p.configs.At(repo.FS(), repo.BaseCommit())
	if err != nil {
		_ = repo.Close()
	}
	return repo, read, err
}

// sign sets the identities of commits.
func (p *publishing) sign(repo *gitrepo.Repo) {
	c := p.config.Commit
	s := gitrepo.Signing{Author: publish.DefaultAuthor, Committer: gitrepo.Identity(c.Committer), Signoff: c.Signoff}
	if c.Author != (config.Person{}) {
		s.Author = gitrepo.Identity(c.Author)
	}
	repo.Sign(s)
}

// remoteURL returns the address of OWNER/NAME on the run's server, or the given URL.
func (p *publishing) remoteURL(repository string) string {
	if strings.Contains(repository, "://") || strings.Count(repository, "/") != 1 {
		return repository
	}
	return strings.TrimSuffix(cmp.Or(p.env("GITHUB_SERVER_URL"), "https://github.com"), "/") + "/" + repository
}

// connect adds a repository that delivers, and the forge. A dry run needs no forge.
func (p *publishing) connect(ctx context.Context, from source, r *publish.Run) error {
	r.Repository = from
	repo, remote := from.(*gitrepo.Repo)
	if !remote || p.dryRun && !p.refresh {
		return nil
	}
	f, err := p.forge(repo)
	if err != nil {
		return err
	}
	if owner := p.pushToFork; owner != "" && owner != "false" && !p.dryRun {
		if err := p.useFork(ctx, f, repo, owner); err != nil {
			return err
		}
	}
	if p.config.Commit.Method == config.WithAPI {
		if r.Repository, err = publish.CommittedBy(ctx, f, repo); err != nil {
			return err
		}
	}
	r.Forge = f
	return nil
}

// forge returns the repository's host. Only this function knows the available forges.
func (p *publishing) forge(repo *gitrepo.Repo) (forge.Forge, error) {
	at, err := p.ownerAndName(repo)
	if err != nil {
		return nil, err
	}
	client, err := github.New(github.Options{APIURL: p.env("GITHUB_API_URL"), ServerURL: p.env("GITHUB_SERVER_URL"), Token: p.token, UserAgent: "graft/" + command.Version})
	if err != nil {
		return nil, err
	}
	pr := p.config.PullRequest
	return client.Forge(at, repo.BaseBranch(), forge.Settings{
		Labels: pr.Labels, Reviewers: pr.Reviewers, TeamReviewers: pr.TeamReviewers, Assignees: pr.Assignees, Milestone: pr.Milestone,
		Draft: pr.Draft, AutoMerge: pr.AutoMerge, MaintainerCanModify: pr.MaintainerCanModify,
	})
}

// ownerAndName follows the base's address, because pushes and pull requests must go to the same repository.
func (p *publishing) ownerAndName(repo *gitrepo.Repo) (forge.Repository, error) {
	full := p.env("GITHUB_REPOSITORY")
	if u, err := url.Parse(repo.URL()); err == nil && u.Host != "" {
		parts := strings.Split(strings.TrimSuffix(strings.Trim(u.Path, "/"), ".git"), "/")
		if len(parts) >= 2 {
			full = strings.Join(parts[len(parts)-2:], "/")
		}
	}
	owner, name, ok := strings.Cut(full, "/")
	if !ok || strings.Contains(name, "/") {
		return forge.Repository{}, failure.New(failure.Usage, "looking for the repository's name on the forge: %q is not OWNER/NAME", full).Fix("Give --repository OWNER/NAME.")
	}
	return forge.Repository{Owner: owner, Name: name}, nil
}

// useFork sends branches to a fork.
func (p *publishing) useFork(ctx context.Context, f forge.Forge, repo *gitrepo.Repo, owner string) error {
	if owner == "true" {
		owner = ""
	}
	fork, err := f.UseFork(ctx, owner)
	if err != nil {
		return err
	}
	at, err := p.ownerAndName(repo)
	if err != nil {
		return err
	}
	// The fork is beside the repository, under its own name.
	address, git := strings.CutSuffix(repo.URL(), ".git")
	address = strings.TrimSuffix(address, at.String()) + fork.String()
	if git {
		address += ".git"
	}
	return repo.PushTo(address)
}
