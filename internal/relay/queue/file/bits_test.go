//go:build !race

// With the race detector, Go stops a program whose pointers leave an allocation, as bbolt's do on a damaged
// page. Without it, reading such a pointer causes a panic, which is caught.

package file

import (
	"bytes"
	"errors"
	"math"
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/olmgraft/graft/internal/relay/queue"
	"github.com/olmgraft/graft/internal/testkit/effort"
)

// Flipping any bit of a small queue's file is reported or loses nothing, including the bits of the last
// transaction.
func TestEveryBit(t *testing.T) {
	t.Parallel()
	o, _ := start(t)
	q := open(t, o)
	put(t, q, "a")
	finish(t, q, put(t, q, "b"))
	put(t, q, "c")
	want := contents(q)
	shut(t, q)
	whole := read(t, filepath.Join(o.Dir, fileName))
	const part = 32 // a part of zeros holds nothing
	var bits []int
	for at := 0; at < len(whole); at += part {
		if !bytes.Equal(whole[at:at+part], make([]byte, part)) {
			for bit := range part * 8 {
				bits = append(bits, at*8+bit)
			}
		}
	}
	tried, told := effort.Of(t, 100, 500, len(bits)), 0
	bit := 0
	defer func() {
		if t.Failed() {
			t.Logf("it was bit %d of byte %d", bit%8, bit/8)
		}
	}()
	for n := range tried {
		bit = bits[n*len(bits)/tried]
		bad := bytes.Clone(whole)
		bad[bit/8] ^= 1 << (bit % 8)
		told += damaged(t, o, bad, want)
	}
	t.Logf("%d bits were flipped: %d caused a report, the others lost nothing", tried, told)
	if told < tried/10 {
		t.Errorf("%d of %d flipped bits were reported", told, tried)
	}
}

// At the end of the numbers, the queue accepts no entry that would come before waiting ones.
func TestLastNumbers(t *testing.T) {
	t.Parallel()
	o, _ := start(t)
	q := open(t, o)
	err := q.db.Load().Update(func(tx *bolt.Tx) error {
		s := stateOf(tx)
		s.counts.next = math.MaxUint64 - 2
		s.store()
		return s.err
	})
	if err != nil {
		t.Fatal(err)
	}
	put(t, q, "a")
	if _, _, err := q.Put(t.Context(), entry("b"), entry("c"), entry("d")); !errors.Is(err, queue.ErrFull) {
		t.Errorf("numbers begin again: %v", err)
	}
	put(t, q, "b")
	for range 2 {
		if _, _, err := q.Put(t.Context(), entry("c")); !errors.Is(err, queue.ErrFull) {
			t.Errorf("numbers begin again: %v", err)
		}
		if _, duplicates, err := q.Put(t.Context(), entry("b")); err != nil || duplicates != 1 || keys(q) != "a b" {
			t.Errorf("%d duplicates, %v, %q waits", duplicates, err, keys(q))
		}
		shut(t, q)
		q = open(t, o)
	}
	finish(t, q, q.waiting())
	if _, duplicates, err := q.Put(t.Context(), entry("a"), entry("b")); err != nil || duplicates != 2 {
		t.Errorf("%d duplicates, %v", duplicates, err)
	}
	shut(t, q)
}
