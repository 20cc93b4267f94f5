// Package jetstream is the queue that relays share: streams of NATS.
//
//  1. What Put has returned is stored by as many servers as there are to be replicas, a majority
//     of them.
//  2. Each receiver has partitions, in which what comes from one source has its place. Of a
//     partition one item at a time is handed out, to one relay; so order is kept among all.
//  3. A relay that holds an item says so again and again. When it is not heard of, another one
//     gets the item, and then both may send it.
//  4. The streams are made where they are missing, and never changed.
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
	fresh         chan string   // subjects that something was put into
	gone          chan struct{} // closed with the connection
	keeping       sync.WaitGroup
	closing       chan struct{}

	looking sync.Mutex
	counted jetstream.Stream // asked for its state, which the library notes in it without a lock

	mu    sync.Mutex
	lanes map[string]bool  // subjects that are asked for items
	held  map[uint64]*held // what was handed out here
}

// held is an item that was handed out here and is not over.
type held struct {
	msg  jetstream.Msg
	over chan struct{}
}

const (
	// openWait is how long a start waits for servers that start, too, and have no leader yet.
	openWait = time.Minute
	// putWait is how long a sender waits for the servers.
	putWait = 5 * time.Second
	askWait = 2 * time.Second
	// keyHeader names the key of a message.
	keyHeader = "Graft-Key"
)

// Open connects, and makes or checks the streams.
func Open(ctx context.Context, o Options) (*Queue, error) {
	if o.AckWait == 0 {
		o.AckWait = usualAckWait
	}
	q := &Queue{
		o: o, fresh: make(chan string, 1024), gone: make(chan struct{}), closing: make(chan struct{}),
		lanes: map[string]bool{}, held: map[uint64]*held{},
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

// Put takes entries one after the other. Whoever gets an error puts all of them again: those
// that were taken are duplicates then.
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

// put takes an entry, where it is no duplicate.
//
// Its message id is its key, and the number of the last word about that key. Two relays, or one
// that was killed after the first step and its successor, so write the same id, and the server
// tells that it is the same.
func (q *Queue) put(ctx context.Context, e queue.Entry) (item queue.Item, fresh bool, err error) {
	last, duplicate, err := q.known(ctx, e)
	if err != nil || duplicate {
		return item, false, err
	}
	lane := q.o.lane(e.To, e.From)
	msg := &nats.Msg{Subject: lane, Data: e.Data, Header: nats.Header{keyHeader: {e.Key}}}
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
	// The item is kept, whatever becomes of the word about its key: without that the message id
	// tells duplicates, for retryWindow.
	if _, err := q.js.Publish(ctx, q.o.keySubject(e.Key), strconv.AppendUint(nil, ack.Sequence, 10)); err != nil {
		q.o.Log.Warn("a key could not be noted", "key", e.Key, "error", err.Error())
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

// skew is how far the clocks of relays and servers may be apart.
const skew = time.Minute

// known reports whether an entry is a duplicate, and the number of the last word about its key.
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
	// A word from the future is of a clock that was ahead: it swallows nothing.
	if age := time.Since(word.Time); age > -skew && age < e.Within {
		return word.Sequence, true, nil
	}
	seq, err := strconv.ParseUint(string(word.Data), 10, 64)
	if err != nil {
		return word.Sequence, false, nil //nolint:nilerr // not a relay's word
	}
	waits, err := q.waits(ctx, seq, e.Key)
	return word.Sequence, waits, err
}

// again asks the servers until they answer, for as long as the context allows: while one of a
// cluster is lost, others take its place.
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

// Codes of the server's that the library has no names for.
const (
	noPeers       jetstream.ErrorCode = 10005 // as yet, in a cluster that starts
	noCluster     jetstream.ErrorCode = 10074 // for replicas
	cannotStore   jetstream.ErrorCode = 10077
	beingAccepted jetstream.ErrorCode = 10158 // by another request
)

// isAnswer reports whether a server says no, and would say so again.
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

// isFull reports whether the stream of what waits has no room. The server has one code for
// all that it cannot store, and tells of the rest in words.
func isFull(err error) bool {
	api := &jetstream.APIError{}
	return errors.As(err, &api) && api.ErrorCode == cannotStore && strings.Contains(api.Description, "exceeded")
}

// Done takes an item out. Where the one who has handed it out does not answer, as it is
// another one meanwhile, the item is deleted.
func (q *Queue) Done(ctx context.Context, item queue.Item) error {
	q.mu.Lock()
	h := q.held[item.Seq]
	q.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, putWait+askWait)
	defer cancel()
	err := errors.New("it is not held")
	if h != nil {
		acked, stop := context.WithTimeout(ctx, askWait)
		err = h.msg.DoubleAck(acked)
		stop()
	}
	if err != nil {
		if err = q.remove(ctx, item); err != nil {
			return err
		}
	}
	q.release(item.Seq)
	return nil
}

func (q *Queue) remove(ctx context.Context, item queue.Item) error {
	waits, err := q.waits(ctx, item.Seq, item.Key)
	if err != nil || !waits {
		return err
	}
	err = q.waiting.DeleteMsg(ctx, item.Seq)
	if errors.Is(err, jetstream.ErrMsgDeleteUnsuccessful) && strings.Contains(err.Error(), "no message found") {
		return nil // the replica that was asked first had not heard of it
	}
	return err
}

// release forgets an item that was held, and has its lane go on.
func (q *Queue) release(seq uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if h := q.held[seq]; h != nil {
		close(h.over)
		delete(q.held, seq)
	}
}

// Bury puts a letter into the stream of them. It stands there once, however often that is tried.
func (q *Queue) Bury(ctx context.Context, item queue.Item, letter json.RawMessage) error {
	ctx, cancel := context.WithTimeout(ctx, putWait)
	defer cancel()
	var to struct{ To string }
	_ = json.Unmarshal(item.Data, &to) // what cannot be read has no receiver
	_, err := q.js.Publish(ctx, q.o.Stream+".dead."+token(to.To), letter, jetstream.WithMsgID(item.Key+"@"+strconv.FormatUint(item.Seq, 10)))
	return err
}

// State is that of the stream, which all relays share.
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

// Close gives back what was handed out, for other relays to take it at once, and disconnects.
func (q *Queue) Close() error {
	close(q.closing)
	q.keeping.Wait()
	q.mu.Lock()
	for _, h := range q.held {
		_ = h.msg.Nak() // without it, another relay takes the item after AckWait
	}
	q.mu.Unlock()
	err := q.conn.FlushTimeout(askWait)
	q.conn.Close()
	if errors.Is(err, nats.ErrConnectionClosed) || errors.Is(err, nats.ErrTimeout) {
		return nil
	}
	return err
}
