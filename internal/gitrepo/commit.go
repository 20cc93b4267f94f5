package gitrepo

import (
	"context"
	"io/fs"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/olmgraft/graft/internal/failure"
)

// Change describes a commit to make on the base.
type Change struct {
	Message string
	// Requests are the requests that the commit answers. The commit names them in its trailers, which identify
	// Graft's commits. A commit without trailers counts as a person's.
	Requests []string
	// Files holds the new content of files, and Deleted the paths to remove. All other files stay as in the base.
	Files   map[string]File
	Deleted []string
}

// File is the content of a file, byte for byte. Without a mode, an existing file keeps its mode and a new one
// gets 0644, and a path that is a symbolic link stands for the link's target. With fs.ModeSymlink the content
// is the link's target.
type File struct {
	Data []byte
	Mode fs.FileMode
}

// Commit describes a commit that was made or found.
type Commit struct {
	SHA, Tree         string
	Parents           []string
	Author, Committer Identity
	Written           time.Time
	Message           string
}

// Requests returns the requests that a commit of Graft answers. Other commits answer none.
func (c Commit) Requests() []string { return requestsOf(c.Message) }

func describeCommit(c *object.Commit) Commit {
	out := Commit{
		SHA: c.Hash.String(), Tree: c.TreeHash.String(),
		Author: Identity{c.Author.Name, c.Author.Email}, Committer: Identity{c.Committer.Name, c.Committer.Email},
		Written: c.Committer.When, Message: c.Message,
	}
	for _, p := range c.ParentHashes {
		out.Parents = append(out.Parents, p.String())
	}
	return out
}

// Commit makes a commit whose parent is the base commit. It builds the commit from the base's tree, so that the
// commit contains only the change. The commit is on no branch until it is pushed. For an empty change it
// returns the base commit.
func (r *Repo) Commit(ctx context.Context, c Change) (Commit, error) {
	if err := ctx.Err(); err != nil {
		return Commit{}, failure.New(failure.Interrupted, "committing: %w", err)
	}
	author, committer, err := r.signatures()
	if err != nil {
		return Commit{}, err
	}
	b := &builder{store: r.store, base: newTreeFS(r.store, r.commit.TreeHash, time.Time{})}
	edits, err := b.edits(c)
	if err != nil {
		return Commit{}, err
	}
	tree, _, err := b.tree(r.commit.TreeHash, edits)
	if err != nil {
		return Commit{}, refused("committing", err)
	}
	if tree == r.commit.TreeHash {
		return describeCommit(r.commit), nil
	}
	var trailers []string
	for _, request := range c.Requests {
		trailers = append(trailers, TrailerKey+": "+request)
	}
	if len(c.Requests) > 0 {
		trailers = append(trailers, treeKey+": "+tree.String())
	}
	if r.o.Signoff {
		trailers = append(trailers, "Signed-off-by: "+committer.Name+" <"+committer.Email+">")
	}
	made := &object.Commit{
		Author: author, Committer: committer, Message: compose(c.Message, trailers...),
		TreeHash: tree, ParentHashes: []plumbing.Hash{r.commit.Hash},
	}
	if made.Hash, err = r.store.encode(made); err != nil {
		return Commit{}, failure.New(failure.GitFailed, "committing: %w", err)
	}
	r.made[made.Hash] = madeCommit{made, append(b.made, tree, made.Hash)}
	return describeCommit(made), nil
}

// madeCommit is a commit with all objects that the base lacks.
type madeCommit struct {
	*object.Commit
	objects []plumbing.Hash
}

func (r *Repo) signatures() (author, committer object.Signature, err error) {
	now := r.o.Now()
	author, committer = r.o.Author.signature(now), r.o.Committer.signature(now)
	for _, s := range []object.Signature{author, committer} {
		if s.Name == "" || s.Email == "" {
			return author, committer, failure.New(failure.Usage, "committing: there is no author").
				Fix("Give the author as NAME <EMAIL>.")
		}
	}
	return author, committer, nil
}
