// Package queue keeps what was accepted until it is delivered, in one file of bbolt.
//
//  1. What Put has returned is on the disk: it survives a kill and a loss of power.
//  2. What comes while a transaction is written goes into the next one, all of it together.
//  3. Damage is a failure, for nobody could say what was lost; see verify.
//  4. Items and bytes are bounded, and so is the file: bbolt uses again what is free.
//  5. A disk without room takes nothing new. What the queue holds can be read and delivered
//     meanwhile, and the queue goes on by itself once there is room.
package queue

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gofrs/flock"
	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/olmgraft/graft/internal/failure"
)

// Options of a queue.
type Options struct {
	Dir      string
	MaxItems int
	MaxBytes int64
	// Remember is how long the keys of items are known after they were put.
	Remember time.Duration
	// Now and OpenFile replace the clock and os.OpenFile in tests.
	Now      func() time.Time
	OpenFile func(name string, flag int, mode os.FileMode) (*os.File, error)
}

// Entry is something to put. One whose key waits in the queue, or was put less than Within
// ago, is a duplicate.
type Entry struct {
	Key    string
	Within time.Duration
	Data   json.RawMessage
}

// Item is an entry that waits.
type Item struct {
	Seq  uint64
	Key  string
	At   time.Time
	Data json.RawMessage
}

// ErrFull is the answer to a Put that the bounds have no room for. Nothing of it was taken.
var ErrFull = errors.New("the queue is full")

// ErrClosed is the answer after Close.
var ErrClosed = errors.New("the queue is closed")

// Queue may be used concurrently. Where the disk fails in a way that leaves open what it
// holds, Broken tells, and nothing is taken any more.
type Queue struct {
	o      Options
	path   string
	lock   *flock.Flock
	db     atomic.Pointer[bolt.DB] // nil until there is room for the file
	broken chan struct{}

	writing sync.Mutex // held by whoever writes a transaction
	latest  time.Time  // that a transaction began at

	mu      sync.Mutex
	pending []*call
	owed    []uint64 // items that are done, and the disk could not be told
	noRoom  error
	fault   error
}

// call is a change that goes into the next transaction.
type call struct {
	change func(*state) error
	done   bool
	err    error
}

const (
	fileName = "queue"
	lockWait = time.Second
)

// Open takes the folder for this process alone, makes it where it is missing, and reads
// what waits there.
func Open(o Options) (*Queue, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, failure.New(failure.Usage, "opening the queue: %w", err).Fix("Give a folder that can be written.")
	}
	path := filepath.Join(o.Dir, fileName)
	// A lock upon the queue's file itself would end when that is renewed.
	lock := flock.New(filepath.Join(o.Dir, "lock"), flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	if _, err := lock.TryLockContext(ctx, lockWait/20); errors.Is(err, context.DeadlineExceeded) {
		return nil, failure.New(failure.Usage, "opening the queue: another relay has %s", o.Dir).Fix("Give each relay a folder of its own, or stop the other.")
	} else if err != nil {
		return nil, failure.New(failure.Usage, "locking %s: %w", o.Dir, err).Fix("Give a folder that can be written, on a disk that knows locks.")
	}
	q := &Queue{o: o, path: path, lock: lock, broken: make(chan struct{})}
	if err := q.open(); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return q, nil
}

// open verifies the file and opens it. Where the disk has no room for a verified copy, it goes
// on with the file that is there, or without one.
func (q *Queue) open() error {
	err := renew(q.o.Dir, q.path)
	if isNoRoom(err) {
		_ = q.refuse(err) // NoRoom tells
		if err = verify(q.path); errors.Is(err, os.ErrNotExist) {
			return nil
		}
	}
	if err == nil {
		writable := options
		writable.OpenFile = q.o.OpenFile
		var db *bolt.DB
		if db, err = bolt.Open(q.path, 0o600, &writable); err == nil {
			q.db.Store(db)
		}
	}
	if errors.Is(err, errDamaged) {
		return failure.New(failure.Usage, "reading the queue: %w", err).At(q.path, 0, 0).
			Fix("Restore the disk, or move the file away: what waited in it must then be announced again. Its records can be read with strings.")
	} else if err != nil {
		return failure.New(failure.Usage, "opening the queue: %w", err).Fix("Make %s readable and writable, and room on its disk.", q.o.Dir)
	}
	return nil
}

// Put takes all entries that are no duplicates, or none. When it returns they are on the
// disk, and so are those that the duplicates are duplicates of.
func (q *Queue) Put(entries ...Entry) (items []Item, duplicates int, err error) {
	err = q.do(func(s *state) error {
		items, duplicates, err = s.put(entries, q.o)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	return items, duplicates, nil
}

// Done takes an item out. Where the disk has no room for that, the next transaction does it.
func (q *Queue) Done(seq uint64) error {
	err := q.do(func(s *state) error {
		s.done(seq)
		return nil
	})
	if err == nil || q.NoRoom() == nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.owed = append(q.owed, seq)
	return nil
}

// Probe writes to a disk that had no room, so that NoRoom tells of now.
func (q *Queue) Probe() {
	if q.NoRoom() != nil {
		_ = q.do(func(s *state) error { // NoRoom has it
			s.changed = true
			return nil
		})
	}
}

// Waiting are the items in the order in which they were put.
func (q *Queue) Waiting() (items []Item) {
	_ = q.view(func(s *state) { items = s.waiting() })
	return items
}

// Usage says how full the queue is.
type Usage struct {
	Items  int
	Bytes  int64
	Oldest time.Time // zero where nothing waits
}

// Usage is that of now.
func (q *Queue) Usage() (u Usage) {
	_ = q.view(func(s *state) { u = s.usage() })
	return u
}

// Full reports whether there is no room for one more item.
func (q *Queue) Full() bool {
	u := q.Usage()
	return u.Items >= q.o.MaxItems || u.Bytes >= q.o.MaxBytes
}

// Broken is closed once the disk has failed; Fault says how.
func (q *Queue) Broken() <-chan struct{} { return q.broken }

// Fault is what has broken the queue, or nil.
func (q *Queue) Fault() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.fault
}

// NoRoom is why the disk took nothing when it was last written to, or nil.
func (q *Queue) NoRoom() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.noRoom
}

// Close ends what is being written and lets go of the folder.
func (q *Queue) Close() error {
	q.writing.Lock()
	defer q.writing.Unlock()
	var err error
	if db := q.db.Load(); db != nil {
		err = db.Close()
	}
	return errors.Join(err, q.lock.Close())
}

func (q *Queue) view(look func(*state)) error {
	db := q.db.Load()
	if db == nil {
		return nil
	}
	return db.View(func(tx *bolt.Tx) error {
		look(stateOf(tx))
		return nil
	})
}

// do has a change written, with all others that wait by the time the disk is free.
func (q *Queue) do(change func(*state) error) error {
	c := &call{change: change}
	q.mu.Lock()
	q.pending = append(q.pending, c)
	q.mu.Unlock()
	q.writing.Lock()
	defer q.writing.Unlock()
	if c.done {
		return c.err
	}
	q.mu.Lock()
	calls, owed, fault := q.pending, q.owed, q.fault
	q.pending = nil
	q.mu.Unlock()
	if fault == nil {
		fault = q.commit(calls, owed)
	}
	for _, c := range calls {
		if c.done = true; fault != nil {
			c.err = fault
		}
	}
	return c.err
}

// commit decides upon each call in a transaction, and writes it where it changes something.
func (q *Queue) commit(calls []*call, owed []uint64) error {
	if q.db.Load() == nil {
		if err := q.open(); err != nil {
			return q.breakOn(err)
		}
	}
	db := q.db.Load()
	if db == nil {
		return q.NoRoom()
	}
	tx, err := db.Begin(true)
	if errors.Is(err, berrors.ErrDatabaseNotOpen) {
		return ErrClosed
	} else if err != nil {
		return q.breakOn(err)
	}
	s := stateOf(tx)
	before := s.sum
	if s.now = q.o.Now(); q.latest.IsZero() || s.now.Before(q.latest) {
		s.clamp()
	}
	q.latest = s.now
	for _, seq := range owed {
		s.done(seq)
	}
	s.forget(s.now.Add(-q.o.Remember), 10*q.o.MaxItems)
	for _, c := range calls {
		c.err = c.change(s)
	}
	if !s.changed {
		return tx.Rollback()
	}
	s.store()
	if s.err != nil {
		return errors.Join(failure.New(failure.Internal, "writing to the queue: %w", s.err), tx.Rollback())
	}
	if err := tx.Commit(); err != nil {
		return q.refused(err, before)
	}
	q.mu.Lock()
	q.owed, q.noRoom = q.owed[len(owed):], nil
	q.mu.Unlock()
	return nil
}

// refused tells a disk without room, which takes nothing and goes on, from one of which
// nobody knows what it holds.
func (q *Queue) refused(err error, before uint64) error {
	after := before + 1
	if look := q.view(func(s *state) { after = s.sum }); !isNoRoom(err) || look != nil || after != before {
		return q.breakOn(err)
	}
	return q.refuse(err)
}

func isNoRoom(err error) bool {
	if err == nil {
		return false
	}
	room := strings.HasPrefix(err.Error(), "file resize error") // bbolt gives no cause here
	for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} {
		room = room || errors.Is(err, full)
	}
	return room
}

// refuse notes that the disk has no room.
func (q *Queue) refuse(err error) error {
	f := failure.New(failure.Usage, "writing to the queue: %w", err).Fix("Make room on the disk of %s.", q.o.Dir)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.noRoom = f
	return f
}

func (q *Queue) breakOn(err error) error {
	f := failure.New(failure.Usage, "writing to the queue: %w", err).Fix("Check the disk of %s, and start the relay again.", q.o.Dir)
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.fault == nil {
		q.fault = f
		close(q.broken)
	}
	return f
}
