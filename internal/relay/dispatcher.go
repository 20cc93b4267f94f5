package relay

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/olmgraft/graft/internal/outbound"
	"github.com/olmgraft/graft/internal/pause"
	"github.com/olmgraft/graft/internal/reference"
	"github.com/olmgraft/graft/internal/relay/queue"
)

// concurrent is how many deliveries of an account are under way at a time, each to another
// repository, and mostConcurrent how many of all.
const (
	concurrent     = 4
	mostConcurrent = 64
)

// dispatcher takes deliveries from the queue to GitHub.
//
//  1. Each repository has a lane of its own, with one delivery under way: one that does not
//     answer holds up no other.
//  2. What a lane has of one image repository goes in the order in which it was put, and the image
//     repositories of a lane take turns.
//     Where groups are configured, several deliveries of a lane are one event.
//  3. A lane that failed waits, twice as long each time; then another image repository has its
//     turn, for the fault may be the delivery's.
//  4. A rate limit is the token's, and so is the pace: where an App has several installations, each
//     of them is an account of its own; else there is one. All lanes of an account wait until a
//     limit is over, and no others.
//  5. Accounts take turns, and so do the lanes of an account: whatever waits of one image, another is
//     sent before the second next of it.
//  6. A delivery leaves the queue when GitHub has taken it, or when it stands among the dead letters.
type dispatcher struct {
	config  *Config
	send    func(context.Context, delivery) outcome
	queue   queue.Queue
	metrics *metrics
	traces  traces
	log     *slog.Logger

	mu       sync.Mutex
	accounts map[string]*account
	turns    []*account     // in the order in which they have their turns
	waits    map[string]int // how many wait of each image repository
	total    int            // how many wait of all
	busy     int
	wake     chan struct{}
	underWay sync.WaitGroup
}

// waiting is an item, the image repository that it tells of, and since when this process has it.
type waiting struct {
	queue.Item
	from  string
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

// add takes items that the queue hands out.
func (d *dispatcher) add(items ...queue.Item) {
	d.mu.Lock()
	for _, item := range items {
		to, from := addressOf(item)
		name := d.config.GitHub.accountOf(to)
		a := d.accounts[name]
		if a == nil {
			a = &account{name: name, lanes: map[string]*lane{}}
			d.accounts[name] = a
			d.turns = append(d.turns, a)
		}
		a.lane(to).add(waiting{item, from, time.Now()})
		d.waits[from]++
		d.total++
	}
	d.mu.Unlock()
	d.wakeUp()
}

// timesLeft bounds what one image repository may take of the queue: so many times what is left to
// all. Whoever announces without end finds the queue full before others do.
const timesLeft = 8

// hasRoom reports whether an image repository may have one more delivery.
func (d *dispatcher) hasRoom(from string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.waits[from] < timesLeft*max(d.config.Queue.Items-d.total, 1)
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
	wait = idle
	for i := 0; i < len(d.turns) && d.busy < mostConcurrent; i++ {
		a := d.turns[i]
		if len(a.turns) == 0 && a.busy == 0 && !now.Before(a.next) {
			delete(d.accounts, a.name)
			d.turns = slices.Delete(d.turns, i, i+1)
			i--
			continue
		}
		l, most := a.ready(now, d.config.GitHub.Group)
		if l == nil {
			wait = min(wait, most)
			continue
		}
		d.turns = append(slices.Delete(d.turns, i, i+1), a)
		items := l.begin(d.joins)
		d.busy++
		a.busy++
		a.next = now.Add(d.config.GitHub.Pace)
		d.underWay.Go(func() { d.deliver(ctx, a, l, items) })
		return 0, true
	}
	return wait, false
}

// deliver makes one attempt, and takes deliveries out of the queue or back into their lane.
func (d *dispatcher) deliver(ctx context.Context, a *account, l *lane, items []waiting) {
	over := make([]bool, len(items))
	begun := time.Now()
	each, v := d.attempt(ctx, items)
	if ctx.Err() != nil && !v.delivered {
		d.release(a, l, v, items, over)
		return
	}
	d.metrics.sent(v, time.Since(begun))
	for i, item := range items {
		over[i] = d.conclude(ctx, each[i], item, v)
	}
	d.release(a, l, v, items, over)
}

// conclude takes a delivery out of the queue if it is over.
func (d *dispatcher) conclude(ctx context.Context, one delivery, item waiting, v outcome) (over bool) {
	d.logOutcome(one, item.Item, v)
	over = v.delivered
	if v.refused != "" {
		err := d.setAside(ctx, one, item.Item, v)
		if over = err == nil; !over {
			d.log.Error("writing a dead letter failed, it is kept in the queue", "id", one.ID, "error", err.Error())
		}
	}
	if over {
		d.done(ctx, one.ID, item.Item)
	}
	return over
}

// attempt sends deliveries in one event, where that can be done.
func (d *dispatcher) attempt(ctx context.Context, items []waiting) (each []delivery, v outcome) {
	v.refused = "it cannot be read"
	first := items[0]
	each, all, err := together(items)
	ctx, span := d.traces.dispatch(ctx, all, first)
	defer func() { tried(span, v) }()
	switch {
	case err != nil:
	case first.Handed >= queue.MostHanded:
		v.refused = fmt.Sprintf("%d relays have ended while they had it", first.Handed)
	default:
		v = d.send(ctx, all)
	}
	if v.refused == "" && v.err != nil && ctx.Err() == nil && first.tooOld(d.config.GitHub.GiveUpAfter) {
		v.refused = "given up after " + d.config.GitHub.GiveUpAfter.String() + ": " + v.err.Error()
	}
	return each, v
}

// setAside makes a delivery a dead letter.
func (d *dispatcher) setAside(ctx context.Context, one delivery, item queue.Item, v outcome) error {
	letter, err := d.config.letter(one, item, v)
	if err != nil {
		return err
	}
	return d.queue.Bury(ctx, item, letter)
}

// done tells the queue that a delivery is over, for as long as it takes: one that stays in
// there would be sent again, and keep later ones of its key out as duplicates.
func (d *dispatcher) done(ctx context.Context, id string, item queue.Item) {
	for n := 1; ; n++ {
		err := d.queue.Done(ctx, item)
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
func (d *dispatcher) release(a *account, l *lane, v outcome, items []waiting, over []bool) {
	d.mu.Lock()
	defer d.wakeUp()
	defer d.mu.Unlock()
	d.busy--
	a.busy--
	// Whatever a server asks for, it is asked again before the day is over.
	if most := time.Now().Add(max(longestHold, d.config.GitHub.LongestRetry)); v.again.After(most) {
		v.again = most
	}
	switch {
	case !slices.Contains(over, false):
		l.failures = 0
	case v.limited:
		l.goFirst()
		if v.again.After(a.next) {
			a.next, a.limited = v.again, v.again
		}
	default:
		l.failures++
		l.next = time.Now().Add(d.backoff(l.failures))
		if v.again.After(l.next) {
			l.next = v.again
		}
	}
	for i, item := range items {
		if !over[i] {
			continue
		}
		d.total--
		if d.waits[item.from]--; d.waits[item.from] <= 0 {
			delete(d.waits, item.from)
		}
	}
	l.end(over)
}

// holds says how many accounts a rate limit holds, and for how long the longest does.
func (d *dispatcher) holds(now time.Time) (accounts int, longest time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, a := range d.turns {
		if left := a.limited.Sub(now); left > 0 {
			accounts, longest = accounts+1, max(longest, left)
		}
	}
	return accounts, longest
}

// backoff grows to LongestRetry, and half of it is chance, so that lanes do not all come
// back at once.
func (d *dispatcher) backoff(failures int) time.Duration {
	return outbound.Backoff(failures, d.config.GitHub.FirstRetry, d.config.GitHub.LongestRetry)
}

func (d *dispatcher) logOutcome(l delivery, item queue.Item, v outcome) {
	args := []any{"id", l.ID, "image", l.Image, "to", l.To, "waited", time.Since(item.At).Round(time.Millisecond).String()}
	if l.Trace != "" {
		args = append(args, "trace", l.Trace)
	}
	switch {
	case v.delivered:
		d.log.Info("dispatched", args...)
	case v.refused != "":
		d.log.Error("refused, now a dead letter", append(args, "reason", v.refused)...)
	default:
		d.log.Warn("not dispatched, will be tried again", append(args, "error", v.err.Error())...)
	}
}

// addressOf is the lane of an item, and the image repository that it tells of; what cannot be
// read has a lane of its own.
func addressOf(item queue.Item) (to, from string) {
	var l delivery
	_ = json.Unmarshal(item.Data, &l)
	from, _, _ = reference.Cut(l.Image)
	return l.To, from
}
