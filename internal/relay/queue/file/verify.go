package file

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"runtime/debug"

	bolt "go.etcd.io/bbolt"

	"github.com/olmgraft/graft/internal/atomicfile"
)

const pageSize = 4096

// options are used for writing the file. The list of free pages is rebuilt at each start.
var options = bolt.Options{PageSize: pageSize, Timeout: lockWait, NoFreelistSync: true, FreelistType: bolt.FreelistMapType}

// errDamaged reports a file that differs from what was written.
var errDamaged = errors.New("it is damaged")

// renew verifies the file of a queue and replaces it with a copy, so that the file in use has no hidden fault
// outside of keys and values. Without a file, or with an empty one, it starts a queue.
func renew(dir, path string) error {
	fresh := path + ".new"
	if err := os.Remove(fresh); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	to, err := bolt.Open(fresh, 0o600, &options)
	if err != nil {
		return errors.Join(err, os.Remove(fresh))
	}
	to.NoSync = true
	if info, missing := os.Stat(path); missing == nil && info.Size() > 0 {
		err = copyVerified(to, path)
	}
	if err == nil {
		err = to.Update(func(tx *bolt.Tx) error {
			if _, err := tx.CreateBucketIfNotExists(bucketName); err != nil {
				return err
			}
			s := stateOf(tx)
			s.store()
			return s.err
		})
	}
	if err = errors.Join(err, to.Sync(), to.Close()); err != nil {
		return errors.Join(err, os.Remove(fresh))
	}
	return errors.Join(os.Rename(fresh, path), atomicfile.SyncDir(dir))
}

// copyVerified copies an undamaged file.
func copyVerified(to *bolt.DB, path string) error {
	return whole(path, func(from *bolt.DB) error { return bolt.Compact(to, from, 1<<20) })
}

// verify reports damage of a file.
func verify(path string) error {
	if info, err := os.Stat(path); err != nil {
		return err
	} else if info.Size() == 0 {
		return os.ErrNotExist
	}
	return whole(path, func(*bolt.DB) error { return nil })
}

// whole opens a file whose content has the stored sum. bbolt has checksums of its two meta pages only, and if
// the newer one is damaged it uses the older one, without the last transaction; so both must be undamaged. On
// pages that make no sense bbolt panics, or reads outside of its memory.
func whole(path string, then func(*bolt.DB) error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if bug := recover(); bug != nil {
			err = fmt.Errorf("%w: %v", errDamaged, bug)
		}
	}()
	from, err := bolt.Open(path, 0, &bolt.Options{ReadOnly: true, Timeout: lockWait})
	if errors.As(err, new(*os.PathError)) {
		return err
	} else if err != nil {
		return fmt.Errorf("%w, or it is not a queue: %w", errDamaged, err)
	}
	defer from.Close()
	if err := errors.Join(metaPages(path), from.View(verifySum)); err != nil {
		return err
	}
	return then(from)
}

func verifySum(tx *bolt.Tx) error {
	b := tx.Bucket(bucketName)
	if b == nil {
		return fmt.Errorf("%w, or it is not a queue of graft-relay", errDamaged)
	}
	s := stateOf(tx)
	var sum uint64
	err := b.ForEach(func(k, v []byte) error {
		if string(k) != string(sumKey) {
			sum ^= sumOf(k, v)
		}
		return nil
	})
	if err == nil && (sum != s.sum || s.written != uint64(tx.ID())) {
		err = fmt.Errorf("%w: its checksum does not match", errDamaged)
	}
	return err
}

// metaPages checks the checksums of both meta pages. A half-written meta page need not be considered, because
// it is 80 bytes of one sector.
func metaPages(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for n := range int64(2) {
		var meta [64]byte // after the page header
		if _, err := f.ReadAt(meta[:], n*pageSize+16); err != nil {
			return err
		}
		h := fnv.New64a()
		_, _ = h.Write(meta[:56]) // a hash never fails
		if h.Sum64() != binary.NativeEndian.Uint64(meta[56:]) {
			return fmt.Errorf("%w: meta page %d", errDamaged, n)
		}
	}
	return nil
}
