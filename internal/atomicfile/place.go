package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
)

// Place names a file to write: a root, which bounds all writes, and a path in it.
type Place struct {
	Root string // absolute, without links
	Path string // slash-separated, relative to the root; links in it are followed within the root
}

func (p Place) String() string { return filepath.Join(p.Root, filepath.FromSlash(p.Path)) }

// Join returns a place below this one.
func (p Place) Join(name string) Place { return Place{p.Root, path.Join(p.Path, name)} }

// Locate checks whether a name from the command line may be written. The root is that of the name (see Root).
// Locate refuses a link out of the root, and a link or a .. out of the repository of the working directory.
// With outside it allows both: the root is then that of the file that the name leads to. It first completes or
// takes back the change of a killed run there.
func Locate(name string, outside bool) (Place, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return Place{}, failure.New(failure.Usage, "finding %s: %w", name, err)
	}
	real, err := Real(abs)
	if err != nil {
		return Place{}, failure.New(failure.EditRefused, "writing %s: %w", name, err).At(name, 0, 0).Fix("Name a file that can be written.")
	}
	roots := []string{Root(abs)}
	refused := false
	switch home, ok := repository(workingDir()); {
	case outside:
		roots = []string{Root(real)}
	case ok && below(home, abs):
		roots = append(roots, home)
	case ok:
		refused = slices.Contains(strings.Split(filepath.ToSlash(name), "/"), "..")
	}
	var at []Place
	for _, root := range roots {
		root, err := Real(root)
		if err != nil {
			return Place{}, failure.New(failure.EditRefused, "writing %s: %w", name, err).At(name, 0, 0).Fix("Name a file that can be written.")
		}
		rel, err := filepath.Rel(root, real)
		at = append(at, Place{root, filepath.ToSlash(rel)})
		refused = refused || err != nil || !filepath.IsLocal(rel)
	}
	if refused {
		return Place{}, failure.New(failure.EditRefused, "writing %s: it leads out of the repository, to %s", name, real).At(name, 0, 0).
			Fix("Name a file in the repository, or allow this one with --allow-outside.")
	}
	if err := resume(at[0].Root); err != nil {
		if failure.Is(err, failure.EditRefused) {
			return Place{}, err
		}
		return Place{}, failure.New(failure.EditRefused, "completing what a killed run began in %s: %w", at[0].Root, err)
	}
	return at[0], nil
}

// Root returns the folder that bounds an absolute path: the nearest folder above it with .git, else the working
// directory if the path is below it, else the file's own folder.
func Root(abs string) string {
	if dir, ok := repository(filepath.Dir(abs)); ok {
		return dir
	}
	if wd := workingDir(); wd != "" && below(wd, abs) {
		return wd
	}
	dir := filepath.Dir(abs)
	for dir != filepath.Dir(dir) {
		if _, err := os.Lstat(dir); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	return dir
}

// repository returns the nearest folder with .git, starting with this one.
func repository(dir string) (string, bool) {
	for dir != "" {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return dir, true
		}
		if dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	return "", false
}

// workingDir returns "" if the working directory is gone.
func workingDir() string {
	wd, err := os.Getwd()
	if err != nil {
		return ""
	}
	return wd
}

func below(dir, abs string) bool {
	rel, err := filepath.Rel(dir, abs)
	return err == nil && filepath.IsLocal(rel)
}

// Real resolves links. The last element of the path need not exist.
func Real(abs string) (string, error) {
	real, err := filepath.EvalSymlinks(abs)
	if !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	if _, err := os.Lstat(abs); err == nil {
		return "", errors.New("it is a link to nothing")
	}
	dir, err := Real(filepath.Dir(abs))
	return filepath.Join(dir, filepath.Base(abs)), err
}
