//go:build unix

package queue

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"github.com/olmgraft/graft/internal/failure"
)

// acquire takes the folder's lock, which ends with the process.
func acquire(dir string) (*os.File, error) {
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, failure.New(failure.Usage, "opening the queue: %w", err).Fix("Give a folder that can be written.")
	}
	err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return lock, nil
	}
	_ = lock.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, failure.New(failure.Usage, "opening the queue: another relay has %s", dir).Fix("Give each relay a folder of its own, or stop the other.")
	}
	return nil, failure.New(failure.Usage, "locking %s: %w", dir, err).Fix("Give a folder on a disk that knows locks.")
}
