package gitrepo

import (
	"context"
	"io/fs"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/olmgraft/graft/internal/failure"
)

// Delivery describes a change to put on a branch.
type Delivery struct {
	Change
	// Base is the commit on which the change was made.
	Base   string
	Branch string
	// State is the state of the branch on which the change was made. nil means its state at the delivery.
	State *State
	// Force replaces a branch that has a person's commits.
	Force bool
	// Put replaces Push: another program makes the commit again, points the branch at it, and returns its name.
	// The change names files by their paths without links.
	Put func(ctx context.Context, made Commit, state State, c Change) (sha string, err error)
}

// Delivered is the result of a delivery.
type Delivered struct {
	Commit  string // the tip of the branch
	Created bool   // the branch is new
	Changed bool   // something was pushed
}

// Deliver commits a change and points a branch at the commit. It replaces an earlier delivery on the branch,
// and does not touch a branch that already delivers the same. It returns git-race-lost if the base or the
// branch moved meanwhile, and branch-edited if a person committed to the branch. The base branch is a valid
// target too.
func (r *Repo) Deliver(ctx context.Context, d Delivery) (Delivered, error) {
	d.Branch = strings.TrimPrefix(d.Branch, "refs/heads/")
	if len(d.Requests) == 0 {
		d.Requests = []string{d.Branch}
	}
	if d.Base != r.BaseCommit() {
		return Delivered{}, failure.New(failure.GitRaceLost, "committing to %s: the base %s moved from %s to %s", d.Branch, r.base, d.Base, r.BaseCommit())
	}
	made, err := r.Commit(ctx, d.Change)
	if err != nil || made.SHA == d.Base {
		return Delivered{Commit: made.SHA}, err
	}
	defer r.forget(made)
	if r.target == r.source && d.Branch == r.base {
		err := r.Push(ctx, Push{Branch: d.Branch, Commit: made.SHA, Expect: d.Base})
		return Delivered{Commit: made.SHA, Changed: true}, err
	}
	state, err := r.stateFor(ctx, d)
	if err != nil {
		return Delivered{}, err
	}
	if !state.OnlyOurs && !d.Force {
		return Delivered{}, state.edited(r.target.url)
	}
	if holds, err := r.Holds(ctx, state, made); err != nil || holds {
		return Delivered{Commit: state.Head}, err
	}
	out := Delivered{Commit: made.SHA, Created: !state.Exists, Changed: true}
	if d.Put != nil {
		c, err := r.resolved(d.Change)
		if err == nil {
			out.Commit, err = d.Put(ctx, made, state, c)
		}
		return out, err
	}
	return out, r.Push(ctx, Push{Branch: d.Branch, Commit: made.SHA, Expect: state.Head, Force: true, OnBase: true})
}

func (r *Repo) resolved(c Change) (Change, error) {
	b := &builder{store: r.store, base: newTreeFS(r.store, r.commit.TreeHash, time.Time{})}
	files, deleted := make(map[string]File, len(c.Files)), make([]string, 0, len(c.Deleted))
	for name, f := range c.Files {
		real, _, err := b.place(name, f.Mode)
		if err != nil {
			return c, refused("committing "+name, err)
		}
		files[real] = f
	}
	for _, name := range c.Deleted {
		real, _, err := b.place(name, fs.ModeSymlink)
		if err != nil {
			return c, refused("deleting "+name, err)
		}
		deleted = append(deleted, real)
	}
	c.Files, c.Deleted = files, deleted
	return c, nil
}

func (r *Repo) stateFor(ctx context.Context, d Delivery) (State, error) {
	if d.State != nil {
		return *d.State, nil
	}
	return r.Inspect(ctx, d.Branch)
}

// forget drops a commit unless it is now the base.
func (r *Repo) forget(c Commit) {
	hash := plumbing.NewHash(c.SHA)
	if hash != r.commit.Hash {
		r.store.forget(r.made[hash].objects)
		delete(r.made, hash)
	}
}
