// Package file is the queue of one relay: a bbolt file.
//
// 1. Everything that Put has returned is on disk: it survives a kill and a loss of power. 2. Calls during a
// transaction go together into the next one. 3. Damage is a failure, because the loss would be unknown; see
// verify. 4. Items and bytes are limited, and so is the file: bbolt reuses free pages. 5. A full disk accepts
// nothing new. Waiting items can still be read and delivered, and the queue recovers once there is room.
package file

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
	"github.com/olmgraft/graft/internal/relay/queue"
)

// Options configure a queue.
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

// Queue is safe for concurrent use. If the disk fails so that its content is unknown, Run fails and the queue
// accepts nothing more.
type Queue struct {
	o      Options
	path   string
	lock   *flock.Flock
	db     atomic.Pointer[bolt.DB] // nil until there is room for the file
	broken chan struct{}

	letters deadLetters

	writing sync.Mutex          // held during a transaction
	latest  time.Time           // the start of the last transaction
	hand    func(...queue.Item) // receives what was put

	mu      sync.Mutex
	pending []*call
	owed    []uint64 // finished items that the disk could not record
	noRoom  error
	fault   error
}

// call is a change for the next transaction.
type call struct {
	change func(*state) error
	put    []queue.Item // set by change
	done   bool
	err    error
}

const (
	fileName = "queue"
	lockWait = time.Second
)

// Open opens the folder for this process alone, creates it if it is missing, and reads the waiting items.
func Open(o Options) (*Queue, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, failure.New(failure.Usage, "opening the queue: %w", err).Fix("Give a writable folder.")
	}
	path := filepath.Join(o.Dir, fileName)
	// A lock on the queue's file itself would end when the file is renewed.
	lock := flock.New(filepath.Join(o.Dir, "lock"), flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	if _, err := lock.TryLockContext(ctx, lockWait/20); errors.Is(err, context.DeadlineExceeded) {
		return nil, failure.New(failure.Usage, "opening the queue: another relay has %s", o.Dir).Fix("Give each relay its own folder, or stop the other relay.")
	} else if err != nil {
		return nil, failure.New(failure.Usage, "locking %s: %w", o.Dir, err).Fix("Give a writable folder, on a disk that supports locks.")
	}
	q := &Queue{o: o, path: path, lock: lock, broken: make(chan struct{}), letters: deadLetters{dir: o.Dir}}
	if err := q.open(); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return q, nil
}

// open verifies and opens the file. If the disk has no room for a verified copy, it continues with the present
// file, or without one.
func (q *Queue) open() error {
	err := renew(q.o.Dir, q.path)
	if isNoRoom(err) {
		_ = q.refuse(err) // State reports it
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
			Fix("Restore the disk, or move the file away and announce again what waited in it. The program strings prints its records.")
	} else if err != nil {
		return failure.New(failure.Usage, "opening the queue: %w", err).Fix("Make %s readable and writable, and free space on its disk.", q.o.Dir)
	}
	return nil
}

// Put accepts all entries that are no duplicates, or none. When it returns, they are on disk, and so are the
// originals of the duplicates.
func (q *Queue) Put(_ context.Context, entries ...queue.Entry) ([]queue.Item, int, error) {
	duplicates := 0
	c := &call{}
	c.change = func(s *state) (err error) {
		c.put, duplicates, err = s.put(entries, q.o)
		return err
	}
	if err := q.do(c); err != nil {
		return nil, 0, err
	}
	return c.put, duplicates, nil
}

// probeEvery is how soon the queue notices that its disk has room again.
const probeEvery = 2 * time.Second

// Run hands out all waiting items, and then new ones, in the order of their numbers.
func (q *Queue) Run(ctx context.Context, hand func(...queue.Item)) error {
	q.handTo(hand)
	defer q.handTo(nil)
	tick := time.NewTicker(probeEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-q.broken:
			return q.brokenBy()
		case <-tick.C:
			q.probe()
		}
	}
}

func (q *Queue) handTo(hand func(...queue.Item)) {
	q.writing.Lock()
	defer q.writing.Unlock()
	if q.hand = hand; hand != nil {
		hand(q.waiting()...)
	}
}

// Done removes an item. If the disk has no room for that, the next transaction does it.
func (q *Queue) Done(_ context.Context, item queue.Item) error {
	err := q.do(&call{change: func(s *state) error {
		s.done(item.Seq)
		return nil
	}})
	if err == nil || q.refusedBy() == nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.owed = append(q.owed, item.Seq)
	return nil
}

// Bury appends a dead letter to the file.
func (q *Queue) Bury(_ context.Context, _ queue.Item, letter json.RawMessage) error {
	return q.letters.add(letter)
}

// probe writes to a disk that was full, so that refusedBy is up to date.
func (q *Queue) probe() {
	if q.refusedBy() != nil {
		_ = q.do(&call{change: func(s *state) error { // refusedBy has the error
			s.changed = true
			return nil
		}})
	}
}

// waiting returns the items in their order.
func (q *Queue) waiting() (items []queue.Item) {
	_ = q.view(func(s *state) { items = s.waiting() })
	return items
}

// State returns the present state.
func (q *Queue) State(context.Context) (u queue.State) {
	_ = q.view(func(s *state) { u = s.usage() })
	switch {
	case q.brokenBy() != nil:
		u.Refuses = "the queue is broken"
	case q.refusedBy() != nil:
		u.Refuses = "the queue's disk is full"
	case u.Items >= q.o.MaxItems || u.Bytes >= q.o.MaxBytes:
		u.Refuses = "the queue is full"
	}
	return u
}

// brokenBy returns the fault that broke the queue, or nil.
func (q *Queue) brokenBy() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.fault
}

// refusedBy returns why the disk refused the last write, or nil.
func (q *Queue) refusedBy() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.noRoom
}

// Close finishes the transaction in progress and unlocks the folder.
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

// do writes a change, together with all others that wait when the disk is free.
func (q *Queue) do(c *call) error {
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

// commit applies each call in a transaction and writes it if it changes anything.
func (q *Queue) commit(calls []*call, owed []uint64) error {
	if q.db.Load() == nil {
		if err := q.open(); err != nil {
			return q.breakOn(err)
		}
	}
	db := q.db.Load()
	if db == nil {
		return q.refusedBy()
	}
	tx, err := db.Begin(true)
	if errors.Is(err, berrors.ErrDatabaseNotOpen) {
		return queue.ErrClosed
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
	for _, c := range calls {
		if q.hand != nil && len(c.put) > 0 {
			q.hand(c.put...)
		}
	}
	return nil
}

// refused distinguishes a full disk, which accepts nothing for a while, from one whose content is unknown.
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

// refuse records that the disk is full.
func (q *Queue) refuse(err error) error {
	f := failure.New(failure.Usage, "writing to the queue: %w", err).Fix("Free space on the disk of %s.", q.o.Dir)
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
