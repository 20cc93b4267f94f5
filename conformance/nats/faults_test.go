package nats_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/relay/queue"
	"github.com/olmgraft/graft/internal/relay/queue/jetstream"
	"github.com/olmgraft/graft/internal/testkit/effort"
)

// handed are the items that a queue handed out.
type handed struct {
	mu    sync.Mutex
	order []string          // keys, without those that came again
	seqs  map[string]uint64 // by key
	again int
	over  map[string]bool
	errs  []string
}

// take takes an item as the relay does: it records the end until the queue has stored it.
func (h *handed) take(ctx context.Context, q queue.Queue, item queue.Item) {
	h.mu.Lock()
	if seq, known := h.seqs[item.Key]; !known {
		h.seqs[item.Key] = item.Seq
		h.order = append(h.order, item.Key)
	} else if h.again++; seq != item.Seq {
		h.errs = append(h.errs, fmt.Sprintf("%s is stored as %d and %d", item.Key, seq, item.Seq))
	}
	h.mu.Unlock()
	if item.Key == "buried" {
		persist(ctx, func() error { return q.Bury(ctx, item, json.RawMessage(`{"to": "octo/a"}`)) })
	}
	persist(ctx, func() error { return q.Done(ctx, item) })
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over[item.Key] = true
}

// persist tries until it succeeds.
func persist(ctx context.Context, try func() error) {
	for try() != nil && ctx.Err() == nil {
		time.Sleep(10 * time.Millisecond)
	}
}

// runOf is the result of a run of a queue through a proxy: its requests, how many items came again, and how often the
// queue could not be opened.
type runOf struct {
	order         []place
	failed        bool
	again, reopen int
}

// throughProxy puts entries, takes them and reports their end, while a request fails.
func throughProxy(t *testing.T, server, stream string, fails place, how fault) (run runOf, err error) {
	p := newProxy(t, server, stream, fails, how)
	o := usual(t, p.url())
	o.Stream, o.AckWait, o.Partitions, o.Log = stream, time.Second, 1, slog.New(slog.DiscardHandler)
	var q queue.Queue
	for q == nil {
		opened, err := jetstream.Open(t.Context(), o)
		if err == nil {
			q = opened
			break
		}
		if run.reopen++; run.reopen > 2 || !failure.Is(err, failure.Usage) {
			return run, fmt.Errorf("opening it: %w", err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	h := &handed{seqs: map[string]uint64{}, over: map[string]bool{}}
	first, release := make(chan struct{}, 10), make(chan struct{})
	var taking sync.WaitGroup
	ended := make(chan error, 1)
	running, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		ended <- q.Run(running, func(items ...queue.Item) {
			for _, item := range items {
				taking.Go(func() {
					first <- struct{}{}
					<-release
					h.take(ctx, q, item)
				})
			}
		})
	}()
	put := func(to, from, key string) {
		persist(ctx, func() error {
			_, _, err := q.Put(ctx, queue.Entry{Key: key, Within: time.Hour, To: to, From: from, Data: json.RawMessage(`{"to": "octo/a"}`)})
			return err
		})
	}
	put("octo/a", "quay.io/a/a", "first")
	select { // the others come while it is handed out
	case <-first:
	case <-ctx.Done():
		return run, fmt.Errorf("the first item is not handed out")
	}
	put("octo/a", "quay.io/a/a", "second")
	put("octo/a", "quay.io/a/b", "buried")
	put("octo/b", "quay.io/a/c", "other")
	close(release)
	for len(h.ended()) < 4 || q.State(ctx).Items > 0 {
		if time.Sleep(20 * time.Millisecond); ctx.Err() != nil {
			return run, fmt.Errorf("only %v are over, and %+v waits", h.ended(), q.State(t.Context()))
		}
	}
	if _, copies, err := q.Put(ctx, queue.Entry{Key: "first", Within: time.Hour, To: "octo/a", From: "quay.io/a/a", Data: json.RawMessage(`{}`)}); err == nil && copies != 1 {
		h.errs = append(h.errs, "the first is no longer known")
	}
	stop()
	err = <-ended
	taking.Wait()
	if closing := q.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return run, err
	}
	if slices.Index(h.order, "first") > slices.Index(h.order, "second") {
		h.errs = append(h.errs, fmt.Sprintf("they came as %v", h.order))
	}
	var letters strings.Builder
	o.URL = "nats://" + server
	if err := jetstream.Letters(t.Context(), o, &letters); err != nil {
		return run, err
	}
	if n := strings.Count(letters.String(), "\n"); n != 1 {
		h.errs = append(h.errs, fmt.Sprintf("there are %d dead letters", n))
	}
	run.order, run.failed = p.requests()
	run.again = h.again
	if len(h.errs) > 0 {
		return run, fmt.Errorf("%v", h.errs)
	}
	return run, nil
}

func (h *handed) ended() (all []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for key := range h.over {
		all = append(all, key)
	}
	return all
}

// Each request to the server fails once, in each way. The queue recovers without help: it hands out everything
// that Put has accepted, in order and each stored once, and stores the dead letter once.
func TestEachRequestToNATSFails(t *testing.T) {
	server := embedded(t, nil).Addr().String()
	well, err := throughProxy(t, server, "FAULTS", place{}, "")
	if err != nil || well.again > 0 || well.reopen > 0 {
		t.Fatalf("without a fault: %+v, %v", well, err)
	}
	type way struct {
		place
		how fault
	}
	var ways []way
	kinds := map[string]int{}
	for _, at := range well.order {
		kinds[at.kind]++
		for _, how := range at.faults() {
			ways = append(ways, way{at, how})
		}
	}
	n := effort.Of(t, 6, 24, len(ways))
	var again, missed, reopened atomic.Int64
	slots := make(chan struct{}, 8)
	var runs sync.WaitGroup
	for i := range n {
		w := ways[i*len(ways)/n]
		slots <- struct{}{}
		runs.Go(func() {
			defer func() { <-slots }()
			run, err := throughProxy(t, server, fmt.Sprint("FAULTS", i), w.place, w.how)
			if err != nil {
				t.Errorf("%v is %s: %v", w.place, w.how, err)
			}
			if !run.failed {
				missed.Add(1)
			}
			again.Add(int64(run.again))
			reopened.Add(int64(run.reopen))
		})
	}
	runs.Wait()
	if int(missed.Load()) > n/2 {
		t.Errorf("%d of %d runs came to no such request", missed.Load(), n)
	}
	t.Logf("%d requests of %d kinds (%v), %d ways to fail; of %d runs %d came to no such request; %d items were handed out again; %d starts failed and were repeated",
		len(well.order), len(kinds), kinds, len(ways), n, missed.Load(), again.Load(), reopened.Load())
}
