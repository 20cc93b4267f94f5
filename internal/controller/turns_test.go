package controller

import (
	"fmt"
	"testing"
)

// A namespace with ten thousand CatalogSources delays one of another namespace by a single turn, however often
// its own are added again.
func TestTurnsGoRound(t *testing.T) {
	q := newTurns(4)
	for i := range 10_000 {
		q.Add(fmt.Sprintf("hostile/%d", i))
	}
	for i := range 3 {
		q.Add(fmt.Sprintf("quiet/%d", i))
	}
	var order []string
	for range 8 {
		key, _ := q.Get()
		order = append(order, key)
		q.Add("hostile/0") // again and again
		q.Done(key)
		q.Add(key)
	}
	seen := 0
	for i, key := range order {
		if namespaceOf(key) == "quiet" {
			seen++
		}
		if i%2 == 1 && seen != (i+1)/2 {
			t.Errorf("after %d turns %d were of the quiet namespace: %v", i+1, seen, order)
		}
	}
	if order[0] != "hostile/0" || order[2] != "hostile/1" {
		t.Errorf("within a namespace who waits longest is next: %v", order)
	}
}

// All work of one namespace may hang, and one worker stays for the others. Afterwards the waiting keys are
// handled, each once and one at a time.
func TestTurnsLeaveAWorker(t *testing.T) {
	q := newTurns(4)
	for i := range 100 {
		q.Add(fmt.Sprintf("hostile/%d", i))
	}
	var hanging []string
	for range 3 {
		key, _ := q.Get()
		hanging = append(hanging, key)
	}
	q.Add("quiet/one") // for the fourth worker: 97 of the other namespace are before it
	if key, _ := q.Get(); key != "quiet/one" {
		t.Fatalf("the fourth worker has %s", key)
	}
	q.Add(hanging[0]) // changed while in progress
	q.Done("quiet/one")
	for _, key := range hanging {
		q.Done(key)
	}
	done := map[string]int{}
	for range 98 {
		key, _ := q.Get()
		done[key]++
		q.Done(key)
	}
	for i := range 100 {
		key := fmt.Sprintf("hostile/%d", i)
		want := 1
		if i == 1 || i == 2 {
			want = 0
		}
		if done[key] != want {
			t.Errorf("%s was done %d times", key, done[key])
		}
	}
	if q.Len() != 0 {
		t.Errorf("%d are left", q.Len())
	}
	q.ShutDown()
	if _, shut := q.Get(); !shut {
		t.Error("Get returns a key after the queue was shut down")
	}
}

// A single worker serves all namespaces.
func TestTurnsOfOneWorker(t *testing.T) {
	q := newTurns(1)
	q.Add("a/1")
	q.Add("a/2")
	for _, want := range []string{"a/1", "a/2"} {
		key, _ := q.Get()
		if key != want {
			t.Errorf("%s, want %s", key, want)
		}
		q.Done(key)
	}
}
