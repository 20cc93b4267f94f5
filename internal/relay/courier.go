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

// couriers are how many letters are under way at a time, each to another repository.
const couriers = 4

// courier takes letters from the queue to GitHub.
//
//  1. Each repository has a lane of its own, with one letter under way: one that does not
//     answer holds up no other.
//  2. A lane that failed waits, twice as long each time; its letter goes to the back, for
//     the fault may be the letter's.
//  3. A rate limit is the token's: all lanes wait until it is over.
//  4. A letter leaves the queue when GitHub has taken it, or when it stands among the dead.
type courier struct {
	config  GitHub
	send    func(context.Context, letter) verdict
	bury    func(letter, queue.Item, verdict) error
	finish  func(seq uint64) error // takes an item out of the queue
	metrics *metrics
	log     *slog.Logger

	mu     sync.Mutex
	lanes  map[string]*lane
	busy   int
	next   time.Time // the earliest time for the next letter, by pace or limit
	wake   chan struct{}
	flying sync.WaitGroup
}

type lane struct {
	waiting  []queue.Item
	busy     bool
	failures int
	next     time.Time
}

// add takes items that were put into the queue.
func (c *courier) add(items []queue.Item) {
	c.mu.Lock()
	for _, item := range items {
		to := addressOf(item)
		if c.lanes[to] == nil {
			c.lanes[to] = &lane{}
		}
		c.lanes[to].waiting = append(c.lanes[to].waiting, item)
	}
	c.mu.Unlock()
	c.nudge()
}

func (c *courier) nudge() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// run sends until the first context ends, and then waits for what is under way, which ends
// with the second.
func (c *courier) run(stop, abort context.Context) {
	for stop.Err() == nil {
		wait, ok := c.depart(abort)
		if ok {
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-stop.Done():
		case <-c.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
	c.flying.Wait()
}

// depart sends one letter off, or says how long there is nothing to do.
func (c *courier) depart(ctx context.Context) (wait time.Duration, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	const idle = time.Hour
	now := time.Now()
	if c.busy == couriers {
		return idle, false
	}
	if now.Before(c.next) {
		return c.next.Sub(now), false
	}
	wait = idle
	for to, l := range c.lanes {
		switch {
		case len(l.waiting) == 0 && !l.busy:
			delete(c.lanes, to)
		case l.busy || len(l.waiting) == 0:
		case now.Before(l.next):
			wait = min(wait, l.next.Sub(now))
		default:
			item := l.waiting[0]
			l.waiting = l.waiting[1:]
			l.busy = true
			c.busy++
			c.next = now.Add(c.config.Pace)
			c.flying.Go(func() { c.carry(ctx, l, item) })
			return 0, true
		}
	}
	return wait, false
}

// carry takes one letter to its end or back into its lane.
func (c *courier) carry(ctx context.Context, l *lane, item queue.Item) {
	var letter letter
	v := verdict{refused: "it cannot be read"}
	begun := time.Now()
	if err := json.Unmarshal(item.Data, &letter); err == nil {
		v = c.send(ctx, letter)
	}
	if ctx.Err() != nil && !v.delivered {
		c.arrive(l, item, v, false)
		return
	}
	if v.refused == "" && v.err != nil && time.Since(item.At) > c.config.GiveUpAfter {
		v.refused = "given up after " + c.config.GiveUpAfter.String() + ": " + v.err.Error()
	}
	c.metrics.sent(v, time.Since(begun))
	c.logVerdict(letter, item, v)
	over := v.delivered
	if v.refused != "" {
		err := c.bury(letter, item, v)
		if over = err == nil; !over {
			c.log.Error("writing a dead letter failed, it is kept in the queue", "id", letter.ID, "error", err.Error())
		}
	}
	if over {
		c.done(ctx, letter.ID, item)
	}
	c.arrive(l, item, v, over)
}

// done tells the queue that a letter is over, for as long as it takes: one that stays in
// there would be sent again, and keep later ones of its key out as duplicates.
func (c *courier) done(ctx context.Context, id string, item queue.Item) {
	for n := 1; ; n++ {
		err := c.finish(item.Seq)
		if err == nil {
			return
		}
		c.log.Error("a letter is over, and the queue could not be told", "id", id, "error", err.Error())
		if pause.For(ctx, c.backoff(n)) != nil {
			return
		}
	}
}

// longestHold is how long one answer can hold letters back.
const longestHold = time.Hour

// arrive frees the lane.
func (c *courier) arrive(l *lane, item queue.Item, v verdict, over bool) {
	c.mu.Lock()
	defer c.nudge()
	defer c.mu.Unlock()
	c.busy--
	l.busy = false
	// Whatever a server asks for, it is asked again before the day is over.
	if most := time.Now().Add(max(longestHold, c.config.LongestRetry)); v.again.After(most) {
		v.again = most
	}
	switch {
	case over:
		l.failures = 0
	case v.limited:
		l.waiting = append([]queue.Item{item}, l.waiting...)
		if v.again.After(c.next) {
			c.next = v.again
			c.metrics.heldUntil(v.again)
		}
	default:
		l.waiting = append(l.waiting, item)
		l.failures++
		l.next = time.Now().Add(c.backoff(l.failures))
		if v.again.After(l.next) {
			l.next = v.again
		}
	}
}

// backoff grows to LongestRetry, and half of it is chance, so that lanes do not all come
// back at once.
func (c *courier) backoff(failures int) time.Duration {
	return outbound.Backoff(failures, c.config.FirstRetry, c.config.LongestRetry)
}

func (c *courier) logVerdict(l letter, item queue.Item, v verdict) {
	args := []any{"id", l.ID, "image", l.Image, "to", l.To, "waited", time.Since(item.At).Round(time.Millisecond).String()}
	switch {
	case v.delivered:
		c.log.Info("dispatched", args...)
	case v.refused != "":
		c.log.Error("refused, now a dead letter", append(args, "reason", v.refused)...)
	default:
		c.log.Warn("not dispatched, will be tried again", append(args, "error", v.err.Error())...)
	}
}

// addressOf is the lane of an item; what cannot be read has one of its own.
func addressOf(item queue.Item) string {
	var l letter
	_ = json.Unmarshal(item.Data, &l)
	return l.To
}
