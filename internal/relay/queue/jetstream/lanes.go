package jetstream

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/pause"
	"github.com/olmgraft/graft/internal/relay/queue"
)

const (
	// lookEvery is how soon a relay notices entries of other relays, and a lane that has ended.
	lookEvery = time.Second
	// idle is how long a lane without items is polled.
	idle = 20 * time.Second
	// leaderless is the time in which a consumer gets another leader.
	leaderless = 10 * time.Second
	// heartbeat is how often a polled server sends a sign of life.
	heartbeat = time.Second
)

// Run polls each lane that has items, each for one item at a time.
func (q *Queue) Run(ctx context.Context, hand func(...queue.Item)) error {
	ctx, cancel := context.WithCancel(ctx)
	var working sync.WaitGroup
	defer working.Wait()
	defer cancel()
	working.Go(func() { q.look(ctx) })
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-q.gone:
			return failure.New(failure.Usage, "the queue's server has refused the relay: %w", q.conn.LastError()).
				Fix("Give queue.creds or queue.nkey a user that the server accepts, and start the relay again.")
		case lane := <-q.fresh:
			if q.begin(lane) {
				working.Go(func() {
					defer q.end(lane)
					q.ask(ctx, lane, hand)
				})
			}
		}
	}
}

// look finds the lanes with waiting items of any relay.
func (q *Queue) look(ctx context.Context) {
	for ctx.Err() == nil {
		begun := time.Now()
		info, err := q.info(ctx, jetstream.WithSubjectFilter(">"))
		if err == nil {
			lanes := map[string]bool{}
			for subject := range info.State.Subjects {
				lanes[laneOf(subject)] = true
			}
			for lane := range lanes {
				select {
				case q.fresh <- lane:
				case <-ctx.Done():
					return
				}
			}
		} else if ctx.Err() == nil {
			q.o.Log.Warn("reading the state of the queue failed", "error", err.Error())
		}
		// A long list of sources is requested less often.
		if pause.For(ctx, max(lookEvery, 10*time.Since(begun))) != nil {
			return
		}
	}
}

// begin reports whether a lane is not polled yet, and marks it. end removes the mark.
func (q *Queue) begin(lane string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	begins := !q.lanes[lane]
	q.lanes[lane] = true
	return begins
}

func (q *Queue) end(lane string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.lanes, lane)
}

// ask hands out the items of a lane, each after the one before is over, until there are no more or the server
// does not answer. look starts again with the rest.
func (q *Queue) ask(ctx context.Context, lane string, hand func(...queue.Item)) {
	// While the consumer has no leader, nobody answers. look asks again.
	brief, cancel := context.WithTimeout(ctx, askWait)
	consumer, err := q.js.CreateConsumer(brief, q.o.Stream, q.o.consumer(lane))
	cancel()
	if err != nil {
		q.complain(ctx, lane, err)
		return
	}
	for heard := time.Now(); ctx.Err() == nil; heard = time.Now() {
		msg, err := next(ctx, consumer)
		// A consumer that lost its leader gets another one. Only then is it created anew, which takes a leader of all
		// the servers, too.
		for err != nil && time.Since(heard) < leaderless && pause.For(ctx, reconnectEvery) == nil {
			msg, err = next(ctx, consumer)
		}
		switch {
		case err != nil:
			q.complain(ctx, lane, err)
			return
		case msg == nil:
			q.mend(ctx, lane, consumer)
			return
		}
		item, h, err := q.hold(msg)
		if err != nil {
			q.complain(ctx, lane, err)
			return
		}
		if err := q.others(ctx, lane, msg, hand); err != nil {
			q.complain(ctx, lane, err) // they go before the next item
		}
		if ctx.Err() != nil {
			return
		}
		hand(item)
		select {
		case <-h.over:
		case <-ctx.Done():
		}
	}
}

// next returns the next item of a lane, or nil if there is none for a while. Each item is fetched alone:
// prefetched items would wait here while another relay is idle.
func next(ctx context.Context, consumer jetstream.Consumer) (jetstream.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, idle)
	defer cancel()
	batch, err := consumer.Fetch(1, jetstream.FetchContext(ctx), jetstream.FetchHeartbeat(heartbeat))
	if err != nil {
		return nil, err
	}
	msg := <-batch.Messages() // nil if closed
	if err := batch.Error(); msg == nil && !errors.Is(err, context.DeadlineExceeded) {
		return nil, err
	}
	return msg, nil
}

// hold records that an item is handed out here.
func (q *Queue) hold(msg jetstream.Msg) (queue.Item, *held, error) {
	meta, err := msg.Metadata()
	if err != nil {
		return queue.Item{}, nil, err
	}
	h := &held{msg: msg, over: make(chan struct{})}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.held[meta.Sequence.Stream] = h
	return queue.Item{
		Seq: meta.Sequence.Stream, Key: msg.Headers().Get(keyHeader), At: meta.Timestamp, Data: msg.Data(), Handed: int(meta.NumDelivered) - 1,
	}, h, nil
}

// keep renews the server's timeout of the items that are held here, until the queue is closed.
func (q *Queue) keep() {
	tick := time.NewTicker(q.o.AckWait / 4)
	defer tick.Stop()
	for {
		select {
		case <-q.closing:
			return
		case <-tick.C:
		}
		q.mu.Lock()
		for _, h := range q.held {
			if h.msg != nil {
				_ = h.msg.InProgress() // otherwise another relay gets the item after AckWait
			}
		}
		q.mu.Unlock()
	}
}

// mend removes a consumer that hands out nothing although items wait: it has reached its limit of deliveries,
// or it was acknowledged and the stream did not record that.
func (q *Queue) mend(ctx context.Context, lane string, consumer jetstream.Consumer) {
	sources, err := q.sources(ctx, lane)
	if err != nil || len(sources) == 0 {
		return
	}
	c, err := consumer.Info(ctx)
	if err != nil || c.NumPending > 0 || c.NumAckPending > 0 {
		return
	}
	q.o.Log.Warn("a lane delivers nothing, the relay restarts it", "lane", lane, "sources", len(sources))
	if err := q.js.DeleteConsumer(ctx, q.o.Stream, c.Name); err != nil {
		q.complain(ctx, lane, err)
	}
}

func (q *Queue) complain(ctx context.Context, lane string, err error) {
	if ctx.Err() == nil {
		q.o.Log.Warn("reading a lane of the queue failed, the relay retries", "lane", lane, "error", err.Error())
	}
}
