// Package queue says what the relay needs of a queue, and of what a queue consists. Its engines
// stand in folders: file, for one relay and its disk, and jetstream, which relays share. The
// tests that each of them passes are in suite.
package queue

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Queue keeps what was accepted until it is over.
//
//  1. What Put has returned is kept: it survives the end of any process.
//  2. Run hands out what waits. Of two items to one receiver from one source, the one that was put
//     first is handed out first, and where relays share a queue the second is not handed out
//     anywhere until the first is over. An item that is not over holds up no other receiver's.
//  3. An item that was handed out and is not over when its relay ends is handed out again.
//  4. Items and bytes are bounded.
//
// All methods may be used concurrently.
type Queue interface {
	// Put takes the entries that are no duplicates; a duplicate is one of what is kept. With an
	// error some of them may have been taken, and are duplicates when they are put again.
	Put(ctx context.Context, entries ...Entry) (taken []Item, duplicates int, err error)
	// Run hands out items until the context ends. It fails when the queue can be used no more.
	// It is called once.
	Run(ctx context.Context, hand func(...Item)) error
	// Done says that an item is over. With an error it may be handed out again.
	Done(ctx context.Context, item Item) error
	// Bury keeps a dead letter. The item is over when Done has said so.
	Bury(ctx context.Context, item Item, letter json.RawMessage) error
	// State is that of now.
	State(ctx context.Context) State
	// Close lets go of what was handed out and is not over.
	Close() error
}

// Entry is something to put. One whose key waits in the queue, or was put less than Within
// ago, is a duplicate.
type Entry struct {
	Key    string
	Within time.Duration
	// To is the receiver, and From the source: what both say alike is handed out in order.
	To, From string
	Data     json.RawMessage
}

// Item is an entry that waits. The numbers of items are in the order in which they were put.
type Item struct {
	Seq  uint64
	Key  string
	At   time.Time
	Data json.RawMessage
	// Handed is how many times the item was handed out before and no relay said that it is over,
	// as far as the engine knows.
	Handed int
}

// MostHanded is how many times an item is handed out to relays that end before it is over. It
// may be what ends them.
const MostHanded = 100

// State is how full a queue is, and whether it takes anything.
type State struct {
	Items  int
	Bytes  int64
	Oldest time.Time // zero where nothing waits
	// Refuses is why nothing is taken, or empty.
	Refuses string
}

// ErrFull is the answer to a Put that the bounds have no room for.
var ErrFull = errors.New("the queue is full")

// ErrClosed is the answer after Close.
var ErrClosed = errors.New("the queue is closed")
