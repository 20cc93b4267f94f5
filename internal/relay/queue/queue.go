// Package queue keeps what was accepted until it is delivered, in one file that is only
// ever appended to.
//
//  1. What Put has returned is on the disk: it survives a kill and a loss of power.
//  2. One write and one fsync are under way at a time, and hold all that came meanwhile. So
//     only the last frame of the file can be torn; it was promised to nobody, and is dropped.
//  3. Any other damage is a failure, for nobody could say what was lost.
//  4. Items and bytes are bounded, and so is the file: it is written anew when half of it
//     is of the past.
package queue

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/olmgraft/graft/internal/failure"
)

// Options of a queue.
type Options struct {
	Dir      string
	MaxItems int
	MaxBytes int64
	// Remember is how long the keys of items are known after they were put.
	Remember time.Duration
	// Now and Disk replace clock and disk in tests.
	Now  func() time.Time
	Disk func(*os.File) Disk
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
	o       Options
	lock    *os.File
	dropped int

	requests chan request
	closing  chan struct{}
	ended    chan struct{}
	broken   chan struct{}

	// file, size and written belong to the loop.
	file    Disk
	size    int64
	written int64 // size when the file was last written anew

	mu    sync.Mutex
	state state
	fault error
}

// Disk is what a file is written through.
type Disk interface {
	io.WriterAt
	io.Closer
	Sync() error
	Truncate(size int64) error
}

type request struct {
	entries []Entry
	done    uint64
	reply   chan answer
}

type answer struct {
	items      []Item
	duplicates int
	err        error
}

// Open takes the folder for this process alone, makes it where it is missing, and reads
// what waits there.
func Open(o Options) (*Queue, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Disk == nil {
		o.Disk = func(f *os.File) Disk { return f }
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, failure.New(failure.Usage, "opening the queue: %w", err).Fix("Give a folder that can be written.")
	}
	lock, err := acquire(o.Dir)
	if err != nil {
		return nil, err
	}
	q := &Queue{
		o: o, lock: lock, requests: make(chan request),
		closing: make(chan struct{}), ended: make(chan struct{}), broken: make(chan struct{}),
	}
	if err := q.load(); err != nil {
		_ = lock.Close()
		return nil, err
	}
	go q.loop()
	return q, nil
}

// Put takes all entries that are no duplicates, or none. When it returns they are on the
// disk, and so are those that the duplicates are duplicates of.
func (q *Queue) Put(entries ...Entry) (items []Item, duplicates int, err error) {
	a := q.ask(request{entries: entries})
	return a.items, a.duplicates, a.err
}

// Done takes an item out.
func (q *Queue) Done(seq uint64) error { return q.ask(request{done: seq}).err }

// Waiting are the items in the order in which they were put.
func (q *Queue) Waiting() []Item {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.state.waiting()
}

// Usage says how full the queue is.
type Usage struct {
	Items  int
	Bytes  int64
	Oldest time.Time // zero where nothing waits
	Keys   int
}

// Usage is that of now.
func (q *Queue) Usage() Usage {
	q.mu.Lock()
	defer q.mu.Unlock()
	u := Usage{Items: len(q.state.items), Bytes: q.state.bytes, Keys: len(q.state.seen)}
	for _, item := range q.state.items {
		if u.Oldest.IsZero() || item.At.Before(u.Oldest) {
			u.Oldest = item.At
		}
	}
	return u
}

// Full reports whether there is no room for one more item.
func (q *Queue) Full() bool {
	u := q.Usage()
	return u.Items >= q.o.MaxItems || u.Bytes >= q.o.MaxBytes
}

// Dropped is the length of the torn tail that was dropped at the start.
func (q *Queue) Dropped() int { return q.dropped }

// Broken is closed once the disk has failed; Fault says how.
func (q *Queue) Broken() <-chan struct{} { return q.broken }

// Fault is what has broken the queue, or nil.
func (q *Queue) Fault() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.fault
}

// Close ends what is being written and lets go of the folder.
func (q *Queue) Close() error {
	close(q.closing)
	<-q.ended
	return errors.Join(q.file.Close(), q.lock.Close())
}

func (q *Queue) ask(r request) answer {
	r.reply = make(chan answer, 1)
	select {
	case q.requests <- r:
		return <-r.reply
	case <-q.closing:
		return answer{err: ErrClosed}
	}
}

// Bounds of what goes into one frame.
const (
	mostRequests = 256
	mostBytes    = 1 << 20
)

// loop is the only writer.
func (q *Queue) loop() {
	defer close(q.ended)
	for {
		var batch []request
		select {
		case r := <-q.requests:
			batch = append(batch, r)
		case <-q.closing:
			return
		}
		for size := 0; len(batch) < mostRequests && size < mostBytes; {
			select {
			case r := <-q.requests:
				batch = append(batch, r)
				for _, e := range r.entries {
					size += len(e.Data)
				}
				continue
			default:
			}
			break
		}
		q.commit(batch)
	}
}

// commit decides upon each request, writes what they change, and only then answers.
func (q *Queue) commit(batch []request) {
	now := q.o.Now()
	q.mu.Lock()
	if q.fault != nil {
		err := q.fault
		q.mu.Unlock()
		refuse(batch, err)
		return
	}
	q.state.forget(now.Add(-q.o.Remember), 10*q.o.MaxItems)
	next := q.state.changes()
	answers := make([]answer, len(batch))
	for i, r := range batch {
		answers[i] = next.decide(r, now, q.o)
	}
	q.mu.Unlock()
	if err := q.write(next.records); err != nil {
		refuse(batch, err)
		return
	}
	if err := q.apply(next.records); err != nil {
		refuse(batch, q.breakOn(err))
		return
	}
	for i, r := range batch {
		r.reply <- answers[i]
	}
	if q.size > 2*q.written+1<<20 {
		q.rewrite()
	}
}

func (q *Queue) apply(records []record) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, r := range records {
		if err := q.state.apply(r); err != nil {
			return err
		}
	}
	return nil
}

func refuse(batch []request, err error) {
	for _, r := range batch {
		r.reply <- answer{err: err}
	}
}

// write appends a frame. One that did not get there whole is taken back; where that is not
// possible, or where it is not known what is on the disk, the queue is broken.
func (q *Queue) write(records []record) error {
	if len(records) == 0 {
		return nil
	}
	frame, err := encode(records)
	if err != nil {
		return failure.New(failure.Internal, "writing to the queue: %w", err)
	}
	if _, err := q.file.WriteAt(frame, q.size); err != nil {
		if back := q.file.Truncate(q.size); back != nil {
			return q.breakOn(errors.Join(err, back))
		}
		return failure.New(failure.Usage, "writing to the queue: %w", err).Fix("Make room on the disk of %s.", q.o.Dir)
	}
	if err := q.file.Sync(); err != nil {
		return q.breakOn(err)
	}
	q.size += int64(len(frame))
	return nil
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

func (s *state) waiting() []Item {
	items := make([]Item, 0, len(s.items))
	for _, item := range s.items {
		items = append(items, item)
	}
	slices.SortFunc(items, func(a, b Item) int {
		if a.Seq < b.Seq {
			return -1
		}
		return 1
	})
	return items
}
