package gitrepo

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

var (
	errOutside   = errors.New("a symbolic link leaves the repository")
	errTooDeep   = errors.New("too many symbolic links")
	errNoFolder  = errors.New("not a folder")
	errElsewhere = errors.New("the content is in another repository (a submodule)")
)

// mostLinks limits the links that are followed to one file.
const mostLinks = 40

// treeFS is the content of a commit. It follows symbolic links as a work tree would, but never out of the
// repository.
type treeFS struct {
	store *store
	root  plumbing.Hash
	when  time.Time

	mu    sync.Mutex
	trees map[plumbing.Hash]*object.Tree
}

var (
	_ fs.ReadFileFS = (*treeFS)(nil)
	_ fs.ReadDirFS  = (*treeFS)(nil)
	_ fs.StatFS     = (*treeFS)(nil)
	_ fs.ReadLinkFS = (*treeFS)(nil)
)

func newTreeFS(s *store, root plumbing.Hash, when time.Time) *treeFS {
	return &treeFS{store: s, root: root, when: when, trees: map[plumbing.Hash]*object.Tree{}}
}

// Open implements fs.FS.
func (t *treeFS) Open(name string) (fs.File, error) {
	info, err := t.stat("open", name, true)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		entries, err := t.list("open", name, info)
		if err != nil {
			return nil, err
		}
		return &openDir{info: info, entries: entries}, nil
	}
	data, err := t.blob("open", name, info.entry)
	if err != nil {
		return nil, err
	}
	return &openFile{info: info, Reader: bytes.NewReader(data)}, nil
}

// ReadFile implements fs.ReadFileFS.
func (t *treeFS) ReadFile(name string) ([]byte, error) {
	info, err := t.stat("read", name, true)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, &fs.PathError{Op: "read", Path: name, Err: errors.New("is a folder")}
	}
	return t.blob("read", name, info.entry)
}

// ReadDir implements fs.ReadDirFS.
func (t *treeFS) ReadDir(name string) ([]fs.DirEntry, error) {
	info, err := t.stat("readdir", name, true)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: errNoFolder}
	}
	return t.list("readdir", name, info)
}

// Stat follows symbolic links.
func (t *treeFS) Stat(name string) (fs.FileInfo, error) { return asInfo(t.stat("stat", name, true)) }

// Lstat does not follow a link at the end of the path.
func (t *treeFS) Lstat(name string) (fs.FileInfo, error) { return asInfo(t.stat("lstat", name, false)) }

func asInfo(info *entryInfo, err error) (fs.FileInfo, error) {
	if err != nil {
		return nil, err
	}
	return info, nil
}

// ReadLink returns the target of a symbolic link.
func (t *treeFS) ReadLink(name string) (string, error) {
	info, err := t.stat("readlink", name, false)
	if err != nil {
		return "", err
	}
	if info.entry.Mode != filemode.Symlink {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrInvalid}
	}
	data, err := t.blob("readlink", name, info.entry)
	return string(data), err
}

// resolve returns the path that a path leads to, without symbolic links, and its entry, or nil if there is none.
func (t *treeFS) resolve(name string, followLast bool) (real string, at *object.TreeEntry, err error) {
	at = &object.TreeEntry{Name: ".", Mode: filemode.Dir, Hash: t.root}
	rest := strings.Split(name, "/")
	if name == "." {
		return name, at, nil
	}
	trail := []*object.TreeEntry{at}
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		entry, err := t.entry(trail[len(trail)-1], part)
		switch {
		case err != nil:
			return "", nil, err
		case entry == nil:
			return path.Join(append([]string{real, part}, rest...)...), nil, nil
		case entry.Mode == filemode.Symlink && (len(rest) > 0 || followLast):
			if links++; links > mostLinks {
				return "", nil, errTooDeep
			}
			target, err := t.store.blob(entry.Hash)
			if err != nil {
				return "", nil, err
			}
			to := path.Join(real, string(target))
			if path.IsAbs(string(target)) || to != "." && !fs.ValidPath(to) {
				return "", nil, errOutside
			}
			rest = append(strings.Split(to, "/"), rest...)
			real, trail = "", trail[:1]
			if to == "." {
				rest = rest[1:]
			}
		default:
			real = path.Join(real, part)
			trail = append(trail, entry)
		}
	}
	if real == "" {
		real = "."
	}
	return real, trail[len(trail)-1], nil
}

// entry returns nil if the folder has no such name.
func (t *treeFS) entry(folder *object.TreeEntry, name string) (*object.TreeEntry, error) {
	switch folder.Mode {
	case filemode.Dir:
	case filemode.Submodule:
		return nil, errElsewhere
	default:
		return nil, errNoFolder
	}
	tree, err := t.tree(folder.Hash)
	if err != nil {
		return nil, err
	}
	for i := range tree.Entries {
		if tree.Entries[i].Name == name {
			return &tree.Entries[i], nil
		}
	}
	return nil, nil
}

func (t *treeFS) tree(hash plumbing.Hash) (*object.Tree, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if known := t.trees[hash]; known != nil {
		return known, nil
	}
	tree, err := t.store.tree(hash)
	if err == nil {
		t.trees[hash] = tree
	}
	return tree, err
}

func (t *treeFS) stat(op, name string, follow bool) (*entryInfo, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	_, entry, err := t.resolve(name, follow)
	if err == nil && entry == nil || errors.Is(err, errNoFolder) {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, &fs.PathError{Op: op, Path: name, Err: err}
	}
	info, err := t.info(path.Base(name), entry)
	if err != nil {
		return nil, &fs.PathError{Op: op, Path: name, Err: err}
	}
	return info, nil
}

func (t *treeFS) info(name string, e *object.TreeEntry) (*entryInfo, error) {
	info := &entryInfo{name: name, entry: e, when: t.when}
	if e.Mode.IsFile() {
		size, err := t.store.size(e.Hash)
		if err != nil {
			return nil, err
		}
		info.size = size
	}
	return info, nil
}

// list leaves out names that are invalid in a folder. It is empty for a submodule.
func (t *treeFS) list(op, name string, of *entryInfo) ([]fs.DirEntry, error) {
	if of.entry.Mode == filemode.Submodule {
		return nil, nil
	}
	tree, err := t.tree(of.entry.Hash)
	if err != nil {
		return nil, &fs.PathError{Op: op, Path: name, Err: err}
	}
	all := make([]fs.DirEntry, 0, len(tree.Entries))
	for i := range tree.Entries {
		if e := &tree.Entries[i]; fs.ValidPath(e.Name) && e.Name != "." && !strings.Contains(e.Name, "/") {
			all = append(all, &dirEntry{fs: t, entry: e})
		}
	}
	sortByName(all)
	return all, nil
}

func (t *treeFS) blob(op, name string, e *object.TreeEntry) ([]byte, error) {
	data, err := t.store.blob(e.Hash)
	if err != nil {
		return nil, &fs.PathError{Op: op, Path: name, Err: err}
	}
	return data, nil
}
