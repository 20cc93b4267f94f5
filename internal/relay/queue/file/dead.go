package file

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/olmgraft/graft/internal/atomicfile"
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
