// Package world is an image registry, a git remote and a stand-in for GitHub, started
// together, with the environment of a workflow that runs there.
package world

import (
	"errors"
	"maps"
	"net/http"

	"github.com/go-git/go-git/v5"
	transport "github.com/go-git/go-git/v5/plumbing/transport/http"

	"github.com/olmgraft/graft/internal/testkit/forge"
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

// World serves on loopback ports, without TLS.
type World struct {
	Registry *registry.Server
	Git      *gitremote.Server
	Forge    *forge.Server
	// Repo is the repository as it is on the git remote; nil until Create.
	Repo *gitremote.Repo
	// API is the address of the stand-in for GitHub.
	API string

	http   *http.Server
	rights map[string]gitremote.Right
}

// Start begins a world without a repository, whose git remote is of a kind: with GoBackend
// nothing needs to be installed. Close ends it.
func Start(backend gitremote.Backend) (*World, error) {
	w := &World{Forge: forge.New(forge.Options{}), rights: map[string]gitremote.Right{}}
	var err error
	if w.Registry, err = registry.Start(); err != nil {
		return nil, err
	}
	if w.Git, err = gitremote.Start(gitremote.Options{Backend: backend}); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	var addr string
	if addr, w.http, err = wire.Serve(w.Forge); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	w.API = "http://" + addr
	w.AddToken(Token, forge.Identity{Login: "graft-bot"})
	return w, nil
}

// Close ends all of them, and every answer that is under way.
func (w *World) Close() error {
	err := w.Registry.Close()
	if w.Git != nil {
		err = errors.Join(err, w.Git.Close())
	}
	if w.http != nil {
		err = errors.Join(err, w.http.Close())
	}
	return err
}

// AddToken lets a token push, and stand for somebody on the forge.
func (w *World) AddToken(token string, who forge.Identity) {
	w.rights[token] = gitremote.Write
	w.Git.SetTokens(gitremote.None, maps.Clone(w.rights))
	w.Forge.AddToken(token, who)
}

// Create makes the repository, with the files on its default branch.
func (w *World) Create(files map[string]string) error {
	var err error
	if w.Repo, err = w.Git.Create(Repository, files); err != nil {
		return err
	}
	return w.Forge.AddRepository(forge.Repository{
		Owner: owner, Name: name, Dir: w.Repo.Dir(), Labels: []string{"catalog"}, Writers: []string{"graft-bot", "reviewer"},
		ForkDir: w.forkDir,
	})
}

// forkDir makes a fork where git can push to it.
func (w *World) forkDir(owner, name string) (string, error) {
	fork, err := w.Git.Fork(w.Repo, owner+"/"+name)
	if err != nil {
		return "", err
	}
	return fork.Dir(), nil
}

// Env is what a workflow finds in its environment, as far as it is about this world.
func (w *World) Env() map[string]string {
	return map[string]string{"GITHUB_API_URL": w.API, "GITHUB_SERVER_URL": w.Git.URL, "GITHUB_REPOSITORY": Repository, "GITHUB_TOKEN": Token}
}

// Checkout brings a folder to the default branch: it clones, or pulls where it did before.
// The token is not left in the folder.
func (w *World) Checkout(dir string) error {
	auth := &transport.BasicAuth{Username: "x-access-token", Password: Token}
	_, err := git.PlainClone(dir, false, &git.CloneOptions{URL: w.Repo.URL(), Auth: auth})
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
func (w *World) PullRequests() []forge.PullRequest { return w.Forge.PullRequests(owner, name) }

// Changes are the files that a pull request changes.
func (w *World) Changes(number int) ([]forge.Change, error) {
	return w.Forge.Changes(owner, name, number)
}

// Merge merges a pull request as a maintainer does.
func (w *World) Merge(number int) error {
	return w.Forge.Merge(owner, name, number, "squash")
}
