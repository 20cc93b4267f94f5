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

// journal is what a run notes of the files that it is about to write, in the git folder of their root:
// no commit can put one there. Its lock ends with the process. A note that nobody holds is of a run that
// was killed, and the next one that writes in that root completes it or takes it back.
type journal struct{ file *os.File }

// entry is one file of a journal. Names are from the root.
type entry struct {
	Path   string `json:"path"`
	Temp   string `json:"temp,omitempty"`
	Backup string `json:"backup,omitempty"`
	Before string `json:"before,omitempty"` // the digest of what stood there; empty where nothing did
	After  string `json:"after,omitempty"`  // that of what is to stand there; empty where nothing is
}

const (
	journals = "graft"    // the folder of journals in a git folder
	noted    = ".journal" // how their names end
	moving   = "moving\n" // the second line, once all new content stands beside its file
	over     = "over\n"   // the last one, where only what is left beside the files is to go
)

// step is called before each change on the disk, so that tests end there.
var step = func() {}

// gitDir is the git folder of a root, empty where there is none or nothing can be locked. That of a
// work tree that was added must name the root itself.
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

// begin notes files before anything is put beside them. Where there is no git folder that can be written
// to, it notes nothing.
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
			return &journal{}, nil //nolint:nilerr // somebody else's git folder
		}
		f, err := os.OpenFile(filepath.Join(dir, journals, rand.Text()+noted), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, os.ErrNotExist) {
			continue // another run took the folder away
		}
		if err != nil {
			return &journal{}, nil //nolint:nilerr // somebody else's git folder
		}
		if !lock(f) || !same(f) {
			_ = f.Close() // another run swept it before it was locked
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

// same tells whether an open file still stands where it was opened.
func same(f *os.File) bool {
	here, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(f.Name())
	return err == nil && os.SameFile(here, there)
}

// move notes that all new content stands beside its file: from here on the change is completed.
func (j *journal) move() error {
	if j.file == nil {
		return nil
	}
	step()
	_, err := j.file.WriteString(moving)
	return errors.Join(err, j.file.Sync())
}

// end takes the note away: all is done, or nothing. Where something is left beside the files, or the
// note cannot go, the next run takes them away.
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
	_ = os.Remove(filepath.Dir(j.file.Name())) // others may be in it
	return err
}

// removed takes a file away that may have gone already, and reports whether it is gone.
func removed(root *os.Root, name string) bool {
	step()
	err := root.Remove(name)
	return err == nil || errors.Is(err, os.ErrNotExist)
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
