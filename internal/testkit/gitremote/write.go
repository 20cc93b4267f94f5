package gitremote

import (
	"errors"
	"io/fs"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"

	"github.com/olmgraft/graft/internal/testkit/gitobjects"
)

// Commit commits to a branch as if a third party had pushed, and returns the commit. A missing branch starts at
// the default branch, or empty.
func (r *Repo) Commit(branch string, c Change) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	storage := r.open()
	name := plumbing.NewBranchReferenceName(branch)
	var parents []plumbing.Hash
	files := gitobjects.Files{}
	for _, from := range []string{branch, DefaultBranch} {
		ref, err := storage.Reference(plumbing.NewBranchReferenceName(from))
		if errors.Is(err, plumbing.ErrReferenceNotFound) {
			continue
		}
		if err != nil {
			return "", err
		}
		if files, err = r.files(storage, ref.Hash().String()); err != nil {
			return "", err
		}
		parents = []plumbing.Hash{ref.Hash()}
		break
	}
	if err := c.apply(storage, files); err != nil {
		return "", err
	}
	tree, err := gitobjects.WriteFiles(storage, files)
	if err != nil {
		return "", err
	}
	now := time.Now()
	author := parseIdentity(c.Author, now)
	committer := author
	if c.Committer != "" {
		committer = parseIdentity(c.Committer, now)
	}
	commit, err := gitobjects.Write(storage, &object.Commit{
		Author: author, Committer: committer, Message: c.Message, TreeHash: tree, ParentHashes: parents,
	})
	if err != nil {
		return "", err
	}
	return commit.String(), r.setReference(name, commit)
}

func (c Change) apply(storage storer.EncodedObjectStorer, files gitobjects.Files) error {
	for _, name := range c.Deleted {
		delete(files, name)
	}
	for name, data := range c.Files {
		hash, err := gitobjects.WriteBlob(storage, []byte(data))
		if err != nil {
			return err
		}
		mode := filemode.Regular
		switch m := c.Modes[name]; {
		case m&fs.ModeSymlink != 0:
			mode = filemode.Symlink
		case m&0o111 != 0:
			mode = filemode.Executable
		}
		files[name] = gitobjects.Entry{Mode: mode, Hash: hash}
	}
	return nil
}
