package suite

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/relay/queue"
)

// flood puts hundreds of items from one source before one from each of others, and finishes none of the many.
// Items to another receiver are still handed out, and so are those of other sources to the same receiver,
// unless they share a partition with the many.
func flood(t *testing.T, e Engine) {
	r := start(t, e.Prepare(t, usual))
	defer r.end()
	var many []queue.Entry
	for n := range 300 {
		many = append(many, entry("octo/a", fmt.Sprint("many", n)))
	}
	if taken, _, err := r.Put(t.Context(), many...); err != nil || len(taken) != len(many) {
		t.Fatalf("%d taken, %v", len(taken), err)
	}
	const others = 16
	for n := range others {
		for _, to := range []string{"a", "b"} {
			one := entry("octo/"+to, fmt.Sprint(to, n))
			one.From = fmt.Sprint("quay.io/other/", n)
			put(t, r, one)
		}
	}
	came := map[byte]int{}
	late := time.After(patience)
	for came['b'] < others || came['a'] < others/2 {
		select {
		case item := <-r.items:
			if item.Key[0] != 'm' {
				came[item.Key[0]]++
				r.done(item)
			}
		case <-late:
			t.Fatalf("while nothing of the many is over, %d of %d came to their receiver and %d to another", came['a'], others, came['b'])
		}
	}
}

// turns puts many items of one source and then, while the first of them is handed out, one item of each of 100 other
// sources, all in the same partition. The items of the others come before the third next item of the first source is over.
func turns(t *testing.T, e Engine) {
	const others = 100
	o := Options{MaxItems: e.Many + others, MaxBytes: 1 << 26, Remember: time.Hour, Partitions: 1}
	r := start(t, e.Prepare(t, o))
	defer r.end()
	var many []queue.Entry
	for n := range e.Many {
		many = append(many, entry("octo/a", fmt.Sprint("many", n)))
	}
	var putting sync.WaitGroup
	for part := range slices.Chunk(many, max(e.Many/16, 1)) {
		putting.Go(func() {
			for some := range slices.Chunk(part, 50) {
				if _, _, err := r.Put(t.Context(), some...); err != nil {
					t.Error(err)
				}
			}
		})
	}
	putting.Wait()
	first := r.next()
	for n := range others {
		one := entry("octo/a", fmt.Sprint("other", n))
		one.From = fmt.Sprint("quay.io/other/", n)
		put(t, r, one)
	}
	r.done(first)
	var held []queue.Item
	over := 0
	for came, begun := 0, time.Now(); came < others; {
		select {
		case item := <-r.items:
			if item.Key[0] == 'm' {
				held = append(held, item)
				continue
			}
			came++
			r.done(item)
		case <-time.After(300 * time.Millisecond): // no item of the others is left
			if time.Since(begun) > patience {
				t.Fatalf("%d of %d came", came, others)
			}
			if len(held) == 0 {
				continue
			}
			if over++; over > 2 {
				t.Fatalf("%d of the many are over, and %d of %d others came", over, came, others)
			}
			r.done(held[0])
			held = held[1:]
		}
	}
}
