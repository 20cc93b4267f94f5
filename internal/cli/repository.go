package cli

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/olmgraft/graft/internal/atomicfile"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/template/kind"
)

// repository is the directory beyond which no template reaches: the git work tree
// around it, else the working directory, else the template's own.
type repository struct {
	root    string
	fsys    *os.Root
	written map[string]kind.Written // not yet on disk
}

// located is a path of the command line within its repository.
type located struct {
	repo *repository
	path string // slash-separated, from the root, links resolved
	name string // as given
}

// locate finds the repository of a path. A symbolic link is followed inside of it and
// refused where it leads out.
func (a *app) locate(known map[string]*repository, name string) (located, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return located{}, failure.New(failure.Usage, "finding %s: %w", name, err)
	}
	root, err := filepath.EvalSymlinks(repositoryRoot(abs))
	if err != nil {
		return located{}, failure.New(failure.TemplateNotFound, "opening %s: there is no such directory", name).At(name, 0, 0)
	}
	real, err := realPath(abs)
	if err != nil {
		return located{}, failure.New(failure.TemplateNotFound, "opening %s: %w", name, err).At(name, 0, 0)
	}
	rel, err := filepath.Rel(root, real)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return located{}, failure.New(failure.EditRefused, "opening %s: it leads out of the repository, to %s", name, real).At(name, 0, 0).
			Fix("Keep the template in the repository, or name it where it is.")
	}
	repo := known[root]
	if repo == nil {
		r, err := os.OpenRoot(root)
		if err != nil {
			return located{}, failure.New(failure.TemplateNotFound, "opening %s: %w", root, err)
		}
		repo = &repository{root: root, fsys: r, written: map[string]kind.Written{}}
		known[root] = repo
	}
	return located{repo: repo, path: filepath.ToSlash(rel), name: name}, nil
}

func repositoryRoot(abs string) string {
	for dir := filepath.Dir(abs); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	if wd, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(wd, abs); err == nil && filepath.IsLocal(rel) {
			return wd
		}
	}
	return filepath.Dir(abs)
}

// realPath resolves links; the last element need not exist yet.
func realPath(abs string) (string, error) {
	real, err := filepath.EvalSymlinks(abs)
	if !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	if _, err := os.Lstat(abs); err == nil {
		return "", errors.New("it is a link to nothing")
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if errors.Is(err, fs.ErrNotExist) {
		return "", errors.New("there is no such directory")
	}
	return filepath.Join(dir, filepath.Base(abs)), err
}

// Open makes a repository an fs.FS in which what is going to be written stands
// already, so that several inserts of one run see each other.
func (r *repository) Open(name string) (fs.File, error) {
	if w, ok := r.written[name]; ok {
		return &pending{Reader: bytes.NewReader(w.After), name: path.Base(name)}, nil
	}
	return r.fsys.FS().Open(name)
}

// pending is a file that is not yet on disk.
type pending struct {
	*bytes.Reader
	name string
}

func (p *pending) Stat() (fs.FileInfo, error) { return p, nil }
func (p *pending) Close() error               { return nil }
func (p *pending) Name() string               { return p.name }
func (p *pending) Mode() fs.FileMode          { return 0o644 }
func (p *pending) ModTime() time.Time         { return time.Time{} }
func (p *pending) IsDir() bool                { return false }
func (p *pending) Sys() any                   { return nil }

// add takes the files of an outcome; a file that was changed before keeps what it was
// at first.
func (r *repository) add(files []kind.Written) {
	for _, w := range files {
		if before, ok := r.written[w.Path]; ok {
			w.Before, w.New = before.Before, before.New
		}
		r.written[w.Path] = w
	}
}

func (r *repository) atomicFiles() []atomicfile.File {
	var out []atomicfile.File
	for p, w := range r.written {
		out = append(out, atomicfile.File{Path: filepath.Join(r.root, filepath.FromSlash(p)), Data: w.After})
	}
	return out
}
