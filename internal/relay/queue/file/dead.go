package file

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/olmgraft/graft/internal/atomicfile"
	"github.com/olmgraft/graft/internal/failure"
)

// DeadName is the file of dead letters, one per line. A full file replaces the previous one.
const DeadName = "dead.jsonl"

const (
	deadBefore  = "dead.1.jsonl"
	deadLongest = 16 << 20
)

// deadLetters is the file of dead letters.
type deadLetters struct {
	dir string
	mu  sync.Mutex
}

// Letters copies the dead letters of a folder, oldest first. It needs no lock, so a relay may run meanwhile.
func Letters(dir string, to io.Writer) error {
	for _, name := range []string{deadBefore, DeadName} {
		err := copyTo(to, filepath.Join(dir, name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return failure.New(failure.Usage, "reading the dead letters: %w", err).Fix("Make the files in %s readable.", dir)
		}
	}
	return nil
}

func copyTo(to io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(to, f)
	return err
}

// add writes a letter to disk before it returns.
func (d *deadLetters) add(letter []byte) error {
	path := filepath.Join(d.dir, DeadName)
	d.mu.Lock()
	defer d.mu.Unlock()
	if info, err := os.Stat(path); err == nil && info.Size() > deadLongest {
		if err := os.Rename(path, filepath.Join(d.dir, deadBefore)); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(appendLine(f, letter), f.Close(), atomicfile.SyncDir(d.dir))
}

// appendLine appends a line, starts a new line after an incomplete one, and removes what it could not write
// completely.
func appendLine(f *os.File, line []byte) error {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	last := make([]byte, 1)
	if size > 0 {
		if _, err := f.ReadAt(last, size-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			line = append([]byte{'\n'}, line...)
		}
	}
	if _, err := f.Write(append(line, '\n')); err != nil {
		return errors.Join(err, f.Truncate(size))
	}
	return f.Sync()
}
