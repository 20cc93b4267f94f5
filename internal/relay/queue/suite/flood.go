package suite

import (
	"fmt"
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
