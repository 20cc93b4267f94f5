// Package gitobjects reads and writes git objects for the git remote and the stand-in for GitHub.
package gitobjects

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// Entry is a file or a link in a tree.
type Entry struct {
	Mode filemode.FileMode
	Hash plumbing.Hash
}

// Files maps paths to all entries below a tree.
type Files = map[string]Entry

// ReadFiles reads the files of a tree.
func ReadFiles(s storer.EncodedObjectStorer, tree plumbing.Hash) (Files, error) {
	root, err := object.GetTree(s, tree)
	if err != nil {
		return nil, err
	}
	all := Files{}
	walker := object.NewTreeWalker(root, true, nil)
	defer walker.Close()
	for {
		name, e, err := walker.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		if e.Mode != filemode.Dir {
			all[name] = Entry{e.Mode, e.Hash}
		}
	}
}

// WriteFiles writes a tree and its subtrees.
func WriteFiles(s storer.EncodedObjectStorer, files Files) (plumbing.Hash, error) {
	tree := &object.Tree{}
	below := map[string]Files{}
	for path, e := range files {
		dir, rest, ok := strings.Cut(path, "/")
		if !ok {
			tree.Entries = append(tree.Entries, object.TreeEntry{Name: path, Mode: e.Mode, Hash: e.Hash})
			continue
		}
		if below[dir] == nil {
			below[dir] = Files{}
		}
		below[dir][rest] = e
	}
	for dir, inner := range below {
		if _, also := files[dir]; also {
			return plumbing.ZeroHash, fmt.Errorf("%s is a file and a directory", dir)
		}
		hash, err := WriteFiles(s, inner)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		tree.Entries = append(tree.Entries, object.TreeEntry{Name: dir, Mode: filemode.Dir, Hash: hash})
	}
	sort.Sort(object.TreeEntrySorter(tree.Entries))
	return Write(s, tree)
}

// Changed returns the paths at which files differ.
func Changed(before, after Files) []string {
	all := maps.Clone(before)
	if all == nil {
		all = Files{}
	}
	maps.Copy(all, after)
	maps.DeleteFunc(all, func(name string, _ Entry) bool { return before[name] == after[name] })
	return slices.Sorted(maps.Keys(all))
}

// Write stores a tree or a commit.
func Write(s storer.EncodedObjectStorer, o interface {
	Encode(plumbing.EncodedObject) error
}) (plumbing.Hash, error) {
	encoded := s.NewEncodedObject()
	if err := o.Encode(encoded); err != nil {
		return plumbing.ZeroHash, err
	}
	return store(s, encoded)
}

// WriteBlob stores the content of a file.
func WriteBlob(s storer.EncodedObjectStorer, content []byte) (plumbing.Hash, error) {
	o := s.NewEncodedObject()
	o.SetType(plumbing.BlobObject)
	w, err := o.Writer()
	if err != nil {
		return plumbing.ZeroHash, err
	}
	_, err = w.Write(content)
	if err = errors.Join(err, w.Close()); err != nil {
		return plumbing.ZeroHash, err
	}
	return store(s, o)
}

func store(s storer.EncodedObjectStorer, o plumbing.EncodedObject) (plumbing.Hash, error) {
	if s.HasEncodedObject(o.Hash()) == nil {
		return o.Hash(), nil
	}
	return s.SetEncodedObject(o)
}

// ReadBlob returns the content of a file.
func ReadBlob(s storer.EncodedObjectStorer, hash plumbing.Hash) ([]byte, error) {
	blob, err := object.GetBlob(s, hash)
	if err != nil {
		return nil, err
	}
	r, err := blob.Reader()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}
