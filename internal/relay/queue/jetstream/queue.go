// Package jetstream is the queue that relays share: streams of NATS.
//
//  1. Everything that Put has returned is stored by a majority of the configured replicas.
//  2. Each receiver has partitions, its lanes. All entries of one source are in the same one. One relay at a time
//     hands out the items of a lane, one item of each source at a time. This keeps the order across relays, and
//     sources take turns.
//  3. A relay that holds an item sends signs of life. If they stop, another relay gets the item, and then both
//     may send it.
//  4. Missing streams are created. Existing ones are never changed.
package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/pause"
	"github.com/olmgraft/graft/internal/relay/queue"
)

// Queue is a connection to the streams.
type Queue struct {
	o             Options
	conn          *nats.Conn
	js            jetstream.JetStream
	waiting, keys jetstream.Stream
	fresh         chan string   // lanes with new entries
	gone          chan struct{} // closed with the connection
	keeping       sync.WaitGroup
	closing       chan struct{}

	looking sync.Mutex
	counted jetstream.Stream // for the stream's state, which the library writes into it without a lock

	mu    sync.Mutex
	lanes map[string]bool   // polled lanes
	turns map[string]string // by lane, the last source of the last turn, if there are many
	held  map[uint64]*held  // items handed out here
}

// held is an item that was handed out here and is not over.
type held struct {
	msg  jetstream.Msg // nil for an item of another source that goes first
	over chan struct{}
}

const (
	// openWait is how long a start waits for servers that are starting too and have no leader yet.
	openWait = time.Minute
	// putWait is how long a sender waits for the servers.
	putWait = 5 * time.Second
	askWait = 2 * time.Second
	// keyHeader names the key of a message.
	keyHeader = "Graft-Key"
)

// Open connects, and creates or checks the streams.
func Open(ctx context.Context, o Options) (*Queue, error) {
	if o.AckWait == 0 {
		o.AckWait = usualAckWait
	}
	q := &Queue{
		o: o, fresh: make(chan string, 1024), gone: make(chan struct{}), closing: make(chan struct{}),
		lanes: map[string]bool{}, turns: map[string]string{}, held: map[uint64]*held{},
	}
	var err error
	if q.conn, err = connect(o, sync.OnceFunc(func() { close(q.gone) })); err != nil {
		return nil, err
	}
	if err := q.open(ctx); err != nil {
		q.conn.Close()
		return nil, err
	}
	q.keeping.Go(q.keep)
	return q, nil
}

func (q *Queue) open(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, openWait)
	defer cancel()
	js, err := jetstream.New(q.conn, jetstream.WithDefaultTimeout(putWait))
	if err != nil {
		return failure.New(failure.Internal, "connecting to the queue: %w", err)
	}
	q.js = js
	var faults [4]error
	q.waiting, faults[0] = stream(ctx, js, q.o.waiting())
	q.keys, faults[1] = stream(ctx, js, q.o.keys())
	_, faults[2] = stream(ctx, js, q.o.dead())
	faults[3] = again(ctx, func(ctx context.Context) (err error) {
		q.counted, err = js.Stream(ctx, q.o.Stream)
		return err
	})
	return errors.Join(faults[:]...)
}

// Put stores entries one after the other. After an error, the caller puts all of them again; those already
// stored are then duplicates.
func (q *Queue) Put(ctx context.Context, entries ...queue.Entry) (taken []queue.Item, duplicates int, err error) {
	ctx, cancel := context.WithTimeout(ctx, putWait)
	defer cancel()
	for _, e := range entries {
		item, fresh, err := q.put(ctx, e)
		switch {
		case err != nil && q.isClosed():
			return taken, duplicates, queue.ErrClosed
		case isFull(err):
			return taken, duplicates, queue.ErrFull
		case err != nil:
			return taken, duplicates, failure.New(failure.Usage, "writing to the queue: %w", err).Fix("Check the servers of the queue.")
		case fresh:
			taken = append(taken, item)
		default:
			duplicates++
		}
	}
	return taken, duplicates, nil
}

// put stores an entry unless it is a duplicate.
//
// Its message id consists of its key and the number of the last record of that key. Two relays, or a killed one
// and its successor, therefore use the same id, and the server detects the duplicate.
func (q *Queue) put(ctx context.Context, e queue.Entry) (item queue.Item, fresh bool, err error) {
	last, duplicate, err := q.known(ctx, e)
	if err != nil || duplicate {
		return item, false, err
	}
	lane := q.o.lane(e.To, e.From)
	msg := &nats.Msg{Subject: q.o.subject(e.To, e.From), Data: e.Data, Header: nats.Header{keyHeader: {e.Key}}}
	var ack *jetstream.PubAck
	unsure := false // whether an earlier try was stored
	err = again(ctx, func(ctx context.Context) (err error) {
		ack, err = q.js.PublishMsg(ctx, msg, jetstream.WithMsgID(e.Key+"@"+strconv.FormatUint(last, 10)), jetstream.WithExpectStream(q.o.Stream))
		var said jetstream.JetStreamError
		unsure = unsure || err != nil && !errors.As(err, &said)
		return err
	})
	if err != nil {
		return item, false, err
	}
	// The item is stored even if the record of its key fails: then the message id detects duplicates for
	// retryWindow.
	if _, err := q.js.Publish(ctx, q.o.keySubject(e.Key), strconv.AppendUint(nil, ack.Sequence, 10)); err != nil {
		q.o.Log.Warn("storing a key failed", "key", e.Key, "error", err.Error())
	}
	if ack.Duplicate && !unsure {
		return item, false, nil
	}
	select {
	case q.fresh <- lane:
	default: // look finds it
	}
	return queue.Item{Seq: ack.Sequence, Key: e.Key, At: time.Now(), Data: e.Data}, true, nil
}

// skew is the tolerated difference between the clocks of relays and servers.
const skew = time.Minute

// known reports whether an entry is a duplicate, and the number of the last record of its key.
func (q *Queue) known(ctx context.Context, e queue.Entry) (last uint64, duplicate bool, err error) {
	var word *jetstream.RawStreamMsg
	err = again(ctx, func(ctx context.Context) (err error) {
		word, err = q.keys.GetLastMsgForSubject(ctx, q.o.keySubject(e.Key))
		return err
	})
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return 0, false, nil
	} else if err != nil {
		return 0, false, err
	}
	// A record from the future comes from a clock that was ahead. It makes nothing a duplicate.
	if age := time.Since(word.Time); age > -skew && age < e.Within {
		return word.Sequence, true, nil
	}
	seq, err := strconv.ParseUint(string(word.Data), 10, 64)
	if err != nil {
		return word.Sequence, false, nil //nolint:nilerr // not a relay's record
	}
	waits, err := q.waits(ctx, seq, e.Key)
	return word.Sequence, waits, err
}

// again asks the servers until they answer, for as long as the context allows. If one server of a cluster is
// lost, others take its place.
func again(ctx context.Context, ask func(context.Context) error) error {
	for {
		one, cancel := context.WithTimeout(ctx, askWait)
		err := ask(one)
		cancel()
		if err == nil || isAnswer(err) || pause.For(ctx, reconnectEvery/2) != nil {
			return err
		}
	}
}

// Codes of the server without a name in the library.
const (
	noPeers       jetstream.ErrorCode = 10005 // in a starting cluster
	noCluster     jetstream.ErrorCode = 10074 // for replicas
	cannotStore   jetstream.ErrorCode = 10077
	beingAccepted jetstream.ErrorCode = 10158 // by another request
)

// isAnswer reports whether an error is a server's permanent refusal.
func isAnswer(err error) bool {
	if isFull(err) || errors.Is(err, nats.ErrConnectionClosed) {
		return true
	}
	var said jetstream.JetStreamError
	if !errors.As(err, &said) || said.APIError() == nil {
		return false
	}
	switch api := said.APIError(); api.ErrorCode {
	case noCluster:
		return true
	case noPeers, beingAccepted:
		return false
	default:
		return api.Code < 500
	}
}

// waits reports whether an item is not over.
func (q *Queue) waits(ctx context.Context, seq uint64, key string) (bool, error) {
	var msg *jetstream.RawStreamMsg
	err := again(ctx, func(ctx context.Context) (err error) {
		msg, err = q.waiting.GetMsg(ctx, seq)
		return err
	})
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return false, nil
	}
	return err == nil && msg.Header.Get(keyHeader) == key, err
}

// isFull reports whether the stream of waiting items is full. The server has one code for everything that it
// cannot store, and gives the reason in words.
func isFull(err error) bool {
	api := &jetstream.APIError{}
	return errors.As(err, &api) && api.ErrorCode == cannotStore && strings.Contains(api.Description, "exceeded")
}

// Done removes an item. If the relay that handed it out no longer holds it, Done deletes the item.
func (q *Queue) Done(ctx context.Context, item queue.Item) error {
	q.mu.Lock()
	h := q.held[item.Seq]
	q.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, putWait+askWait)
	defer cancel()
	err := errors.New("this relay does not hold it")
	switch {
	case h != nil && h.msg == nil:
		err = q.remove(ctx, item.Seq)
	case h != nil:
		acked, stop := context.WithTimeout(ctx, askWait)
		err = h.msg.DoubleAck(acked)
		stop()
	}
	if err != nil {
		waits, err := q.waits(ctx, item.Seq, item.Key)
		if err == nil && waits {
			err = q.remove(ctx, item.Seq)
		}
		if err != nil {
			return err
		}
	}
	q.release(item.Seq)
	return nil
}

// remove deletes an item from the stream.
func (q *Queue) remove(ctx context.Context, seq uint64) error {
	err := q.waiting.DeleteMsg(ctx, seq)
	if errors.Is(err, jetstream.ErrMsgDeleteUnsuccessful) && strings.Contains(err.Error(), "no message found") {
		return nil // the first replica did not have it yet
	}
	return err
}

// release forgets a held item and lets its lane continue.
func (q *Queue) release(seq uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if h := q.held[seq]; h != nil {
		close(h.over)
		delete(q.held, seq)
	}
}

// Bury stores a dead letter in its stream. Repeated calls store it once.
func (q *Queue) Bury(ctx context.Context, item queue.Item, letter json.RawMessage) error {
	ctx, cancel := context.WithTimeout(ctx, putWait)
	defer cancel()
	var to struct{ To string }
	_ = json.Unmarshal(item.Data, &to) // an unreadable item has no receiver
	_, err := q.js.Publish(ctx, q.o.Stream+".dead."+token(to.To), letter, jetstream.WithMsgID(item.Key+"@"+strconv.FormatUint(item.Seq, 10)))
	return err
}

// State returns the state of the stream that all relays share.
func (q *Queue) State(ctx context.Context) (s queue.State) {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	info, err := q.info(ctx)
	if err != nil {
		return queue.State{Refuses: "the queue cannot be reached"}
	}
	s = queue.State{Items: int(info.State.Msgs), Bytes: int64(info.State.Bytes)}
	if s.Items > 0 {
		s.Oldest = info.State.FirstTime
	}
	if s.Items >= q.o.MaxItems || s.Bytes >= q.o.MaxBytes {
		s.Refuses = "the queue is full"
	}
	return s
}

func (q *Queue) info(ctx context.Context, opts ...jetstream.StreamInfoOpt) (*jetstream.StreamInfo, error) {
	q.looking.Lock()
	defer q.looking.Unlock()
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	return q.counted.Info(ctx, opts...)
}

func (q *Queue) isClosed() bool {
	select {
	case <-q.closing:
		return true
	default:
		return false
	}
}

// Close returns held items so that other relays get them at once, and disconnects.
func (q *Queue) Close() error {
	close(q.closing)
	q.keeping.Wait()
	q.mu.Lock()
	for _, h := range q.held {
		if h.msg != nil {
			_ = h.msg.Nak() // otherwise another relay gets the item after AckWait
		}
	}
	q.mu.Unlock()
	err := q.conn.FlushTimeout(askWait)
	q.conn.Close()
	if errors.Is(err, nats.ErrConnectionClosed) || errors.Is(err, nats.ErrTimeout) {
		return nil
	}
	return err
}
