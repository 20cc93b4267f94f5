// Package servers is an image registry, a git remote and a stand-in for GitHub, started
// together, with the environment of a workflow that runs there.
package servers

import (
	"errors"
	"maps"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/go-git/go-git/v5"
	transport "github.com/go-git/go-git/v5/plumbing/transport/http"

	"github.com/olmgraft/graft/internal/testkit/fakegithub"
	"github.com/olmgraft/graft/internal/testkit/gitremote"
	"github.com/olmgraft/graft/internal/testkit/registry"
	"github.com/olmgraft/graft/internal/testkit/wire"
)

const (
	owner, name = "octo", "catalog"
	// Repository is the one that Create makes.
	Repository = owner + "/" + name
	// Token may push to it and open pull requests, as the account graft-bot.
	Token = "t0ken"
)

// Servers serve on loopback ports, without TLS.
type Servers struct {
	Registry *registry.Server
	Git      *gitremote.Server
	Forge    *fakegithub.Server
	// Repo is the repository as it is on the git remote; nil until Create.
	Repo *gitremote.Repo
	// API is the address of the stand-in for GitHub.
	API string

	http   *http.Server
	pages  atomic.Pointer[http.Handler]
	rights map[string]gitremote.Right
}

// Start starts them, without a repository. The git remote is of a kind: with GoBackend
// nothing needs to be installed. Close ends them.
func Start(backend gitremote.Backend) (*Servers, error) {
	s := &Servers{Forge: fakegithub.New(fakegithub.Options{}), rights: map[string]gitremote.Right{}}
	var err error
	if s.Registry, err = registry.Start(); err != nil {
		return nil, err
	}
	if s.Git, err = gitremote.Start(gitremote.Options{Backend: backend}); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	var addr string
	if addr, s.http, err = wire.Serve(http.HandlerFunc(s.forge)); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.API = "http://" + addr
	s.AddToken(Token, fakegithub.Identity{Login: "graft-bot"})
	return s, nil
}

// ShowPages has a handler answer what is no request to the API, as GitHub has pages beside it.
func (s *Servers) ShowPages(pages http.Handler) { s.pages.Store(&pages) }

func (s *Servers) forge(w http.ResponseWriter, r *http.Request) {
	if pages := s.pages.Load(); pages != nil && r.Method == http.MethodGet && (r.URL.Path == "/" || strings.HasPrefix(r.URL.Path, "/"+Repository+"/")) {
		(*pages).ServeHTTP(w, r)
		return
	}
	s.Forge.ServeHTTP(w, r)
}

// Close ends all of them, and every answer that is under way.
func (s *Servers) Close() error {
	err := s.Registry.Close()
	if s.Git != nil {
		err = errors.Join(err, s.Git.Close())
	}
	if s.http != nil {
		err = errors.Join(err, s.http.Close())
	}
	return err
}

// AddToken lets a token push, and stand for somebody on the forge.
func (s *Servers) AddToken(token string, who fakegithub.Identity) {
	s.rights[token] = gitremote.Write
	s.Git.SetTokens(gitremote.None, maps.Clone(s.rights))
	s.Forge.AddToken(token, who)
}

// Create makes the repository, with the files on its default branch.
func (s *Servers) Create(files map[string]string) error {
	var err error
	if s.Repo, err = s.Git.Create(Repository, files); err != nil {
		return err
	}
	return s.Forge.AddRepository(fakegithub.Repository{
		Owner: owner, Name: name, Dir: s.Repo.Dir(), Labels: []string{"catalog"}, Writers: []string{"graft-bot", "reviewer"},
		ForkDir: s.forkDir,
	})
}

// forkDir makes a fork where git can push to it.
func (s *Servers) forkDir(owner, name string) (string, error) {
	fork, err := s.Git.Fork(s.Repo, owner+"/"+name)
	if err != nil {
		return "", err
	}
	return fork.Dir(), nil
}

// Env is what a workflow finds in its environment, as far as it is about these servers.
func (s *Servers) Env() map[string]string {
	return map[string]string{"GITHUB_API_URL": s.API, "GITHUB_SERVER_URL": s.Git.URL, "GITHUB_REPOSITORY": Repository, "GITHUB_TOKEN": Token}
}

// Checkout brings a folder to the default branch: it clones, or pulls where it did before.
// The token is not left in the folder.
func (s *Servers) Checkout(dir string) error {
	auth := &transport.BasicAuth{Username: "x-access-token", Password: Token}
	_, err := git.PlainClone(dir, false, &git.CloneOptions{URL: s.Repo.URL(), Auth: auth})
	if !errors.Is(err, git.ErrRepositoryAlreadyExists) {
		return err
	}
	repo, err := git.PlainOpen(dir)
	if err != nil {
		return err
	}
	tree, err := repo.Worktree()
	if err != nil {
		return err
	}
	if err := tree.Pull(&git.PullOptions{Auth: auth}); !errors.Is(err, git.NoErrAlreadyUpToDate) {
		return err
	}
	return nil
}

// PullRequests are those of the repository, in the order of their numbers.
func (s *Servers) PullRequests() []fakegithub.PullRequest { return s.Forge.PullRequests(owner, name) }

// Changes are the files that a pull request changes.
func (s *Servers) Changes(number int) ([]fakegithub.Change, error) {
	return s.Forge.Changes(owner, name, number)
}

// Merge merges a pull request as a maintainer does.
func (s *Servers) Merge(number int) error {
	return s.Forge.Merge(owner, name, number, "squash")
}
