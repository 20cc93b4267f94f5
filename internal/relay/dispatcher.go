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

// concurrent limits the attempts in progress of one account, each to another repository, and mostConcurrent
// those of all accounts.
const (
	concurrent     = 4
	mostConcurrent = 64
)

// dispatcher sends deliveries from the queue to GitHub.
//
// 1. Each repository has its own lane with one delivery in progress. A silent repository delays no other. 2. A
// lane sends the deliveries of one image repository in their order, and the image repositories of a lane take
// turns. With groups configured, several deliveries of a lane share one event. 3. After a failure a lane waits,
// twice as long each time. Then another image repository has its turn, because the fault may be the delivery's.
// 4. Rate limits and the pace belong to a token. If an App has several installations, each is an account of its
// own; otherwise there is one account. All lanes of an account wait until its limit is over, and no others. 5.
// Accounts take turns, and so do the lanes of an account: however many deliveries of one image wait, another
// image's delivery is sent before the second next of it. 6. A delivery leaves the queue when GitHub has
// accepted it or when it is a dead letter.
type dispatcher struct {
	config  *Config
	send    func(context.Context, delivery) outcome
	queue   queue.Queue
	metrics *metrics
	traces  traces
	log     *slog.Logger

	mu       sync.Mutex
	accounts map[string]*account
	turns    []*account     // in the order of their turns
	waits    map[string]int // waiting items of each image repository
	total    int            // waiting items in all
	busy     int
	wake     chan struct{}
	underWay sync.WaitGroup
}

// waiting is an item with its image repository and the time since when this process has it.
type waiting struct {
	queue.Item
	from  string
	since time.Time
}

// leastTried is the minimum time that a delivery is tried, even if the clock says that it is too old.
const leastTried = time.Hour

// tooOld uses the item's time, which is wrong if the clock was changed, and the local elapsed time.
func (w waiting) tooOld(giveUpAfter time.Duration) bool {
	tried := time.Since(w.since)
	return tried > giveUpAfter || time.Since(w.At) > giveUpAfter && tried >= min(giveUpAfter, leastTried)
}

// add accepts items that the queue hands out.
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
		a.waits++
		d.waits[from]++
		d.total++
	}
	d.mu.Unlock()
	d.wakeUp()
}

// timesLeft limits the queue space of one image repository to this multiple of the free space. An endless
// sender fills its share before others are refused.
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

// run sends until the first context ends. Then it waits for deliveries in progress, which end with the second
// context.
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

// startNext starts one delivery, or returns how long there is nothing to do.
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

// deliver makes one attempt, and removes deliveries from the queue or returns them to their lane.
func (d *dispatcher) deliver(ctx context.Context, a *account, l *lane, items []waiting) {
	over := make([]bool, len(items))
	begun := time.Now()
	each, v := d.attempt(ctx, items)
	d.answered(a, &v)
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

// answered ends the attempt for the limits of concurrent attempts, and starts the hold of a rate limit. The lane
// stays busy until the queue has recorded the result. If a server of the queue is lost, that can take seconds, in
// which other lanes continue.
func (d *dispatcher) answered(a *account, v *outcome) {
	d.mu.Lock()
	defer d.wakeUp()
	defer d.mu.Unlock()
	d.busy--
	a.busy--
	// A server cannot delay the next attempt for longer than this, whatever it requests.
	if most := time.Now().Add(max(longestHold, d.config.GitHub.LongestRetry)); v.again.After(most) {
		v.again = most
	}
	if v.limited && v.refused == "" && v.again.After(a.next) {
		a.next, a.limited = v.again, v.again
	}
}

// conclude removes a delivery from the queue if it is over.
func (d *dispatcher) conclude(ctx context.Context, one delivery, item waiting, v outcome) (over bool) {
	d.logOutcome(one, item.Item, v)
	over = v.delivered
	if v.refused != "" {
		err := d.setAside(ctx, one, item.Item, v)
		if over = err == nil; !over {
			d.log.Error("writing a dead letter failed; the queue keeps the delivery", "id", one.ID, "error", err.Error())
		}
	}
	if over {
		d.done(ctx, one.ID, item.Item)
	}
	return over
}

// attempt sends deliveries, in one event if possible.
func (d *dispatcher) attempt(ctx context.Context, items []waiting) (each []delivery, v outcome) {
	v.refused = "the stored delivery is malformed"
	first := items[0]
	each, all, err := together(items)
	ctx, span := d.traces.dispatch(ctx, all, first)
	defer func() { tried(span, v) }()
	switch {
	case err != nil:
	case first.Handed >= queue.MostHanded:
		v.refused = fmt.Sprintf("%d relays ended while they handled it", first.Handed)
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

// done reports to the queue that a delivery is over, and repeats that until it succeeds. Otherwise the delivery
// would be sent again, and later ones with its key would be dropped as duplicates.
func (d *dispatcher) done(ctx context.Context, id string, item queue.Item) {
	for n := 1; ; n++ {
		err := d.queue.Done(ctx, item)
		if err == nil {
			return
		}
		d.log.Error("removing a finished delivery from the queue failed", "id", id, "error", err.Error())
		if pause.For(ctx, d.backoff(n)) != nil {
			return
		}
	}
}

// longestHold is how long one answer can delay deliveries.
const longestHold = time.Hour

// release frees the lane.
func (d *dispatcher) release(a *account, l *lane, v outcome, items []waiting, over []bool) {
	d.mu.Lock()
	defer d.wakeUp()
	defer d.mu.Unlock()
	switch {
	case !slices.Contains(over, false):
		l.failures = 0
	case v.limited:
		l.goFirst()
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
		a.waits--
		if d.waits[item.from]--; d.waits[item.from] <= 0 {
			delete(d.waits, item.from)
		}
	}
	l.end(over)
}

// holds returns how many accounts wait for a rate limit, and the longest remaining wait.
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

// waiting returns the number of waiting deliveries of each account.
func (d *dispatcher) waiting() map[string]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := map[string]int{}
	for _, a := range d.turns {
		all[a.name] = a.waits
	}
	return all
}

// backoff grows up to LongestRetry. Half of it is random, so that lanes do not all return at once.
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
		d.log.Warn("not dispatched, the relay will retry", append(args, "error", v.err.Error())...)
	}
}

// addressOf returns the lane of an item and its image repository. Unreadable items have their own lane.
func addressOf(item queue.Item) (to, from string) {
	var l delivery
	_ = json.Unmarshal(item.Data, &l)
	from, _, _ = reference.Cut(l.Image)
	return l.To, from
}
