package gitrepo

import (
	"bytes"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// entryInfo makes an entry of a tree a fs.FileInfo.
type entryInfo struct {
	name  string
	entry *object.TreeEntry
	size  int64
	when  time.Time
}

func (i *entryInfo) Name() string       { return i.name }
func (i *entryInfo) Size() int64        { return i.size }
func (i *entryInfo) Mode() fs.FileMode  { return modeOf(i.entry.Mode) }
func (i *entryInfo) ModTime() time.Time { return i.when }
func (i *entryInfo) IsDir() bool        { return i.Mode().IsDir() }
func (i *entryInfo) Sys() any           { return nil }

func modeOf(m filemode.FileMode) fs.FileMode {
	switch m {
	case filemode.Dir, filemode.Submodule:
		return fs.ModeDir | 0o755
	case filemode.Symlink:
		return fs.ModeSymlink | 0o777
	case filemode.Executable:
		return 0o755
	}
	return 0o644
}

// dirEntry reads the size of a file only on demand.
type dirEntry struct {
	fs    *treeFS
	entry *object.TreeEntry
}

func (d *dirEntry) Name() string      { return d.entry.Name }
func (d *dirEntry) IsDir() bool       { return d.Type().IsDir() }
func (d *dirEntry) Type() fs.FileMode { return modeOf(d.entry.Mode).Type() }
func (d *dirEntry) String() string    { return fs.FormatDirEntry(d) }
func (d *dirEntry) Info() (fs.FileInfo, error) {
	return asInfo(d.fs.info(d.entry.Name, d.entry))
}

func sortByName(all []fs.DirEntry) {
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
}

type openFile struct {
	info *entryInfo
	*bytes.Reader
}

func (f *openFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *openFile) Close() error               { return nil }

type openDir struct {
	info    *entryInfo
	entries []fs.DirEntry
}

func (d *openDir) Stat() (fs.FileInfo, error) { return d.info, nil }
func (d *openDir) Close() error               { return nil }

func (d *openDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.info.name, Err: fs.ErrInvalid}
}

func (d *openDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 {
		n = len(d.entries)
	} else if len(d.entries) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(d.entries))
	all := d.entries[:n]
	d.entries = d.entries[n:]
	return all, nil
}
