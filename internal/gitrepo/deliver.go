package gitrepo

import (
	"context"
	"io/fs"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/olmgraft/graft/internal/failure"
)

// Delivery is a change to be put on a branch.
type Delivery struct {
	Change
	// Base is the commit that the change was made upon.
	Base   string
	Branch string
	// State is what the change was made upon of the branch; without it, what stands
	// there when it is delivered.
	State *State
	// Force takes a branch that a person committed to.
	Force bool
	// Put puts the branch where the commit is, in place of Push: another program makes
	// the commit anew, of which it gives the name. What changes is under the names that
	// links lead to.
	Put func(ctx context.Context, made Commit, state State, c Change) (sha string, err error)
}

// Delivered is what became of a delivery.
type Delivered struct {
	Commit  string // where the branch is
	Created bool   // the branch was not there
	Changed bool   // something was pushed
}

// Deliver commits a change and puts a branch there, in place of what an earlier delivery
// left on it. A branch that already delivers the same is left as it is. It is
// git-race-lost where the base or the branch moved meanwhile, and branch-edited where a
// person committed to the branch. The base branch itself can be delivered to as well.
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

// forget lets go of a commit, unless that is the base by now.
func (r *Repo) forget(c Commit) {
	hash := plumbing.NewHash(c.SHA)
	if hash != r.commit.Hash {
		r.store.forget(r.made[hash].objects)
		delete(r.made, hash)
	}
}
