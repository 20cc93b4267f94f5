package cli

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/atomicfile"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/template/kind"
)

// repository is the directory beyond which no template reaches: the git work tree
// around it, else the working directory, else the template's own.
type repository struct {
	atomicfile.Change
	root string
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
		repo = &repository{Change: atomicfile.Change{Base: r.FS()}, root: root}
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

// inOrder are repositories by their roots, so that a run prints and writes in one order.
func inOrder(repos map[string]*repository) []*repository {
	var all []*repository
	for _, root := range slices.Sorted(maps.Keys(repos)) {
		all = append(all, repos[root])
	}
	return all
}

// write writes what the repositories become, or shows it in a dry run, with further files, all
// or none.
func (a *app) write(repos map[string]*repository, dryRun bool, more ...atomicfile.File) error {
	files := more
	for _, repo := range inOrder(repos) {
		if dryRun {
			a.printDiffs(repo)
		}
		files = append(files, repo.atomicFiles()...)
	}
	if dryRun {
		return nil
	}
	if err := atomicfile.Write(files...); err != nil {
		return failure.New(failure.EditRefused, "writing the files: %w", err).Fix("Make the files and their directories writable.")
	}
	return nil
}

// add takes the files of an outcome.
func (r *repository) add(files []kind.Written) {
	for _, w := range files {
		r.Set(w.Path, w.Before, w.After, w.New)
	}
}

func (r *repository) atomicFiles() []atomicfile.File {
	var out []atomicfile.File
	for _, name := range r.Names() {
		p, _ := r.Get(name)
		out = append(out, atomicfile.File{Path: filepath.Join(r.root, filepath.FromSlash(name)), Data: p.After})
	}
	return out
}
