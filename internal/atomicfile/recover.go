package atomicfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
)

var tempName = regexp.MustCompile(`^\.graft-[A-Z2-7]{26}\.tmp$`)

// resume completes or takes back the changes that killed runs recorded in a root. It leaves the journals of
// live runs alone.
func resume(root string) error {
	dir := gitDir(root)
	if dir == "" {
		return nil
	}
	found, err := filepath.Glob(filepath.Join(globbed(dir), journals, "*"+noted))
	if err != nil || len(found) == 0 {
		return err
	}
	r, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer r.Close()
	for _, name := range found {
		if err := resumeOne(r, name); err != nil {
			return err
		}
	}
	return nil
}

// globbed quotes a folder's name for use in a pattern.
func globbed(dir string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
}

func resumeOne(root *os.Root, name string) error {
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return nil //nolint:nilerr // gone, or not a journal
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return nil //nolint:nilerr // another user's
	}
	if !lock(f) || !same(f) {
		return f.Close()
	}
	j := &journal{f}
	text, err := os.ReadFile(name)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	line, rest, whole := strings.Cut(string(text), "\n")
	if !whole {
		return j.end(false) // no change was begun
	}
	var entries []entry
	err = json.Unmarshal([]byte(line), &entries)
	for _, e := range entries {
		err = errors.Join(err, e.check(root))
	}
	if err != nil {
		_ = f.Close()
		return failure.New(failure.EditRefused, "completing what a killed run began: its note says nothing that can be done: %w", err).At(name, 0, 0).
			Fix("Check the changes with git diff, then remove the note.")
	}
	if rest == moving {
		if err = forward(root, entries); err != nil && !failure.Is(err, failure.EditRefused) {
			return errors.Join(err, f.Close()) // the next run completes it
		}
	}
	left := false
	for _, e := range entries {
		for _, beside := range []string{e.Temp, e.Backup} {
			left = beside != "" && !removed(root, beside) || left
		}
	}
	return errors.Join(err, j.end(left))
}

// check refuses an entry that no run of Graft makes: one that leads out of the root, through a link or into a
// git folder, or that names another program's file as a temporary one.
func (e entry) check(root *os.Root) error {
	if !filepath.IsLocal(e.Path) || filepath.Clean(e.Path) != e.Path {
		return fmt.Errorf("%q is no path in the repository", e.Path)
	}
	for part := range strings.SplitSeq(filepath.ToSlash(e.Path), "/") {
		if strings.EqualFold(part, ".git") {
			return fmt.Errorf("%q is git's", e.Path)
		}
	}
	dir := filepath.Join(root.Name(), filepath.Dir(e.Path))
	if real, err := Real(dir); err != nil || real != dir {
		return fmt.Errorf("%q is behind a link", e.Path)
	}
	for _, name := range []string{e.Temp, e.Backup} {
		if name != "" && (filepath.Dir(name) != filepath.Dir(e.Path) || !tempName.MatchString(path.Base(filepath.ToSlash(name)))) {
			return fmt.Errorf("%q is no temporary file", name)
		}
	}
	return nil
}

// forward does the remaining renames if all files are as recorded. It never overwrites a file that changed since.
func forward(root *os.Root, entries []entry) error {
	var left []entry
	for _, e := range entries {
		stands, err := digestOf(root, e.Path)
		if err != nil {
			return err
		}
		if stands == e.After {
			continue
		}
		staged, err := digestOf(root, e.Temp)
		if err != nil {
			return err
		}
		if stands != e.Before || staged != e.After {
			return failure.New(failure.EditRefused, "completing what a killed run began: the file was changed since").At(filepath.Join(root.Name(), e.Path), 0, 0).
				Fix("Check the changes with git diff, then run again.")
		}
		left = append(left, e)
	}
	for _, e := range left {
		step()
		var err error
		if e.After == "" {
			err = root.Remove(e.Path)
		} else {
			err = root.Rename(e.Temp, e.Path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// digestOf returns "" for a missing file.
func digestOf(root *os.Root, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", nil
	case err == nil && !info.Mode().IsRegular():
		return "no file", nil
	}
	if err != nil {
		return "", err
	}
	data, err := root.ReadFile(name)
	return digest(data), err
}
