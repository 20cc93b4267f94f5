package publish

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/olmgraft/graft/internal/atomicfile"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/gitrepo"
	"github.com/olmgraft/graft/internal/publish"
)

// source provides the catalogs.
type source interface {
	publish.Repository
	FS() fs.FS
	BaseBranch() string
	DefaultBranch() string
	Close() error
}

// workTree is the repository in its files, committed or not. It has no branches and accepts none.
type workTree struct {
	root *os.Root
	base string
}

// readsWorkTree reports whether this is a local dry run, which sends nothing to a remote.
func (p *publishing) readsWorkTree() bool {
	return p.dryRun && (p.action == nil || p.fromWorkTree) && !p.fromRemote && !p.refresh && p.repository == "" && p.base == ""
}

func (p *publishing) openWorkTree() (source, error) {
	dir, err := filepath.Abs(cmp.Or(p.env("GITHUB_WORKSPACE"), "."))
	var root *os.Root
	if err == nil {
		root, err = os.OpenRoot(atomicfile.Root(filepath.Join(dir, ".git")))
	}
	if err != nil {
		return nil, failure.New(failure.GitFailed, "opening the work tree: %w", err).Fix("Run in the repository of the catalogs.")
	}
	read, err := p.configs.At(root.FS(), "")
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	p.config = read.With(&p.given)
	p.line("reading the work tree %s; --remote reads the base branch in its place", root.Name())
	return workTree{root, read.PullRequest.Base}, nil
}

func (w workTree) FS() fs.FS             { return w.root.FS() }
func (w workTree) BaseBranch() string    { return w.base }
func (w workTree) DefaultBranch() string { return "" }
func (w workTree) Close() error          { return w.root.Close() }

// Base implements publish.Repository.
func (w workTree) Base(context.Context) (content fs.FS, commit string, err error) {
	return w.FS(), "", nil
}

// Inspect implements publish.Repository.
func (w workTree) Inspect(_ context.Context, branch string) (gitrepo.State, error) {
	return gitrepo.State{Branch: branch, OnlyOurs: true}, nil
}

// Deliver implements publish.Repository.
func (w workTree) Deliver(context.Context, gitrepo.Delivery) (gitrepo.Delivered, error) {
	return gitrepo.Delivered{}, errors.ErrUnsupported
}

// Delete implements publish.Repository.
func (w workTree) Delete(context.Context, string, string) error { return errors.ErrUnsupported }
