package gitremote

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// Commit commits to a branch as a third party would have pushed it, and returns the
// commit. A branch that is not there starts at the default branch, or with nothing.
func (r *Repo) Commit(branch string, c Change) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	storage := r.open()
	name := plumbing.NewBranchReferenceName(branch)
	var parents []plumbing.Hash
	files := map[string]object.TreeEntry{}
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
	tree, err := writeTree(storage, files)
	if err != nil {
		return "", err
	}
	now := time.Now()
	author := parseIdentity(c.Author, now)
	committer := author
	if c.Committer != "" {
		committer = parseIdentity(c.Committer, now)
	}
	commit, err := write(storage, &object.Commit{
		Author: author, Committer: committer, Message: c.Message, TreeHash: tree, ParentHashes: parents,
	})
	if err != nil {
		return "", err
	}
	return commit.String(), r.setReference(name, commit)
}

func (c Change) apply(storage storer.EncodedObjectStorer, files map[string]object.TreeEntry) error {
	for _, name := range c.Deleted {
		delete(files, name)
	}
	for name, data := range c.Files {
		blob := storage.NewEncodedObject()
		blob.SetType(plumbing.BlobObject)
		if err := fill(blob, data); err != nil {
			return err
		}
		hash, err := storage.SetEncodedObject(blob)
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
		files[name] = object.TreeEntry{Name: name[strings.LastIndex(name, "/")+1:], Mode: mode, Hash: hash}
	}
	return nil
}

// writeTree makes the trees of paths and their entries.
func writeTree(storage storer.EncodedObjectStorer, files map[string]object.TreeEntry) (plumbing.Hash, error) {
	var t object.Tree
	below := map[string]map[string]object.TreeEntry{}
	for name, e := range files {
		dir, rest, nested := strings.Cut(name, "/")
		if !nested {
			t.Entries = append(t.Entries, e)
			continue
		}
		if below[dir] == nil {
			below[dir] = map[string]object.TreeEntry{}
		}
		below[dir][rest] = e
	}
	for _, dir := range slices.Sorted(maps.Keys(below)) {
		hash, err := writeTree(storage, below[dir])
		if err != nil {
			return plumbing.ZeroHash, err
		}
		t.Entries = append(t.Entries, object.TreeEntry{Name: dir, Mode: filemode.Dir, Hash: hash})
	}
	slices.SortFunc(t.Entries, func(a, b object.TreeEntry) int { return strings.Compare(sortName(a), sortName(b)) })
	return write(storage, &t)
}

// sortName is what git orders the entries of a tree by.
func sortName(e object.TreeEntry) string {
	if e.Mode == filemode.Dir {
		return e.Name + "/"
	}
	return e.Name
}

func write(storage storer.EncodedObjectStorer, o interface {
	Encode(plumbing.EncodedObject) error
}) (plumbing.Hash, error) {
	encoded := storage.NewEncodedObject()
	if err := o.Encode(encoded); err != nil {
		return plumbing.ZeroHash, err
	}
	return storage.SetEncodedObject(encoded)
}

func fill(o plumbing.EncodedObject, data string) error {
	w, err := o.Writer()
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, data)
	return errors.Join(err, w.Close())
}

func readBlob(b *object.Blob) (string, error) {
	reader, err := b.Reader()
	if err != nil {
		return "", err
	}
	defer reader.Close()
	data, err := io.ReadAll(reader)
	return string(data), err
}
