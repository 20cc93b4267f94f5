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

// DeadName is the file of dead letters, one of them a line. When it is full it takes the place
// of the one before.
const DeadName = "dead.jsonl"

const (
	deadBefore  = "dead.1.jsonl"
	deadLongest = 16 << 20
)

// deadLetters is the file.
type deadLetters struct {
	dir string
	mu  sync.Mutex
}

// Letters copies the dead letters of a folder, the oldest first. It needs no lock: a relay may be at work.
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

// add writes a letter down. When it returns it is on the disk.
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

// appendLine puts a line at the end, upon a line of its own though an earlier one was torn,
// and takes back what it could not write whole.
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
