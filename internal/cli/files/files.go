// Package files is the files that a person names on the command line. Each lies in a repository, beyond
// which nothing is read; what a run changes is written as a whole or not at all.
package files

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/olmgraft/graft/internal/atomicfile"
	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
)

// Repository is the directory beyond which no template reaches: the git work tree
// around it, else the working directory, else the template's own.
type Repository struct {
	atomicfile.Change
	root string
}

// Located is a path of the command line within its repository.
type Located struct {
	Repo *Repository
	Path string // slash-separated, from the root, links resolved
	Name string // as given
}

// Repositories are those of one run, by their roots.
type Repositories map[string]*Repository

// Locate finds the repository of a path. A symbolic link is followed inside of it and
// refused where it leads out.
func (r Repositories) Locate(name string) (Located, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return Located{}, failure.New(failure.Usage, "finding %s: %w", name, err)
	}
	root, err := filepath.EvalSymlinks(Root(abs))
	if err != nil {
		return Located{}, failure.New(failure.TemplateNotFound, "opening %s: there is no such directory", name).At(name, 0, 0)
	}
	real, err := realPath(abs)
	if err != nil {
		return Located{}, failure.New(failure.TemplateNotFound, "opening %s: %w", name, err).At(name, 0, 0)
	}
	rel, err := filepath.Rel(root, real)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return Located{}, failure.New(failure.EditRefused, "opening %s: it leads out of the repository, to %s", name, real).At(name, 0, 0).
			Fix("Keep the template in the repository, or name it where it is.")
	}
	repo := r[root]
	if repo == nil {
		opened, err := os.OpenRoot(root)
		if err != nil {
			return Located{}, failure.New(failure.TemplateNotFound, "opening %s: %w", root, err)
		}
		repo = At(root, opened.FS())
		r[root] = repo
	}
	return Located{Repo: repo, Path: filepath.ToSlash(rel), Name: name}, nil
}

// At is the repository whose root is open already.
func At(root string, base fs.FS) *Repository {
	return &Repository{Change: atomicfile.Change{Base: base}, root: root}
}

// Root is the root of the repository of an absolute path.
func Root(abs string) string {
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

// realPath resolves links; what is at the end of the path need not exist yet.
func realPath(abs string) (string, error) {
	real, err := filepath.EvalSymlinks(abs)
	if !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	if _, err := os.Lstat(abs); err == nil {
		return "", errors.New("it is a link to nothing")
	}
	dir, err := realPath(filepath.Dir(abs))
	return filepath.Join(dir, filepath.Base(abs)), err
}

// Finish shows what the repositories would become, or writes it, with further files, all
// or none. A failure calls the files by the noun.
func (r Repositories) Finish(a *command.App, noun string, dryRun bool, more ...atomicfile.File) error {
	files := more
	for _, root := range slices.Sorted(maps.Keys(r)) {
		if dryRun {
			r[root].printDiffs(a)
		}
		files = append(files, r[root].Files()...)
	}
	if dryRun {
		return nil
	}
	if err := atomicfile.Write(files...); err != nil {
		return failure.New(failure.EditRefused, "writing the %s: %w", noun, err).Fix("Make the files and their directories writable.")
	}
	return nil
}

// printDiffs writes the unified difference; beside a JSON report it goes to stderr.
func (r *Repository) printDiffs(a *command.App) {
	out := a.Out
	if a.JSON {
		out = a.Err
	}
	for _, p := range r.Names() {
		w, _ := r.Get(p)
		old, now := "a/"+p, "b/"+p
		if w.New {
			old = "/dev/null"
		}
		if w.Gone {
			now = "/dev/null"
		}
		_, _ = out.Write(diff.Diff(old, w.Before, now, w.After))
	}
}

// Add takes the files of an outcome.
func (r *Repository) Add(files []kind.Written) {
	for _, w := range files {
		if w.Gone {
			r.Remove(w.Path, w.Before)
			continue
		}
		r.Set(w.Path, w.Before, w.After, w.New)
	}
}

// Files are those that differ, as they are to be written.
func (r *Repository) Files() []atomicfile.File {
	var out []atomicfile.File
	for _, name := range r.Names() {
		p, _ := r.Get(name)
		out = append(out, atomicfile.File{Path: filepath.Join(r.root, filepath.FromSlash(name)), Data: p.After, Gone: p.Gone})
	}
	return out
}

// Stdin reads standard input to its end. It has a limit, which is more than any file may
// have, so that too much is noticed.
func Stdin(in io.Reader) ([]byte, error) {
	src, err := io.ReadAll(io.LimitReader(in, 64<<20))
	if err != nil {
		return nil, failure.New(failure.Usage, "reading standard input: %w", err)
	}
	return src, nil
}

// OpenTemplate opens the template of a file, or with - that of standard input.
func OpenTemplate(in io.Reader, name string) (*template.Template, error) {
	if name == "-" {
		src, err := Stdin(in)
		if err != nil {
			return nil, err
		}
		return template.Parse("standard input", src)
	}
	at, err := Repositories{}.Locate(name)
	if err != nil {
		return nil, err
	}
	return template.Open(at.Repo, at.Path, name)
}
