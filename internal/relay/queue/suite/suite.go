// Package suite has the tests that each implementation of the queue passes.
package suite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/relay/queue"
)

// Options of a test's queue.
type Options struct {
	MaxItems int
	MaxBytes int64
	Remember time.Duration
	// Partitions is the number of partitions of an engine that has them; 0 is its default.
	Partitions int
}

// Open opens a queue. Within a test it opens the same one each time.
type Open func() (queue.Queue, error)

// Engine prepares a queue for a test. Shared reports whether two can be open at a time.
type Engine struct {
	Prepare func(*testing.T, Options) Open
	Shared  bool
	// Many is the number of items of one source in the test of turns.
	Many int
}

// Test tests an implementation.
func Test(t *testing.T, e Engine) {
	for name, test := range map[string]func(*testing.T, Engine){
		"items are handed out in order":              order,
		"a finished item is not handed out again":    over,
		"an unfinished item is handed out again":     handedAgain,
		"an item delays no other receiver's":         receivers,
		"many from one source delay few others":      flood,
		"sources take turns":                         turns,
		"a key is taken once":                        duplicates,
		"a key whose item waits is taken once":       waitingKey,
		"a key is taken once by many at a time":      duplicatesAtOnce,
		"items are bounded":                          bounds,
		"the state reports waiting items":            state,
		"many put and take concurrently":             atOnce,
		"a dead letter is not an item":               dead,
		"a closed queue accepts nothing":             closed,
		"Done may be called twice":                   twice,
		"items from before Run are handed out":       beforeRun,
		"another relay gets the items of a dead one": shared,
	} {
		t.Run(name, func(t *testing.T) { test(t, e) })
	}
}

var usual = Options{MaxItems: 1000, MaxBytes: 1 << 20, Remember: time.Hour}

// patience is how long a test waits for an expected event.
const patience = 60 * time.Second

// running is a queue that hands out to a test.
type running struct {
	queue.Queue
	t     *testing.T
	items chan queue.Item
	stop  context.CancelFunc
	ended chan error
}

func open(t *testing.T, open Open) queue.Queue {
	t.Helper()
	q, err := open()
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func run(t *testing.T, q queue.Queue) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{Queue: q, t: t, items: make(chan queue.Item, 20_000), stop: cancel, ended: make(chan error, 1)}
	go func() {
		r.ended <- q.Run(ctx, func(items ...queue.Item) {
			for _, item := range items {
				r.items <- item
			}
		})
	}()
	return r
}

func start(t *testing.T, o Open) *running {
	t.Helper()
	return run(t, open(t, o))
}

// end stops Run and closes the queue.
func (r *running) end() {
	r.t.Helper()
	r.stop()
	if err := errors.Join(<-r.ended, r.Close()); err != nil {
		r.t.Fatal(err)
	}
}

// next returns the next item that is handed out.
func (r *running) next() queue.Item {
	r.t.Helper()
	select {
	case item := <-r.items:
		return item
	case <-time.After(patience):
		r.t.Fatal("nothing is handed out")
		panic("not reached")
	}
}

// none checks that nothing is handed out for a while.
func (r *running) none() {
	r.t.Helper()
	select {
	case item := <-r.items:
		r.t.Fatalf("%s was handed out", item.Key)
	case <-time.After(300 * time.Millisecond):
	}
}

func (r *running) done(item queue.Item) {
	r.t.Helper()
	if err := r.Done(r.t.Context(), item); err != nil {
		r.t.Fatal(err)
	}
}

// waits checks that this many items wait, with some delay allowed: replicas learn one after the other that an
// item is over.
func waits(t *testing.T, q queue.Queue, items int) queue.State {
	t.Helper()
	s := q.State(t.Context())
	for begun := time.Now(); s.Items != items; s = q.State(t.Context()) {
		if time.Sleep(time.Millisecond); time.Since(begun) > patience {
			t.Fatalf("%d items wait, and it says %+v", items, s)
		}
	}
	return s
}

// put puts entries one after the other and checks that all are accepted.
func put(t *testing.T, q queue.Queue, entries ...queue.Entry) {
	t.Helper()
	for _, e := range entries {
		if taken, duplicates, err := q.Put(t.Context(), e); err != nil || len(taken) != 1 || duplicates != 0 || taken[0].Key != e.Key || string(taken[0].Data) != string(e.Data) {
			t.Fatalf("putting %s: %+v taken, %d duplicates, %v", e.Key, taken, duplicates, err)
		}
	}
}

// entry returns an entry from octo/a to the receiver.
func entry(to, key string) queue.Entry {
	data, _ := json.Marshal(map[string]string{"to": to, "key": key})
	return queue.Entry{Key: key, Within: time.Hour, To: to, From: "quay.io/octo/a", Data: data}
}

func order(t *testing.T, e Engine) {
	o := e.Prepare(t, usual)
	r := start(t, o)
	defer r.end()
	for i := range 20 {
		put(t, r, entry("octo/catalog", fmt.Sprintf("k%02d", i)))
	}
	var last queue.Item
	for i := range 20 {
		item := r.next()
		if want := fmt.Sprintf("k%02d", i); item.Key != want || item.Seq <= last.Seq || string(item.Data) != string(entry("octo/catalog", want).Data) || time.Since(item.At).Abs() > time.Minute {
			t.Fatalf("%d was handed out as %+v", i, item)
		}
		last = item
		r.done(item)
	}
	r.none()
}

func beforeRun(t *testing.T, e Engine) {
	q := open(t, e.Prepare(t, usual))
	put(t, q, entry("octo/catalog", "a"), entry("octo/catalog", "b"))
	r := run(t, q)
	defer r.end()
	for _, key := range []string{"a", "b"} {
		item := r.next()
		if item.Key != key {
			t.Fatalf("%s was handed out, want %s", item.Key, key)
		}
		r.done(item)
	}
}

func over(t *testing.T, e Engine) {
	o := e.Prepare(t, usual)
	r := start(t, o)
	put(t, r, entry("octo/catalog", "a"), entry("octo/catalog", "b"))
	r.done(r.next())
	b := r.next()
	r.end()
	r = start(t, o)
	defer r.end()
	if item := r.next(); item.Key != "b" || item.Seq != b.Seq {
		t.Errorf("%+v was handed out", item)
	}
	r.none()
}

func handedAgain(t *testing.T, e Engine) {
	o := e.Prepare(t, usual)
	for n := range 3 {
		r := start(t, o)
		if n == 0 {
			put(t, r, entry("octo/catalog", "a"), entry("octo/catalog", "b"), entry("octo/other", "c"))
		}
		got := []string{}
		for len(got) < 2 {
			if item := r.next(); item.Key != "b" { // it may come together with those before it
				got = append(got, item.Key)
			}
		}
		if slices.Sort(got); fmt.Sprint(got) != "[a c]" {
			t.Errorf("%v was handed out", got)
		}
		r.end()
	}
}

func receivers(t *testing.T, e Engine) {
	r := start(t, e.Prepare(t, usual))
	defer r.end()
	for i := range 8 {
		put(t, r, entry("octo/down", fmt.Sprint("d", i)))
	}
	put(t, r, entry("octo/up", "u0"), entry("octo/up", "u1"))
	for up := 0; up < 2; {
		if item := r.next(); item.Key == fmt.Sprint("u", up) {
			r.done(item)
			up++
		}
	}
}

func duplicates(t *testing.T, e Engine) {
	o := e.Prepare(t, usual)
	r := start(t, o)
	put(t, r, entry("octo/catalog", "a"))
	again(t, r, entry("octo/catalog", "a"), true)
	r.done(r.next())
	again(t, r, entry("octo/catalog", "a"), true)
	r.end()
	r = start(t, o)
	defer r.end()
	again(t, r, entry("octo/catalog", "a"), true)
	brief := entry("octo/catalog", "a")
	brief.Within = time.Millisecond
	again(t, r, brief, false)
	again(t, r, entry("octo/catalog", "a"), true)
	two, copied, err := r.Put(t.Context(), entry("octo/catalog", "b"), entry("octo/catalog", "b"), entry("octo/catalog", "a"))
	if err != nil || len(two) != 1 || copied != 2 {
		t.Errorf("%d taken, %d duplicates, %v", len(two), copied, err)
	}
}

// again puts an entry that may be a duplicate.
func again(t *testing.T, q queue.Queue, e queue.Entry, duplicate bool) {
	t.Helper()
	time.Sleep(5 * time.Millisecond)
	taken, duplicates, err := q.Put(t.Context(), e)
	if err != nil || len(taken)+duplicates != 1 || (duplicates == 1) != duplicate {
		t.Errorf("%d taken, %d duplicates, %v", len(taken), duplicates, err)
	}
}

func waitingKey(t *testing.T, e Engine) {
	r := start(t, e.Prepare(t, usual))
	defer r.end()
	brief := entry("octo/catalog", "a")
	brief.Within = time.Millisecond
	put(t, r, brief)
	again(t, r, brief, true)
	r.done(r.next())
	again(t, r, brief, false)
}

func duplicatesAtOnce(t *testing.T, e Engine) {
	q := open(t, e.Prepare(t, usual))
	var wg sync.WaitGroup
	var mu sync.Mutex
	count := map[string]int{}
	for range 8 {
		wg.Go(func() {
			for i := range 20 {
				key := fmt.Sprint("k", i)
				taken, _, err := q.Put(t.Context(), entry("octo/catalog", key))
				for err != nil && !errors.Is(err, queue.ErrFull) { // like a registry, try again
					taken, _, err = q.Put(t.Context(), entry("octo/catalog", key))
				}
				mu.Lock()
				count[key] += len(taken)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for key, n := range count {
		if n != 1 {
			t.Errorf("%s was taken %d times", key, n)
		}
	}
	waits(t, q, 20)
	if err := q.Close(); err != nil {
		t.Error(err)
	}
}

func bounds(t *testing.T, e Engine) {
	small := usual
	small.MaxItems = 3
	r := start(t, e.Prepare(t, small))
	defer r.end()
	put(t, r, entry("octo/catalog", "a"), entry("octo/catalog", "b"), entry("octo/catalog", "c"))
	if _, _, err := r.Put(t.Context(), entry("octo/catalog", "d")); !errors.Is(err, queue.ErrFull) {
		t.Errorf("one too many: %v", err)
	}
	if s := r.State(t.Context()); s.Items != 3 || s.Refuses == "" {
		t.Errorf("it says %+v", s)
	}
	again(t, r, entry("octo/catalog", "a"), true)
	r.done(r.next())
	waits(t, r, 2)
	put(t, r, entry("octo/catalog", "d"))
	// A refused entry is not known.
	if _, _, err := r.Put(t.Context(), entry("octo/catalog", "e")); !errors.Is(err, queue.ErrFull) {
		t.Errorf("one too many: %v", err)
	}
	for _, want := range []string{"b", "c", "d"} {
		item := r.next()
		if item.Key != want {
			t.Fatalf("%s was handed out, want %s", item.Key, want)
		}
		r.done(item)
	}
	waits(t, r, 0)
	put(t, r, entry("octo/catalog", "e"))
}

func state(t *testing.T, e Engine) {
	r := start(t, e.Prepare(t, usual))
	defer r.end()
	if s := r.State(t.Context()); s != (queue.State{}) {
		t.Errorf("empty, it says %+v", s)
	}
	put(t, r, entry("octo/catalog", "a"), entry("octo/catalog", "b"))
	s := r.State(t.Context())
	if s.Items != 2 || s.Bytes < 2*int64(len(entry("octo/catalog", "a").Data)) || time.Since(s.Oldest).Abs() > time.Minute || s.Refuses != "" {
		t.Errorf("with two, it says %+v", s)
	}
	r.done(r.next())
	waits(t, r, 1)
	r.done(r.next())
	if s := waits(t, r, 0); !s.Oldest.IsZero() {
		t.Errorf("empty, it says %+v", s)
	}
}

func atOnce(t *testing.T, e Engine) {
	r := start(t, e.Prepare(t, usual))
	defer r.end()
	const writers, each = 8, 25
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				one := entry(fmt.Sprint("octo/c", w%3), fmt.Sprintf("w%d-%02d", w, i))
				one.From = fmt.Sprint("quay.io/octo/", w)
				if taken, _, err := r.Put(t.Context(), one); err != nil || len(taken) != 1 {
					t.Error(len(taken), err)
				}
			}
		})
	}
	last := map[string]string{}
	for range writers * each {
		item := r.next()
		writer := item.Key[:2]
		if item.Key <= last[writer] {
			t.Errorf("%s came after %s", item.Key, last[writer])
		}
		last[writer] = item.Key
		r.done(item)
	}
	wg.Wait()
	r.none()
}

func dead(t *testing.T, e Engine) {
	r := start(t, e.Prepare(t, usual))
	defer r.end()
	put(t, r, entry("octo/catalog", "a"), entry("octo/catalog", "b"))
	item := r.next()
	for range 2 {
		if err := r.Bury(t.Context(), item, json.RawMessage(`{"to": "octo/catalog"}`)); err != nil {
			t.Fatal(err)
		}
	}
	r.done(item)
	if item := r.next(); item.Key != "b" {
		t.Errorf("%s was handed out", item.Key)
	}
	waits(t, r, 1)
}

func closed(t *testing.T, e Engine) {
	o := e.Prepare(t, usual)
	r := start(t, o)
	r.end()
	if _, _, err := r.Put(t.Context(), entry("octo/catalog", "a")); !errors.Is(err, queue.ErrClosed) {
		t.Errorf("%v", err)
	}
	r = start(t, o)
	defer r.end()
	put(t, r, entry("octo/catalog", "a"))
}

func twice(t *testing.T, e Engine) {
	r := start(t, e.Prepare(t, usual))
	defer r.end()
	put(t, r, entry("octo/catalog", "a"), entry("octo/catalog", "b"))
	item := r.next()
	r.done(item)
	r.done(item)
	waits(t, r, 1)
	r.done(r.next())
}

// shared opens a queue twice. Items that one relay holds do not reach the other until the first has ended. Both
// together keep the order.
func shared(t *testing.T, e Engine) {
	if !e.Shared {
		return
	}
	o := e.Prepare(t, usual)
	relays := []*running{start(t, o), start(t, o)}
	for i := range 10 {
		put(t, relays[i%2], entry("octo/catalog", fmt.Sprint("k", i)))
	}
	for i := range 10 {
		item, holder := either(t, relays)
		if want := fmt.Sprint("k", i); item.Key != want {
			t.Fatalf("%s was handed out, want %s", item.Key, want)
		}
		if i == 5 {
			for _, r := range relays {
				r.none()
			}
			relays[holder].end()
			relays = slices.Delete(relays, holder, holder+1)
			if again := relays[0].next(); again.Seq != item.Seq || again.Handed == 0 {
				t.Fatalf("after %+v, %+v was handed out", item, again)
			}
			holder = 0
		}
		relays[holder].done(item)
	}
	relays[0].none()
	relays[0].end()
}

// either returns the next item that one of the relays gets, and the relay.
func either(t *testing.T, relays []*running) (queue.Item, int) {
	t.Helper()
	for begun := time.Now(); time.Since(begun) < patience; time.Sleep(time.Millisecond) {
		for i, r := range relays {
			select {
			case item := <-r.items:
				return item, i
			default:
			}
		}
	}
	t.Fatal("nothing is handed out")
	return queue.Item{}, 0
}
