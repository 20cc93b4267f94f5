// Package servers starts an image registry, a git remote and a stand-in for GitHub together, and returns the
// environment of a workflow that runs there.
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
	// Repository is the repository that Create makes.
	Repository = owner + "/" + name
	// Token allows pushes and pull requests as the account graft-bot.
	Token = "t0ken"
)

// Servers listen on loopback ports, without TLS.
type Servers struct {
	Registry *registry.Server
	Git      *gitremote.Server
	Forge    *fakegithub.Server
	// Repo is the repository on the git remote. It is nil until Create.
	Repo *gitremote.Repo
	// API is the address of the stand-in for GitHub.
	API string

	http   *http.Server
	alone  atomic.Bool // the API's host is an Enterprise Server's
	pages  atomic.Pointer[http.Handler]
	rights map[string]gitremote.Right
}

// Start starts the servers without a repository. With GoBackend no program needs to be installed. Close stops
// them.
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

// ShowPages sets the handler for requests outside the API, which GitHub answers with pages.
func (s *Servers) ShowPages(pages http.Handler) { s.pages.Store(&pages) }

func (s *Servers) forge(w http.ResponseWriter, r *http.Request) {
	if s.alone.Load() && !strings.HasPrefix(r.URL.Path, "/api/") {
		s.Git.ServeHTTP(w, r)
		return
	}
	if pages := s.pages.Load(); pages != nil && r.Method == http.MethodGet && (r.URL.Path == "/" || strings.HasPrefix(r.URL.Path, "/"+Repository+"/")) {
		(*pages).ServeHTTP(w, r)
		return
	}
	s.Forge.ServeHTTP(w, r)
}

// Close stops all servers and cuts all answers in progress.
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

// AddToken lets a token push, and gives it an identity on the forge.
func (s *Servers) AddToken(token string, who fakegithub.Identity) {
	s.rights[token] = gitremote.Write
	s.Git.SetTokens(gitremote.None, maps.Clone(s.rights))
	s.Forge.AddToken(token, who)
}

// Create makes the repository with the files on its default branch.
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

// forkDir makes a fork that git can push to.
func (s *Servers) forkDir(owner, name string) (string, error) {
	fork, err := s.Git.Fork(s.Repo, owner+"/"+name)
	if err != nil {
		return "", err
	}
	return fork.Dir(), nil
}

// Env returns the part of a workflow's environment that concerns these servers.
func (s *Servers) Env() map[string]string {
	return map[string]string{"GITHUB_API_URL": s.API, "GITHUB_SERVER_URL": s.Git.URL, "GITHUB_REPOSITORY": Repository, "GITHUB_TOKEN": Token}
}

// Enterprise serves repositories and, below /api only, the API on one host, as an Enterprise Server does. It
// returns the environment of a workflow there.
func (s *Servers) Enterprise() map[string]string {
	s.alone.Store(true)
	env := s.Env()
	env["GITHUB_SERVER_URL"], env["GITHUB_API_URL"] = s.API, s.API+"/api/v3"
	return env
}

// Checkout updates a folder to the default branch: it clones, or pulls if it cloned before. It leaves no token
// in the folder.
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

// PullRequests returns the repository's pull requests, ordered by number.
func (s *Servers) PullRequests() []fakegithub.PullRequest { return s.Forge.PullRequests(owner, name) }

// Changes returns the files that a pull request changes.
func (s *Servers) Changes(number int) ([]fakegithub.Change, error) {
	return s.Forge.Changes(owner, name, number)
}

// SetState closes or reopens a pull request as a maintainer does.
func (s *Servers) SetState(number int, state string) error {
	return s.Forge.SetState(owner, name, number, state)
}

// Merge merges a pull request as a maintainer does.
func (s *Servers) Merge(number int) error {
	return s.Forge.Merge(owner, name, number, "squash")
}
