// Package files handles the files that the command line names. Each is in a repository, which bounds all reads.
// A run's changes are written as a whole or not at all.
package files

import (
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"github.com/olmgraft/graft/internal/atomicfile"
	"github.com/olmgraft/graft/internal/cli/unified"
	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
)

// Repository is the directory that bounds a template's reads: the git work tree around it, else the working
// directory, else the template's own.
type Repository struct {
	atomicfile.Change
	root string
}

// Located is a path of the command line within its repository.
type Located struct {
	Repo *Repository
	Path string // slash-separated, relative to the root, links resolved
	Name string // as given
}

// Repositories are those of one run, by their roots.
type Repositories map[string]*Repository

// Writing holds the common options of verbs that write files.
type Writing struct {
	DryRun  bool
	Outside bool
}

// Flags adds --dry-run and --allow-outside.
func (w *Writing) Flags(f *pflag.FlagSet) {
	f.BoolVar(&w.DryRun, "dry-run", false, "print the difference and write nothing")
	w.OutsideFlag(f)
}

// OutsideFlag adds only --allow-outside.
func (w *Writing) OutsideFlag(f *pflag.FlagSet) {
	f.BoolVar(&w.Outside, "allow-outside", false, "also write files outside of the repository, which a link or .. leads to")
}

// Locate finds the repository of a path to read. It follows symbolic links inside the repository and refuses
// those that lead out.
func (r Repositories) Locate(name string) (Located, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return Located{}, failure.New(failure.Usage, "finding %s: %w", name, err)
	}
	root, err := filepath.EvalSymlinks(atomicfile.Root(abs))
	if err != nil {
		return Located{}, failure.New(failure.TemplateNotFound, "opening %s: there is no such directory", name).At(name, 0, 0)
	}
	real, err := atomicfile.Real(abs)
	if err != nil {
		return Located{}, failure.New(failure.TemplateNotFound, "opening %s: %w", name, err).At(name, 0, 0)
	}
	rel, err := filepath.Rel(root, real)
	if err != nil || !filepath.IsLocal(rel) {
		return Located{}, failure.New(failure.EditRefused, "opening %s: it leads out of the repository, to %s", name, real).At(name, 0, 0).
			Fix("Keep the template in the repository, or name it where it is.")
	}
	return r.located(name, atomicfile.Place{Root: root, Path: filepath.ToSlash(rel)})
}

// LocateToWrite finds the repository of a path to edit.
func (r Repositories) LocateToWrite(name string, w Writing) (Located, error) {
	at, err := atomicfile.Locate(name, w.Outside)
	if err != nil {
		return Located{}, err
	}
	return r.located(name, at)
}

func (r Repositories) located(name string, at atomicfile.Place) (Located, error) {
	repo := r[at.Root]
	if repo == nil {
		opened, err := os.OpenRoot(at.Root)
		if err != nil {
			return Located{}, failure.New(failure.TemplateNotFound, "opening %s: %w", at.Root, err)
		}
		repo = At(at.Root, opened.FS())
		r[at.Root] = repo
	}
	return Located{Repo: repo, Path: at.Path, Name: name}, nil
}

// At returns a repository whose root is already open.
func At(root string, base fs.FS) *Repository {
	return &Repository{Change: atomicfile.Change{Base: base}, root: root}
}

// Finish prints the changes of the repositories, or writes them with further files, all or none. A failure uses
// the noun for the files.
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

// printDiffs prints the unified difference, on stderr if there is a JSON report.
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
		_, _ = out.Write(unified.Diff(old, w.Before, now, w.After))
	}
}

// Add adds the files of an outcome.
func (r *Repository) Add(files []kind.Written) {
	for _, w := range files {
		if w.Gone {
			r.Remove(w.Path, w.Before)
			continue
		}
		r.Set(w.Path, w.Before, w.After, w.New)
	}
}

// Files returns the changed files to write.
func (r *Repository) Files() []atomicfile.File {
	var out []atomicfile.File
	for _, name := range r.Names() {
		p, _ := r.Get(name)
		out = append(out, atomicfile.File{Place: atomicfile.Place{Root: r.root, Path: name}, Data: p.After, Gone: p.Gone})
	}
	return out
}

// Stdin reads standard input to its end. Its limit is above that of any file, so that the file's limit reports
// too much input.
func Stdin(in io.Reader) ([]byte, error) {
	src, err := io.ReadAll(io.LimitReader(in, 64<<20))
	if err != nil {
		return nil, failure.New(failure.Usage, "reading standard input: %w", err)
	}
	return src, nil
}

// OpenTemplate opens a template from a file, or with - from standard input.
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
