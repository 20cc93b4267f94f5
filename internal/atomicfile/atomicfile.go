// Package atomicfile replaces files by rename, several as one change.
package atomicfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

// File is what is to stand at a path. The mode of a file that stands there is kept;
// a new one gets 0644. A symbolic link stays, and what it points at is replaced. With Gone
// nothing is to stand there.
type File struct {
	Path string
	Data []byte
	Gone bool
}

// Write makes all files stand there, or leaves all as they were. New content is first
// written beside each file and only then renamed, so that nobody ever reads half a
// file; if a rename fails, those done before are undone.
func Write(files ...File) error {
	var all []*staged
	defer func() {
		for _, s := range all {
			s.cleanUp()
		}
	}()
	for _, f := range files {
		s, err := stage(f, len(files) > 1)
		if err != nil {
			return err
		}
		all = append(all, s)
	}
	for i, s := range all {
		if err := s.put(); err != nil {
			return errors.Join(fmt.Errorf("replacing %s: %w", s.path, err), undo(all[:i]))
		}
	}
	return nil
}

// Stream replaces one file by what write writes, without holding it in memory. A file
// that has that content already is not touched; changed tells.
func Stream(path string, write func(io.Writer) error) (changed bool, err error) {
	real, mode, exists, err := target(path)
	if err != nil {
		return false, err
	}
	t, err := createBeside(real)
	if err != nil {
		return false, err
	}
	defer func() { _ = os.Remove(t.Name()) }() // gone already where it was renamed
	buffered := bufio.NewWriterSize(t, 1<<20)
	err = write(buffered)
	if err == nil {
		err = buffered.Flush()
	}
	if err == nil {
		err = t.Chmod(mode)
	}
	if err = errors.Join(err, t.Close()); err != nil {
		return false, err
	}
	if exists && sameContent(real, t.Name()) {
		return false, nil
	}
	return true, os.Rename(t.Name(), real)
}

// sameContent compares two files; one that cannot be read is not the same.
func sameContent(a, b string) bool {
	f, err := os.Open(a)
	if err != nil {
		return false
	}
	defer f.Close()
	g, err := os.Open(b)
	if err != nil {
		return false
	}
	defer g.Close()
	left, right := make([]byte, 1<<16), make([]byte, 1<<16)
	for {
		n, err := io.ReadFull(f, left)
		m, _ := io.ReadFull(g, right)
		if n != m || !bytes.Equal(left[:n], right[:m]) {
			return false
		}
		if err != nil {
			return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		}
	}
}

// staged is a file whose new content stands beside it. With several files, backup is
// a second name of the old content until all are renamed.
type staged struct {
	path, temp, backup string
	gone               bool
	dirs               []string // made for it, the innermost first; of a file that goes, its own
}

func stage(f File, several bool) (*staged, error) {
	if f.Gone {
		return stageGone(f.Path)
	}
	path, mode, exists, err := target(f.Path)
	if err != nil {
		return nil, err
	}
	s := &staged{path: path}
	if !exists {
		s.dirs, err = makeDirs(filepath.Dir(path))
	}
	if err == nil {
		s.temp, err = writeBeside(path, f.Data, mode)
	}
	if err == nil && exists && several {
		var old []byte
		if old, err = os.ReadFile(path); err == nil {
			s.backup, err = writeBeside(path, old, mode)
		}
	}
	if err != nil {
		s.cleanUp()
		return nil, err
	}
	return s, nil
}

// stageGone makes the name to which the file goes, until all others are done.
func stageGone(path string) (*staged, error) {
	if _, err := os.Lstat(path); err != nil {
		return nil, err
	}
	backup, err := writeBeside(path, nil, 0o600)
	return &staged{path: path, backup: backup, gone: true, dirs: []string{filepath.Dir(path)}}, err
}

// put has the new content stand there.
func (s *staged) put() error {
	if s.gone {
		return os.Rename(s.path, s.backup)
	}
	err := os.Rename(s.temp, s.path)
	if err == nil {
		s.temp = ""
	}
	return err
}

func target(path string) (real string, mode os.FileMode, exists bool, err error) {
	real, err = filepath.EvalSymlinks(path)
	if errors.Is(err, os.ErrNotExist) {
		return path, 0o644, false, nil
	}
	if err != nil {
		return "", 0, false, err
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", 0, false, err
	}
	return real, info.Mode().Perm(), true, nil
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

func makeDirs(dir string) (made []string, err error) {
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(d); !errors.Is(err, os.ErrNotExist) {
			break
		}
		made = append(made, d)
	}
	return made, os.MkdirAll(dir, 0o755)
}

func writeBeside(path string, data []byte, mode os.FileMode) (name string, err error) {
	t, err := createBeside(path)
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(t.Name())
		}
	}()
	_, err = t.Write(data)
	if err == nil {
		err = t.Chmod(mode)
	}
	if err == nil {
		err = t.Sync()
	}
	return t.Name(), errors.Join(err, t.Close())
}

func createBeside(path string) (*os.File, error) {
	t, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return nil, fmt.Errorf("writing beside %s: %w", path, err)
	}
	return t, nil
}

func undo(done []*staged) error {
	var errs []error
	for _, s := range done {
		if s.backup != "" {
			errs = append(errs, os.Rename(s.backup, s.path))
			s.backup = ""
		} else {
			errs = append(errs, os.Remove(s.path))
		}
	}
	return errors.Join(errs...)
}

func (s *staged) cleanUp() {
	for _, name := range []string{s.temp, s.backup} {
		if name != "" {
			_ = os.Remove(name)
		}
	}
	for _, dir := range s.dirs {
		_ = os.Remove(dir) // one that is in use stays
	}
}
