package queue

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

// A key is taken once: while its item waits, and then until its window is over, across any
// number of restarts.
func TestTakenOnce(t *testing.T) {
	t.Parallel()
	const window = 30 * time.Minute
	for _, done := range []bool{false, true} {
		for restarts := range 3 {
			for age, over := range map[time.Duration]bool{0: false, window - time.Millisecond: false, window: true} {
				t.Run(fmt.Sprintf("done %v, %d restarts, %v old", done, restarts, age), func(t *testing.T) {
					o, c := start(t)
					q := open(t, o)
					finish(t, q, put(t, q, "older"))
					c.add(20 * time.Minute)
					items := put(t, q, "a")
					if done {
						finish(t, q, items)
					}
					for range restarts {
						shut(t, q)
						q = open(t, o)
					}
					defer q.Close()
					c.add(age)
					again := entry("a")
					again.Within = window
					taken, duplicates, err := q.Put(again)
					if err != nil || len(taken)+duplicates != 1 || (len(taken) == 1) != (done && over) {
						t.Errorf("%d taken, %d duplicates, %v", len(taken), duplicates, err)
					}
				})
			}
		}
	}
}

func finish(t *testing.T, q *Queue, items []Item) {
	t.Helper()
	for _, item := range items {
		if err := q.Done(item.Seq); err != nil {
			t.Fatal(err)
		}
	}
}

// One that was put again after its window is known from then on.
func TestWindowBeginsAgain(t *testing.T) {
	t.Parallel()
	o, c := start(t)
	q := open(t, o)
	defer q.Close()
	e := entry("a")
	e.Within = 30 * time.Minute
	for range 2 {
		items, _, err := q.Put(e)
		if err != nil || len(items) != 1 {
			t.Fatalf("%d items, %v", len(items), err)
		}
		finish(t, q, items)
		c.add(40 * time.Minute)
	}
	// The first is forgotten by now, and the second is not.
	if _, duplicates, err := q.Put(entry("a")); err != nil || duplicates != 1 {
		t.Errorf("%d duplicates, %v", duplicates, err)
	}
}

// However many pass through, ten times as many keys as items are known: the newest.
func TestKeysAreBounded(t *testing.T) {
	t.Parallel()
	o, _ := start(t)
	o.MaxItems = 1
	q := open(t, o)
	defer q.Close()
	for i := range 30 {
		finish(t, q, put(t, q, fmt.Sprint(i)))
	}
	if n := q.Usage().Keys; n < 10 || n > 11 {
		t.Errorf("%d keys are known", n)
	}
	if _, duplicates, _ := q.Put(entry("25")); duplicates != 1 {
		t.Error("a new one is forgotten")
	}
	finish(t, q, put(t, q, "2"))
}

// What comes meanwhile goes into one frame, and is held against the bounds and to each other
// as if it had come one by one.
func TestRequestsOfOneFrame(t *testing.T) {
	o, c := start(t)
	of := func(keys ...string) (r request) {
		for _, key := range keys {
			r.entries = append(r.entries, entry(key))
		}
		return r
	}
	o.MaxItems = 3
	s := newState()
	next := s.changes()
	for i, step := range []struct {
		request           request
		taken, duplicates int
		err               error
	}{
		{of("a", "b"), 2, 0, nil},
		{of("a", "c"), 1, 1, nil},
		{of("d"), 0, 0, ErrFull},
		{of("c", "b"), 0, 2, nil},
	} {
		if got := next.decide(step.request, c.Now(), o); len(got.items) != step.taken || got.duplicates != step.duplicates || !errors.Is(got.err, step.err) {
			t.Errorf("step %d: %+v", i, got)
		}
	}
	for i, r := range next.records {
		if err := s.apply(r); err != nil || r.Seq != uint64(i+1) {
			t.Errorf("%+v: %v", r, err)
		}
	}
	done := s.changes()
	for range 2 {
		done.decide(request{done: 1}, c.Now(), o)
	}
	if len(done.records) != 1 {
		t.Errorf("done twice is written %d times", len(done.records))
	}
	o.MaxItems, o.MaxBytes = 100, cost("a", []byte(`"a"`))+1
	empty := newState()
	bytes := empty.changes()
	if got := bytes.decide(of("a"), c.Now(), o); got.err != nil {
		t.Error(got.err)
	}
	if got := bytes.decide(of("b"), c.Now(), o); !errors.Is(got.err, ErrFull) {
		t.Errorf("%+v, though there is no room", got)
	}
}
