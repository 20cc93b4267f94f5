package atomicfile

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// journal records the files that a run is about to write, in the git folder of their root, where no commit can
// put a file. Its lock ends with the process. A journal without a lock comes from a killed run; the next run
// that writes in that root completes its change or takes it back.
type journal struct{ file *os.File }

// entry is one file of a journal. Names are relative to the root.
type entry struct {
	Path   string `json:"path"`
	Temp   string `json:"temp,omitempty"`
	Backup string `json:"backup,omitempty"`
	Before string `json:"before,omitempty"` // the digest of the old content; "" without old content
	After  string `json:"after,omitempty"`  // the digest of the new content; "" if the file is to be removed
}

const (
	journals = "graft"    // the folder of journals in a git folder
	noted    = ".journal" // the suffix of their names
	moving   = "moving\n" // the second line, once all new content is written
	over     = "over\n"   // the last line, once only the files beside are left to remove
)

// step is called before each change on disk, so that tests can end the process there.
var step = func() {}

// gitDir returns the git folder of a root, or "" if there is none or files cannot be locked. The git folder of
// an added work tree must name the root itself.
func gitDir(root string) string {
	git := filepath.Join(root, ".git")
	info, err := os.Lstat(git)
	switch {
	case err != nil || !canLock:
		return ""
	case info.IsDir():
		return git
	case !info.Mode().IsRegular():
		return ""
	}
	text, err := os.ReadFile(git)
	dir, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if err != nil || !ok || !filepath.IsAbs(dir) {
		return ""
	}
	back, err := os.ReadFile(filepath.Join(dir, "gitdir"))
	if err != nil || strings.TrimSpace(string(back)) != git {
		return ""
	}
	return dir
}

// begin records files before any is written beside them. Without a writable git folder it records nothing.
func begin(root string, entries []entry) (*journal, error) {
	dir := gitDir(root)
	if dir == "" {
		return &journal{}, nil
	}
	text, err := json.Marshal(entries)
	if err != nil {
		return nil, err
	}
	for range 10 {
		step()
		if err := os.MkdirAll(filepath.Join(dir, journals), 0o755); err != nil {
			return &journal{}, nil //nolint:nilerr // another user's git folder
		}
		f, err := os.OpenFile(filepath.Join(dir, journals, rand.Text()+noted), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, os.ErrNotExist) {
			continue // another run removed the folder
		}
		if err != nil {
			return &journal{}, nil //nolint:nilerr // another user's git folder
		}
		if !lock(f) || !same(f) {
			_ = f.Close() // another run removed it before it was locked
			continue
		}
		j := &journal{f}
		step()
		if _, err := f.Write(append(text, '\n')); err != nil {
			return nil, errors.Join(err, j.end(false))
		}
		return j, nil
	}
	return &journal{}, nil
}

// same reports whether an open file is still at the path where it was opened.
func same(f *os.File) bool {
	here, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(f.Name())
	return err == nil && os.SameFile(here, there)
}

// move records that all new content is written. From here on a recovery completes the change.
func (j *journal) move() error {
	if j.file == nil {
		return nil
	}
	step()
	_, err := j.file.WriteString(moving)
	return errors.Join(err, j.file.Sync())
}

// end removes the journal after the change is complete or undone. If files are left beside the others, or the
// journal cannot be removed, the next run removes them.
func (j *journal) end(left bool) error {
	if j.file == nil {
		return nil
	}
	step()
	var err error
	if left || os.Remove(j.file.Name()) != nil {
		_, err = j.file.WriteString(over)
	}
	err = errors.Join(err, j.file.Close())
	_ = os.Remove(filepath.Dir(j.file.Name())) // other journals may be in it
	return err
}

// removed removes a file that may already be gone, and reports whether it is gone.
func removed(root *os.Root, name string) bool {
	step()
	err := root.Remove(name)
	return err == nil || errors.Is(err, os.ErrNotExist)
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
