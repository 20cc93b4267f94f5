package gitrepo

import (
	"context"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/storage/memory"

	"github.com/olmgraft/graft/internal/failure"
)

// State describes the commits of a branch beyond the base.
type State struct {
	Branch string
	Exists bool
	Head   string
	// OnlyOurs reports that all Commits are Graft's: each has Graft's trailers, one of which names its present
	// content, and none is a merge.
	OnlyOurs bool
	// Commits are the commits that the base lacks, newest first.
	Commits []Commit
	// Foreign is the newest commit that is not Graft's.
	Foreign *Commit
}

// Inspect reads a branch in the repository that branches are pushed to. It fetches only commits, without files
// if the remote allows that, and keeps none of them.
func (r *Repo) Inspect(ctx context.Context, branch string) (State, error) {
	branch = strings.TrimPrefix(branch, "refs/heads/")
	var state State
	err := r.target.fetching(ctx, "reading the branch "+branch+" of", func(session transport.UploadPackSession, there *refs) error {
		head, exists := there.heads[branch]
		state = State{Branch: branch, Exists: exists, OnlyOurs: true}
		if !exists {
			return nil
		}
		state.Head = head.String()
		found := layers{Storer: memory.NewStorage()}
		known, err := fetchObjects(ctx, session, there, fetchRequest{
			want: head, filter: "tree:0", haves: []plumbing.Hash{r.commit.Hash},
			unpack: func(pack io.Reader, thin bool, _, _ []plumbing.Hash) error { return found.unpack(pack, thin) },
		})
		if err != nil {
			return err
		}
		return r.judge(&state, found, head, known)
	})
	return state, err
}

// judge examines the fetched commits. They are those beyond the base if the remote knows the base. A fork
// without the newest base sends its whole history; then everything below Graft's own commits counts as an
// earlier base.
func (r *Repo) judge(state *State, found layers, head plumbing.Hash, baseKnown bool) error {
	seen := map[plumbing.Hash]bool{}
	for next := []plumbing.Hash{head}; len(next) > 0; next = next[1:] {
		if seen[next[0]] || found.HasEncodedObject(next[0]) != nil {
			continue
		}
		seen[next[0]] = true
		c, err := object.GetCommit(found, next[0])
		if err != nil {
			return err
		}
		commit := describeCommit(c)
		ours := isOurs(commit)
		if !ours && !baseKnown && len(state.Commits) > 0 {
			return nil
		}
		state.Commits = append(state.Commits, commit)
		if !ours && state.Foreign == nil {
			state.OnlyOurs, state.Foreign = false, &commit
		}
		if !ours && !baseKnown {
			return nil
		}
		next = append(next, c.ParentHashes...)
	}
	return nil
}

// isOurs compares the content with the one that the message names. The committer does not count: a person who
// amends or rebases the commit keeps its message, and the committer depends on tokens and configuration.
func isOurs(c Commit) bool {
	return len(c.Parents) == 1 && len(c.Requests()) > 0 && slices.Contains(trailersOf(c.Message, treeKey), c.Tree)
}

// Requests returns the requests that Graft's commits on the branch answer, oldest first.
func (s State) Requests() []string {
	var all []string
	for _, c := range slices.Backward(s.Commits) {
		all = append(all, c.Requests()...)
	}
	return all
}

// edited returns the failure for a branch with commits of other authors.
func (s State) edited(url string) error {
	by := "somebody"
	if s.Foreign != nil {
		subject, _, _ := strings.Cut(s.Foreign.Message, "\n")
		by = s.Foreign.Committer.String() + " committed " + s.Foreign.SHA[:12] + " (" + subject + ")"
	}
	return failure.New(failure.BranchEdited, "pushing the branch %s to %s: it is not ours alone: %s", s.Branch, url, by)
}

// Holds reports whether a branch already delivers the commit: beyond its base, it changes the same files to the
// same content and mode. The base may have changed since in other files.
func (r *Repo) Holds(ctx context.Context, s State, c Commit) (bool, error) {
	if !s.OnlyOurs || len(s.Commits) == 0 {
		return false, nil
	}
	found, moved := layers{}, false
	err := r.target.fetching(ctx, "reading the branch "+s.Branch+" of", func(session transport.UploadPackSession, there *refs) error {
		if moved = there.heads[s.Branch].String() != s.Head; moved {
			return nil
		}
		found = r.store.above(memory.NewStorage())
		w := r.requestFor(plumbing.NewHash(s.Head), len(s.Commits)+1, "blob:none")
		w.unpack = func(pack io.Reader, thin bool, _, _ []plumbing.Hash) error {
			return r.store.locked(func(layers) error { return found.unpack(pack, thin) })
		}
		_, err := fetchObjects(ctx, session, there, w)
		return err
	})
	if err != nil || moved {
		return false, err
	}
	return r.sameChange(found, s, c)
}

// sameChange compares trees without reading files. If it cannot compare them it returns false, and the commit
// is made again.
func (r *Repo) sameChange(found layers, s State, c Commit) (same bool, err error) {
	err = r.store.locked(func(layers) error {
		oldest := s.Commits[len(s.Commits)-1]
		theirs, err := between(found, plumbing.NewHash(oldest.Parents[0]), plumbing.NewHash(s.Head))
		if err != nil {
			return nil //nolint:nilerr // see above
		}
		ours, err := between(found, r.commit.Hash, plumbing.NewHash(c.SHA))
		same = maps.Equal(theirs, ours)
		return err
	})
	if err != nil {
		return false, failure.New(failure.GitFailed, "comparing with the branch %s: %w", s.Branch, err)
	}
	return same, nil
}

// between returns the differences by path, with the entry afterwards.
func between(objects layers, before, after plumbing.Hash) (map[string]edit, error) {
	from, err := object.GetCommit(objects, before)
	if err != nil {
		return nil, err
	}
	to, err := object.GetCommit(objects, after)
	if err != nil {
		return nil, err
	}
	all := map[string]edit{}
	return all, compare(objects, from.TreeHash, to.TreeHash, "", all)
}

func compare(objects layers, before, after plumbing.Hash, under string, into map[string]edit) error {
	from, err := entries(objects, before)
	if err != nil {
		return err
	}
	to, err := entries(objects, after)
	if err != nil {
		return err
	}
	all := maps.Clone(from)
	maps.Copy(all, to)
	for name := range all {
		a, b := from[name], to[name]
		if a == b {
			continue
		}
		var subA, subB plumbing.Hash
		if a.mode == filemode.Dir {
			subA = a.hash
		}
		if b.mode == filemode.Dir {
			subB = b.hash
		} else {
			into[under+name] = b
		}
		if subA != subB {
			if err := compare(objects, subA, subB, under+name+"/", into); err != nil {
				return err
			}
		}
	}
	return nil
}

func entries(objects layers, tree plumbing.Hash) (map[string]edit, error) {
	all := map[string]edit{}
	if tree.IsZero() {
		return all, nil
	}
	t, err := object.GetTree(objects, tree)
	if err != nil {
		return nil, err
	}
	for _, e := range t.Entries {
		all[e.Name] = edit{e.Mode, e.Hash}
	}
	return all, nil
}
