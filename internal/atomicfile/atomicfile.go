// Package atomicfile is the door through which files are written: none beyond a root, each replaced by
// rename, several as one change.
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

// File is what is to stand at a place. The mode of a file that stands there is kept;
// a new one gets 0644. A symbolic link stays, and what it points at is replaced. With Gone
// nothing is to stand there.
type File struct {
	Place
	Data []byte
	Gone bool
}

// Write makes all files stand there, or leaves all as they were. New content is first
// written beside each file and only then renamed, so that nobody ever reads half a
// file; if a rename fails, those done before are undone. What a kill interrupts in a repository, the next
// Locate in it completes, if all of the new content was there, or takes back.
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

// note begins a journal for each root.
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

// staged is a file whose new content is to stand beside it, until all others do. With several files,
// backup is a second name of the old content until all are renamed.
type staged struct {
	root   *os.Root
	path   string // from the root, without links
	mode   os.FileMode
	exists bool
	gone   bool
	data   []byte
	old    []byte // what stands there
	// Names beside it, empty where there is nothing.
	temp, backup string
	dirs         []string // made for it, the innermost first; of a file that goes, its own
}

// plan finds out what a file takes, and changes nothing.
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

// stage has the new content stand beside the file.
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

// put has the new content stand there.
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

// cleanUp takes away what stands beside the file, most of which is gone already, and reports whether
// all of it is.
func (s *staged) cleanUp() bool {
	clean := true
	for _, name := range []string{s.temp, s.backup} {
		if name != "" {
			clean = removed(s.root, name) && clean
		}
	}
	for _, dir := range s.dirs {
		_ = s.root.Remove(dir) // one that is in use stays
	}
	return clean
}

// target is the file that a place leads to within its root.
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

// SyncDir has the names in a folder on the disk. Windows has no way to ask for that.
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
