package atomicfile

import (
	"bytes"
	"io/fs"
	"path"
	"slices"
	"time"
)

// Change is a set of files that are to be written over a tree. As an fs.FS it is the
// tree in which they stand already, so that the steps of one run see each other.
type Change struct {
	Base  fs.FS
	files map[string]Pending
}

// Pending is one file of a change, before and after.
type Pending struct {
	Before, After []byte
	New           bool // there is no such file in the tree
	Gone          bool // there is to be none
}

// Set gives a file its new content. A file that is set again keeps what it was at
// first.
func (c *Change) Set(name string, before, after []byte, isNew bool) {
	if c.files == nil {
		c.files = map[string]Pending{}
	}
	if p, ok := c.files[name]; ok {
		before, isNew = p.Before, p.New
	}
	c.files[name] = Pending{Before: before, After: after, New: isNew}
}

// Remove takes a file out of the tree.
func (c *Change) Remove(name string, before []byte) {
	c.Set(name, before, nil, false)
	p := c.files[name]
	p.Gone = true
	if c.files[name] = p; p.New {
		delete(c.files, name)
	}
}

// Get is a file of the change.
func (c *Change) Get(name string) (Pending, bool) {
	p, ok := c.files[name]
	return p, ok
}

// Names are the paths of the files whose content differs, in order.
func (c *Change) Names() []string {
	var names []string
	for name, p := range c.files {
		if p.New || p.Gone || !bytes.Equal(p.Before, p.After) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Open implements fs.FS.
func (c *Change) Open(name string) (fs.File, error) {
	if p, ok := c.files[name]; ok {
		if p.Gone {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		return &opened{Reader: bytes.NewReader(p.After), name: path.Base(name)}, nil
	}
	return c.Base.Open(name)
}

// ReadDir implements fs.ReadDirFS: new files stand in their directories, and those that are
// gone do not.
func (c *Change) ReadDir(dir string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(c.Base, dir)
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return c.files[path.Join(dir, e.Name())].Gone })
	found := false
	for name, p := range c.files {
		if path.Dir(name) == dir && p.New {
			found = true
			entries = append(entries, fs.FileInfoToDirEntry(&opened{Reader: bytes.NewReader(p.After), name: path.Base(name)}))
		}
	}
	if found {
		slices.SortFunc(entries, func(a, b fs.DirEntry) int { return bytes.Compare([]byte(a.Name()), []byte(b.Name())) })
		return entries, nil
	}
	return entries, err
}

// opened is a file that is not yet on disk.
type opened struct {
	*bytes.Reader
	name string
}

func (o *opened) Stat() (fs.FileInfo, error) { return o, nil }
func (o *opened) Close() error               { return nil }
func (o *opened) Name() string               { return o.name }
func (o *opened) Mode() fs.FileMode          { return 0o644 }
func (o *opened) ModTime() time.Time         { return time.Time{} }
func (o *opened) IsDir() bool                { return false }
func (o *opened) Sys() any                   { return nil }
