// Package queue defines the relay's queue and its parts. The implementations are in folders: file, for one
// relay and its disk, and jetstream, which relays share. suite has the tests that both pass.
package queue

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Queue keeps accepted entries until they are over.
//
// 1. Everything that Put has returned is kept: it survives the end of any process. 2. Run hands out waiting
// items. Of two items to one receiver from one source, the earlier one is handed out first, and if relays share
// a queue the second is not handed out anywhere until the first is over. An unfinished item delays no other
// receiver's. 3. If a relay ends before an item is over, the item is handed out again. 4. Items and bytes are
// limited.
//
// All methods are safe for concurrent use.
type Queue interface {
	// Put stores the entries that are not duplicates of kept ones. After an error some of them may be stored,
	// and are duplicates when they are put again.
	Put(ctx context.Context, entries ...Entry) (taken []Item, duplicates int, err error)
	// Run hands out items until the context ends. It fails when the queue is unusable. It is called once.
	Run(ctx context.Context, hand func(...Item)) error
	// Done reports that an item is over. After an error the item may be handed out again.
	Done(ctx context.Context, item Item) error
	// Bury stores a dead letter. The item is over only after Done.
	Bury(ctx context.Context, item Item, letter json.RawMessage) error
	// State returns the present state.
	State(ctx context.Context) State
	// Close returns the items that were handed out and are not over.
	Close() error
}

// Entry is an entry to put. It is a duplicate if its key waits in the queue or was put less than Within ago.
type Entry struct {
	Key    string
	Within time.Duration
	// To is the receiver and From the source. Entries with the same To and From are handed out in order.
	To, From string
	Data     json.RawMessage
}

// Item is a waiting entry. Seq increases in the order of Put.
type Item struct {
	Seq  uint64
	Key  string
	At   time.Time
	Data json.RawMessage
	// Handed is how many times the item was handed out without a report that it is over, as far as the
	// implementation knows.
	Handed int
}

// MostHanded is how many times an item is handed out to relays that end before it is over. The item may be the
// reason that they end.
const MostHanded = 100

// State reports a queue's usage, and whether it accepts entries.
type State struct {
	Items  int
	Bytes  int64
	Oldest time.Time // zero if nothing waits
	// Refuses is the reason why nothing is accepted, or "".
	Refuses string
}

// ErrFull is the error of Put if the queue is full.
var ErrFull = errors.New("the queue is full")

// ErrClosed is the error after Close.
var ErrClosed = errors.New("the queue is closed")
