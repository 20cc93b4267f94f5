package gitrepo

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/olmgraft/graft/internal/failure"
)

// builder makes the objects of one commit.
type builder struct {
	store *store
	base  *treeFS
	made  []plumbing.Hash // objects that the base lacks, or has at another path
}

// edit is the change of one path. Without a hash it removes the path.
type edit struct {
	mode filemode.FileMode
	hash plumbing.Hash
}

// edits resolves the paths in the base and stores the files.
func (b *builder) edits(c Change) (map[string]edit, error) {
	all := map[string]edit{}
	add := func(name string, e edit) error {
		if _, twice := all[name]; twice {
			return failure.New(failure.EditRefused, "committing %s: it is changed twice, once through a symbolic link", name)
		}
		all[name] = e
		return nil
	}
	for name, f := range c.Files {
		real, mode, err := b.place(name, f.Mode)
		if err != nil {
			return nil, refused("committing "+name, err)
		}
		hash, err := b.store.encode(blobOf(f.Data))
		if err != nil {
			return nil, failure.New(failure.GitFailed, "committing %s: %w", name, err)
		}
		if err := add(real, edit{mode, hash}); err != nil {
			return nil, err
		}
	}
	for _, name := range c.Deleted {
		real, _, err := b.place(name, fs.ModeSymlink)
		if err != nil {
			return nil, refused("deleting "+name, err)
		}
		if err := add(real, edit{}); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// place returns the resolved path of a file, and its mode.
func (b *builder) place(name string, mode fs.FileMode) (string, filemode.FileMode, error) {
	if !fs.ValidPath(name) || name == "." {
		return "", 0, errors.New("it is not a path within the repository")
	}
	real, at, err := b.base.resolve(name, mode&fs.ModeSymlink == 0)
	if err != nil {
		return "", 0, err
	}
	for part := range strings.SplitSeq(real, "/") {
		if strings.EqualFold(part, ".git") {
			return "", 0, errors.New("it is within git's own folder")
		}
	}
	switch {
	case at != nil && at.Mode == filemode.Dir:
		return "", 0, errors.New("there is a folder")
	case at != nil && at.Mode == filemode.Submodule:
		return "", 0, errElsewhere
	case mode&fs.ModeSymlink != 0:
		return real, filemode.Symlink, nil
	case mode&0o111 != 0, mode == 0 && at != nil && at.Mode == filemode.Executable:
		return real, filemode.Executable, nil
	}
	return real, filemode.Regular, nil
}

func refused(doing string, err error) error {
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return failure.New(failure.GitFailed, "%s: %w", doing, err)
	}
	return failure.New(failure.EditRefused, "%s: %w", doing, err).
		Fix("Name a file in the repository.")
}

// tree builds the tree that results from a tree and the edits below it. empty reports that no entry is left.
func (b *builder) tree(from plumbing.Hash, edits map[string]edit) (hash plumbing.Hash, empty bool, err error) {
	old := &object.Tree{}
	if !from.IsZero() {
		if old, err = b.store.tree(from); err != nil {
			return hash, false, err
		}
	}
	here, below, err := split(edits)
	if err != nil {
		return hash, false, err
	}
	entries := slices.Clone(old.Entries)
	set := func(name string, e edit) {
		i := slices.IndexFunc(entries, func(t object.TreeEntry) bool { return t.Name == name })
		switch {
		case i < 0 && !e.hash.IsZero():
			entries = append(entries, object.TreeEntry{Name: name, Mode: e.mode, Hash: e.hash})
			b.made = append(b.made, e.hash)
		case i >= 0 && e.hash.IsZero():
			entries = slices.Delete(entries, i, i+1)
		case i >= 0 && (entries[i].Hash != e.hash || entries[i].Mode != e.mode):
			if entries[i].Hash != e.hash {
				b.made = append(b.made, e.hash)
			}
			entries[i].Mode, entries[i].Hash = e.mode, e.hash
		}
	}
	for name, e := range here {
		set(name, e)
	}
	for name, inner := range below {
		sub, gone, err := b.subtree(old, name, inner)
		if err != nil {
			return hash, false, err
		}
		if gone {
			sub = plumbing.ZeroHash
		}
		set(name, edit{filemode.Dir, sub})
	}
	if slices.Equal(entries, old.Entries) {
		return from, len(entries) == 0, nil
	}
	slices.SortFunc(entries, func(x, y object.TreeEntry) int { return strings.Compare(sortName(x), sortName(y)) })
	hash, err = b.store.encode(&object.Tree{Entries: entries})
	return hash, len(entries) == 0, err
}

func (b *builder) subtree(old *object.Tree, name string, edits map[string]edit) (plumbing.Hash, bool, error) {
	from := plumbing.ZeroHash
	for _, e := range old.Entries {
		if e.Name != name {
			continue
		}
		if e.Mode != filemode.Dir {
			return from, false, fmt.Errorf("%s: %w", name, errNoFolder)
		}
		from = e.Hash
	}
	return b.tree(from, edits)
}

// split separates the edits of a folder from those of its subfolders.
func split(edits map[string]edit) (here map[string]edit, below map[string]map[string]edit, err error) {
	here, below = map[string]edit{}, map[string]map[string]edit{}
	for name, e := range edits {
		dir, rest, nested := strings.Cut(name, "/")
		if !nested {
			here[name] = e
			continue
		}
		if below[dir] == nil {
			below[dir] = map[string]edit{}
		}
		below[dir][rest] = e
	}
	for name := range below {
		if _, both := here[name]; both {
			return nil, nil, fmt.Errorf("%s: it is changed as a file and as a folder", name)
		}
	}
	return here, below, nil
}

// sortName returns the name by which git orders an entry of a tree.
func sortName(e object.TreeEntry) string {
	if e.Mode == filemode.Dir {
		return e.Name + "/"
	}
	return e.Name
}

type blobOf []byte

func (b blobOf) Encode(o plumbing.EncodedObject) error {
	o.SetType(plumbing.BlobObject)
	w, err := o.Writer()
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return errors.Join(err, w.Close())
}
