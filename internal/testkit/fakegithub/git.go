package fakegithub

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/revlist"
	"github.com/go-git/go-git/v5/storage"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

var (
	errMoved     = errors.New("the reference has moved")
	errConflicts = errors.New("there are merge conflicts")
)

// gitStore holds the objects and references of a repository.
type gitStore struct {
	storage.Storer
	dir string
}

// git opens the repository again for each use, because git may have written to it on disk.
func (r *repository) git() *gitStore {
	if r.mem != nil {
		return &gitStore{Storer: r.mem}
	}
	return &gitStore{
		Storer: filesystem.NewStorage(osfs.New(r.Dir), cache.NewObjectLRUDefault()),
		dir:    r.Dir,
	}
}

// tip returns the commit of a branch, or the zero hash if the branch is absent.
func (r *repository) tip(branch string) plumbing.Hash { return r.git().ref("refs/heads/" + branch) }

func (g *gitStore) ref(name string) plumbing.Hash {
	ref, err := g.Reference(plumbing.ReferenceName(name))
	if err != nil || ref.Type() != plumbing.HashReference {
		return plumbing.ZeroHash
	}
	return ref.Hash()
}

func (g *gitStore) branches() []*plumbing.Reference { return g.refs("refs/heads/") }

func (g *gitStore) refs(prefix string) []*plumbing.Reference {
	var all []*plumbing.Reference
	iter, err := g.IterReferences()
	if err != nil {
		return nil
	}
	_ = iter.ForEach(func(ref *plumbing.Reference) error {
		if ref.Type() == plumbing.HashReference && strings.HasPrefix(ref.Name().String(), prefix) {
			all = append(all, ref)
		}
		return nil
	})
	slices.SortFunc(all, func(a, b *plumbing.Reference) int { return strings.Compare(a.Name().String(), b.Name().String()) })
	return all
}

// setRef moves a reference from the old commit, or creates it if old is zero. On disk it takes git's own lock,
// which go-git does not take.
func (g *gitStore) setRef(name string, to, old plumbing.Hash) error {
	if g.dir == "" {
		if g.ref(name) != old {
			return errMoved
		}
		return g.SetReference(plumbing.NewHashReference(plumbing.ReferenceName(name), to))
	}
	path := filepath.Join(g.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	lock, err := lockFile(path + ".lock")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(lock.Name()) }()
	_, err = fmt.Fprintf(lock, "%s\n", to)
	if err = errors.Join(err, lock.Close()); err != nil {
		return err
	}
	if g.ref(name) != old {
		return errMoved
	}
	return os.Rename(lock.Name(), path)
}

func lockFile(path string) (*os.File, error) {
	for tries := 0; ; tries++ {
		lock, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err == nil || !errors.Is(err, os.ErrExist) || tries == 100 {
			return lock, err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (g *gitStore) commit(sha plumbing.Hash) (*object.Commit, error) { return object.GetCommit(g, sha) }

// ancestors returns a commit and all of its ancestors.
func (g *gitStore) ancestors(sha plumbing.Hash) map[plumbing.Hash]bool {
	seen := map[plumbing.Hash]bool{}
	for todo := []plumbing.Hash{sha}; len(todo) > 0; {
		next := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[next] {
			continue
		}
		// History also ends at a shallow or foreign commit.
		if c, err := g.commit(next); err == nil {
			seen[next] = true
			todo = append(todo, c.ParentHashes...)
		}
	}
	return seen
}

func (g *gitStore) isAncestor(older, newer plumbing.Hash) bool { return g.ancestors(newer)[older] }

// between returns the commits that head has and base lacks, oldest first.
func (g *gitStore) between(base, head plumbing.Hash) []*object.Commit {
	known := g.ancestors(base)
	var list []*object.Commit
	var visit func(plumbing.Hash)
	visit = func(sha plumbing.Hash) {
		if known[sha] {
			return
		}
		known[sha] = true
		c, err := g.commit(sha)
		if err != nil {
			return
		}
		for _, parent := range c.ParentHashes {
			visit(parent)
		}
		list = append(list, c)
	}
	visit(head)
	return list
}

// copyHistory copies a commit and everything that it needs from one repository to another. Forks share their
// objects.
func copyHistory(to, from *repository, sha plumbing.Hash) error {
	if to == from {
		return nil
	}
	source, target := from.git(), to.git()
	if target.HasEncodedObject(sha) == nil {
		return nil
	}
	var have []plumbing.Hash
	for _, ref := range target.branches() {
		if source.HasEncodedObject(ref.Hash()) == nil {
			have = append(have, ref.Hash())
		}
	}
	hashes, err := revlist.Objects(source, []plumbing.Hash{sha}, have)
	if err != nil {
		return err
	}
	for _, hash := range hashes {
		o, err := source.EncodedObject(plumbing.AnyObject, hash)
		if err != nil {
			return err
		}
		if _, err := target.SetEncodedObject(o); err != nil {
			return err
		}
	}
	return nil
}
