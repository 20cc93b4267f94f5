package relay

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"github.com/olmgraft/graft/internal/outbound"
	"github.com/olmgraft/graft/internal/pause"
	"github.com/olmgraft/graft/internal/relay/queue"
)

// concurrent is how many deliveries are under way at a time, each to another repository.
const concurrent = 4

// dispatcher takes deliveries from the queue to GitHub.
//
//  1. Each repository has a lane of its own, with one delivery under way: one that does not
//     answer holds up no other.
//  2. A lane that failed waits, twice as long each time; its delivery goes to the back, for
//     the fault may be the delivery's.
//  3. A rate limit is the token's: all lanes wait until it is over.
//  4. A delivery leaves the queue when GitHub has taken it, or when it stands among the dead letters.
type dispatcher struct {
	config   GitHub
	send     func(context.Context, delivery) outcome
	setAside func(delivery, queue.Item, outcome) error
	finish   func(seq uint64) error // takes an item out of the queue
	metrics  *metrics
	log      *slog.Logger

	mu       sync.Mutex
	lanes    map[string]*lane
	busy     int
	next     time.Time // the earliest time for the next delivery, by pace or limit
	wake     chan struct{}
	underWay sync.WaitGroup
}

type lane struct {
	waiting  []waiting
	busy     bool
	failures int
	next     time.Time
}

// waiting is an item, and since when this process has it.
type waiting struct {
	queue.Item
	since time.Time
}

// leastTried is how long a delivery is tried, whatever the clock says of its age.
const leastTried = time.Hour

// tooOld goes by the time that the item states, which a clock that was set makes wrong, and by
// the time that went by here.
func (w waiting) tooOld(giveUpAfter time.Duration) bool {
	tried := time.Since(w.since)
	return tried > giveUpAfter || time.Since(w.At) > giveUpAfter && tried >= min(giveUpAfter, leastTried)
}

// add takes items that were put into the queue.
func (d *dispatcher) add(items []queue.Item) {
	d.mu.Lock()
	for _, item := range items {
		to := addressOf(item)
		if d.lanes[to] == nil {
			d.lanes[to] = &lane{}
		}
		d.lanes[to].waiting = append(d.lanes[to].waiting, waiting{item, time.Now()})
	}
	d.mu.Unlock()
	d.wakeUp()
}

func (d *dispatcher) wakeUp() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// run sends until the first context ends, and then waits for what is under way, which ends
// with the second.
func (d *dispatcher) run(stop, abort context.Context) {
	for stop.Err() == nil {
		wait, ok := d.startNext(abort)
		if ok {
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-stop.Done():
		case <-d.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
	d.underWay.Wait()
}

// startNext sends one delivery off, or says how long there is nothing to do.
func (d *dispatcher) startNext(ctx context.Context) (wait time.Duration, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	const idle = time.Hour
	now := time.Now()
	if d.busy == concurrent {
		return idle, false
	}
	if now.Before(d.next) {
		return d.next.Sub(now), false
	}
	wait = idle
	for to, l := range d.lanes {
		switch {
		case len(l.waiting) == 0 && !l.busy:
			delete(d.lanes, to)
		case l.busy || len(l.waiting) == 0:
		case now.Before(l.next):
			wait = min(wait, l.next.Sub(now))
		default:
			item := l.waiting[0]
			l.waiting = l.waiting[1:]
			l.busy = true
			d.busy++
			d.next = now.Add(d.config.Pace)
			d.underWay.Go(func() { d.deliver(ctx, l, item) })
			return 0, true
		}
	}
	return wait, false
}

// deliver makes one attempt, and takes the delivery out of the queue or back into its lane.
func (d *dispatcher) deliver(ctx context.Context, l *lane, item waiting) {
	var one delivery
	v := outcome{refused: "it cannot be read"}
	begun := time.Now()
	if err := json.Unmarshal(item.Data, &one); err == nil {
		v = d.send(ctx, one)
	}
	if ctx.Err() != nil && !v.delivered {
		d.release(l, item, v, false)
		return
	}
	if v.refused == "" && v.err != nil && item.tooOld(d.config.GiveUpAfter) {
		v.refused = "given up after " + d.config.GiveUpAfter.String() + ": " + v.err.Error()
	}
	d.metrics.sent(v, time.Since(begun))
	d.logOutcome(one, item.Item, v)
	over := v.delivered
	if v.refused != "" {
		err := d.setAside(one, item.Item, v)
		if over = err == nil; !over {
			d.log.Error("writing a dead letter failed, it is kept in the queue", "id", one.ID, "error", err.Error())
		}
	}
	if over {
		d.done(ctx, one.ID, item.Item)
	}
	d.release(l, item, v, over)
}

// done tells the queue that a delivery is over, for as long as it takes: one that stays in
// there would be sent again, and keep later ones of its key out as duplicates.
func (d *dispatcher) done(ctx context.Context, id string, item queue.Item) {
	for n := 1; ; n++ {
		err := d.finish(item.Seq)
		if err == nil {
			return
		}
		d.log.Error("a delivery is over, and the queue could not be told", "id", id, "error", err.Error())
		if pause.For(ctx, d.backoff(n)) != nil {
			return
		}
	}
}

// longestHold is how long one answer can hold deliveries back.
const longestHold = time.Hour

// release frees the lane.
func (d *dispatcher) release(l *lane, item waiting, v outcome, over bool) {
	d.mu.Lock()
	defer d.wakeUp()
	defer d.mu.Unlock()
	d.busy--
	l.busy = false
	// Whatever a server asks for, it is asked again before the day is over.
	if most := time.Now().Add(max(longestHold, d.config.LongestRetry)); v.again.After(most) {
		v.again = most
	}
	switch {
	case over:
		l.failures = 0
	case v.limited:
		l.waiting = append([]waiting{item}, l.waiting...)
		if v.again.After(d.next) {
			d.next = v.again
			d.metrics.heldUntil(v.again)
		}
	default:
		l.waiting = append(l.waiting, item)
		l.failures++
		l.next = time.Now().Add(d.backoff(l.failures))
		if v.again.After(l.next) {
			l.next = v.again
		}
	}
}

// backoff grows to LongestRetry, and half of it is chance, so that lanes do not all come
// back at once.
func (d *dispatcher) backoff(failures int) time.Duration {
	return outbound.Backoff(failures, d.config.FirstRetry, d.config.LongestRetry)
}

func (d *dispatcher) logOutcome(l delivery, item queue.Item, v outcome) {
	args := []any{"id", l.ID, "image", l.Image, "to", l.To, "waited", time.Since(item.At).Round(time.Millisecond).String()}
	switch {
	case v.delivered:
		d.log.Info("dispatched", args...)
	case v.refused != "":
		d.log.Error("refused, now a dead letter", append(args, "reason", v.refused)...)
	default:
		d.log.Warn("not dispatched, will be tried again", append(args, "error", v.err.Error())...)
	}
}

// addressOf is the lane of an item; what cannot be read has one of its own.
func addressOf(item queue.Item) string {
	var l delivery
	_ = json.Unmarshal(item.Data, &l)
	return l.To
}
