// Package atomicfile writes all files of Graft: never outside a root, each by a rename, and several as one change.
package atomicfile

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// File is a file to write. An existing file keeps its mode; a new one gets 0644. A symbolic link stays, and its
// target is replaced. Gone removes the file.
type File struct {
	Place
	Data []byte
	Gone bool
}

// Write writes all files, or leaves all unchanged. It first writes the new content beside each file and then
// renames it, so that a reader never sees half a file. If a rename fails, Write undoes the earlier ones. If a
// kill interrupts it in a repository, the next Locate there completes the change if all new content was
// written, or else takes it back.
func Write(files ...File) (err error) {
	roots := map[string]*os.Root{}
	defer func() {
		for _, r := range roots {
			err = errors.Join(err, r.Close())
		}
	}()
	var all []*staged
	for _, f := range files {
		s, err := plan(roots, f, len(files) > 1)
		if err != nil {
			return err
		}
		all = append(all, s)
	}
	notes, err := note(all)
	defer func() {
		left := false
		for _, s := range all {
			left = !s.cleanUp() || left
		}
		for _, j := range notes {
			err = errors.Join(err, j.end(left))
		}
	}()
	if err != nil {
		return err
	}
	for _, s := range all {
		if err := s.stage(); err != nil {
			return err
		}
	}
	for _, j := range notes {
		if err := j.move(); err != nil {
			return err
		}
	}
	for i, s := range all {
		if err := s.put(); err != nil {
			return errors.Join(fmt.Errorf("replacing %s: %w", s.path, err), undo(all[:i]))
		}
	}
	return nil
}

// note starts a journal for each root.
func note(all []*staged) (notes []*journal, err error) {
	entries := map[string][]entry{}
	for _, s := range all {
		entries[s.root.Name()] = append(entries[s.root.Name()], s.entry())
	}
	for _, root := range slices.Sorted(maps.Keys(entries)) {
		j, err := begin(root, entries[root])
		if err != nil {
			return notes, err
		}
		notes = append(notes, j)
	}
	return notes, nil
}

func (s *staged) entry() entry {
	e := entry{Path: s.path, Temp: s.temp, Backup: s.backup}
	if s.exists {
		e.Before = digest(s.old)
	}
	if !s.gone {
		e.After = digest(s.data)
	}
	return e
}

// staged is a file whose new content is written beside it until all others are too. If there are several files,
// backup is a second name of the old content until all are renamed.
type staged struct {
	root   *os.Root
	path   string // relative to the root, without links
	mode   os.FileMode
	exists bool
	gone   bool
	data   []byte
	old    []byte // the present content
	// Names beside the file; "" if unused.
	temp, backup string
	dirs         []string // created for the file, innermost first; for a removed file, its own
}

// plan resolves a file's path and mode, and changes nothing.
func plan(roots map[string]*os.Root, f File, several bool) (*staged, error) {
	root := roots[f.Root]
	if root == nil {
		opened, err := os.OpenRoot(f.Root)
		if err != nil {
			return nil, err
		}
		root, roots[f.Root] = opened, opened
	}
	s := &staged{root: root, gone: f.Gone, data: f.Data}
	var err error
	if s.path, s.mode, s.exists, err = target(root, f.Place); err != nil {
		return nil, err
	}
	if s.exists {
		if s.old, err = root.ReadFile(s.path); err != nil {
			return nil, err
		}
	}
	switch {
	case f.Gone && !s.exists:
		return nil, &os.PathError{Op: "remove", Path: s.path, Err: os.ErrNotExist}
	case f.Gone:
		s.backup, s.dirs = beside(s.path), []string{filepath.Dir(s.path)}
	default:
		s.temp = beside(s.path)
		if s.exists && several {
			s.backup = beside(s.path)
		}
	}
	return s, nil
}

// stage writes the new content beside the file.
func (s *staged) stage() (err error) {
	if s.gone {
		return nil
	}
	if !s.exists {
		if s.dirs, err = makeDirs(s.root, filepath.Dir(s.path)); err != nil {
			return err
		}
	}
	if err := create(s.root, s.temp, s.data, s.mode); err != nil || s.backup == "" {
		return err
	}
	return create(s.root, s.backup, s.old, s.mode)
}

// put moves the new content into place.
func (s *staged) put() error {
	step()
	if s.gone {
		return s.root.Rename(s.path, s.backup)
	}
	return s.root.Rename(s.temp, s.path)
}

func undo(done []*staged) error {
	var errs []error
	for _, s := range done {
		if s.backup != "" {
			errs = append(errs, s.root.Rename(s.backup, s.path))
		} else {
			errs = append(errs, s.root.Remove(s.path))
		}
	}
	return errors.Join(errs...)
}

// cleanUp removes the files beside the file, most of which are gone already, and reports whether none is left.
func (s *staged) cleanUp() bool {
	clean := true
	for _, name := range []string{s.temp, s.backup} {
		if name != "" {
			clean = removed(s.root, name) && clean
		}
	}
	for _, dir := range s.dirs {
		_ = s.root.Remove(dir) // a folder in use stays
	}
	return clean
}

// target returns the file that a place leads to within its root.
func target(root *os.Root, at Place) (name string, mode os.FileMode, exists bool, err error) {
	real, err := Real(at.String())
	if err != nil {
		return "", 0, false, err
	}
	if name, err = filepath.Rel(at.Root, real); err != nil || !filepath.IsLocal(name) {
		return "", 0, false, fmt.Errorf("%s leads out of %s", at.Path, at.Root)
	}
	info, err := root.Stat(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return name, 0o644, false, nil
	case err == nil && !info.Mode().IsRegular():
		err = &os.PathError{Op: "replace", Path: name, Err: errors.New("it is no regular file")}
	}
	if err != nil {
		return "", 0, false, err
	}
	return name, info.Mode().Perm(), true, nil
}

// SyncDir flushes the names in a folder to disk. Windows cannot do that.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func makeDirs(root *os.Root, dir string) (made []string, err error) {
	for d := dir; d != "."; d = filepath.Dir(d) {
		if _, err := root.Stat(d); !errors.Is(err, os.ErrNotExist) {
			break
		}
		made = append(made, d)
	}
	return made, root.MkdirAll(dir, 0o755)
}
