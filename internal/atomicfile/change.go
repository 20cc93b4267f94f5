package atomicfile

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// Change is a set of files to write over a tree. As an fs.FS it shows the tree with these files, so that the
// steps of one run see each other's changes.
type Change struct {
	Base  fs.FS
	files map[string]Pending
}

// Pending is one file of a change, before and after.
type Pending struct {
	Before, After []byte
	New           bool // the tree has no such file
	Gone          bool // the file is to be removed
}

// Set sets the new content of a file. If a file is set again, it keeps the first Before.
func (c *Change) Set(name string, before, after []byte, isNew bool) {
	if c.files == nil {
		c.files = map[string]Pending{}
	}
	if p, ok := c.files[name]; ok {
		before, isNew = p.Before, p.New
	}
	c.files[name] = Pending{Before: before, After: after, New: isNew}
}

// Remove removes a file from the tree.
func (c *Change) Remove(name string, before []byte) {
	c.Set(name, before, nil, false)
	p := c.files[name]
	p.Gone = true
	if c.files[name] = p; p.New {
		delete(c.files, name)
	}
}

// Get returns a file of the change.
func (c *Change) Get(name string) (Pending, bool) {
	p, ok := c.files[name]
	return p, ok
}

// Names returns the paths of the files whose content differs, in order.
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
	f, err := c.Base.Open(name)
	if errors.Is(err, fs.ErrNotExist) && c.begins(name) {
		return &folder{opened{name: path.Base(name)}}, nil
	}
	return f, err
}

// begins reports whether new files create a folder.
func (c *Change) begins(dir string) bool {
	for name, p := range c.files {
		if p.New && strings.HasPrefix(name, dir+"/") {
			return true
		}
	}
	return false
}

// ReadDir implements fs.ReadDirFS. It includes new files and new folders, and leaves out removed files.
func (c *Change) ReadDir(dir string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(c.Base, dir)
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return c.files[path.Join(dir, e.Name())].Gone })
	found := false
	for name, p := range c.files {
		inside, below := strings.CutPrefix(name, dir+"/")
		if dir == "." {
			inside, below = name, true
		}
		if !p.New || !below {
			continue
		}
		found = true
		info := fs.FileInfo(&opened{Reader: bytes.NewReader(p.After), name: inside})
		if first, _, deeper := strings.Cut(inside, "/"); deeper {
			if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == first }) {
				continue
			}
			info = &folder{opened{name: first}}
		}
		entries = append(entries, fs.FileInfoToDirEntry(info))
	}
	if found {
		slices.SortFunc(entries, func(a, b fs.DirEntry) int { return bytes.Compare([]byte(a.Name()), []byte(b.Name())) })
		return entries, nil
	}
	return entries, err
}

// opened is an open file that is not yet on disk.
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

// folder is an open folder that is not yet on disk.
type folder struct{ opened }

func (f *folder) Stat() (fs.FileInfo, error) { return f, nil }
func (f *folder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: f.name, Err: fs.ErrInvalid}
}
func (f *folder) Mode() fs.FileMode { return fs.ModeDir | 0o755 }
func (f *folder) IsDir() bool       { return true }
func (f *folder) Size() int64       { return 0 }
