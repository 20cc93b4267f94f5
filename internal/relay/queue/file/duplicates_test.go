package file

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/relay/queue"
)

// A key is accepted once: while its item waits, and until its window is over, across any number of restarts.
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
					taken, duplicates, err := q.Put(t.Context(), again)
					if err != nil || len(taken)+duplicates != 1 || (len(taken) == 1) != (done && over) {
						t.Errorf("%d taken, %d duplicates, %v", len(taken), duplicates, err)
					}
				})
			}
		}
	}
}

func finish(t *testing.T, q *Queue, items []queue.Item) {
	t.Helper()
	for _, item := range items {
		if err := q.Done(t.Context(), item); err != nil {
			t.Fatal(err)
		}
	}
}

// An entry that is put again after its window is known from then on.
func TestWindowBeginsAgain(t *testing.T) {
	t.Parallel()
	o, c := start(t)
	q := open(t, o)
	defer q.Close()
	e := entry("a")
	e.Within = 30 * time.Minute
	for range 2 {
		items, _, err := q.Put(t.Context(), e)
		if err != nil || len(items) != 1 {
			t.Fatalf("%d items, %v", len(items), err)
		}
		finish(t, q, items)
		c.add(40 * time.Minute)
	}
	// The first key is forgotten by now, and the second is not.
	if _, duplicates, err := q.Put(t.Context(), entry("a")); err != nil || duplicates != 1 {
		t.Errorf("%d duplicates, %v", duplicates, err)
	}
}

// The queue remembers the newest keys, ten times as many as items, however many pass through.
func TestKeysAreBounded(t *testing.T) {
	t.Parallel()
	o, _ := start(t)
	o.MaxItems = 1
	q := open(t, o)
	defer q.Close()
	for i := range 30 {
		finish(t, q, put(t, q, fmt.Sprint(i)))
	}
	if n := known(q); n < 10 || n > 11 {
		t.Errorf("%d keys are known", n)
	}
	if _, duplicates, _ := q.Put(t.Context(), entry("25")); duplicates != 1 {
		t.Error("a new key is forgotten")
	}
	finish(t, q, put(t, q, "2"))
}

// Concurrent calls share one transaction. The limits and the check for duplicates apply as if they came one by
// one.
func TestCallsOfOneTransaction(t *testing.T) {
	t.Parallel()
	o, _ := start(t)
	o.MaxItems = 3
	q := open(t, o)
	defer q.Close()
	type answer struct{ taken, duplicates int }
	var calls []*call
	got := make([]answer, 4)
	for i, keys := range [][]string{{"a", "b"}, {"a", "c"}, {"d"}, {"c", "b"}} {
		var entries []queue.Entry
		for _, key := range keys {
			entries = append(entries, entry(key))
		}
		calls = append(calls, &call{change: func(s *state) error {
			items, duplicates, err := s.put(entries, o)
			got[i] = answer{len(items), duplicates}
			return err
		}})
	}
	if err := q.commit(calls, nil); err != nil {
		t.Fatal(err)
	}
	for i, want := range []answer{{2, 0}, {1, 1}, {0, 0}, {0, 2}} {
		if got[i] != want || errors.Is(calls[i].err, queue.ErrFull) != (i == 2) {
			t.Errorf("call %d: %+v, %v", i, got[i], calls[i].err)
		}
	}
	if keys(q) != "a b c" {
		t.Errorf("%q waits", keys(q))
	}
	for range 2 {
		if err := q.Done(t.Context(), queue.Item{Seq: 1}); err != nil {
			t.Error(err)
		}
	}
	if u := q.State(t.Context()); u.Items != 2 || u.Bytes != 2*cost("a", []byte(`"a"`)) {
		t.Errorf("after it was done twice, %+v", u)
	}
}

// If a clock was ahead and is set back, no announcement is dropped: old entries age from then on.
func TestClockSetBack(t *testing.T) {
	o, c := start(t)
	q := open(t, o)
	c.add(24 * 365 * time.Hour)
	finish(t, q, put(t, q, "a"))
	c.add(-24 * 365 * time.Hour)
	if _, duplicates, err := q.Put(t.Context(), entry("a")); duplicates != 1 || err != nil {
		t.Errorf("within the hour: %d duplicates, %v", duplicates, err)
	}
	c.add(2 * time.Hour)
	finish(t, q, put(t, q, "a"))
	c.add(24 * 365 * time.Hour)
	finish(t, q, put(t, q, "b"))
	shut(t, q)

	c.add(-24 * 365 * time.Hour)
	q = open(t, o)
	defer q.Close()
	put(t, q, "c")
	c.add(2 * time.Hour)
	put(t, q, "b")
	if known(q) != 2 || keys(q) != "c b" {
		t.Errorf("%d are known, %q wait", known(q), keys(q))
	}
}
