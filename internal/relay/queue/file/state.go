package file

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/olmgraft/graft/internal/relay/queue"
)

// All data is in one bucket. The first byte of a key gives the kind of its value:
//
//	i SEQ   the data of a waiting item
//	e SEQ   when the entry was put (milliseconds), and its key
//	k KEY   the number of the newest entry of the key
//	n       the number of the next entry, and how many items and bytes wait
//	x       the sum of all others, and the transaction that wrote it
var bucketName = []byte("queue")

const (
	itemOf  = 'i'
	entryOf = 'e'
	keyOf   = 'k'
)

var (
	countsKey = []byte("n")
	sumKey    = []byte("x")
)

// state is the bucket in a transaction.
type state struct {
	bucket  *bolt.Bucket
	now     time.Time
	counts  counts
	sum     uint64
	written uint64 // number of the transaction that wrote the sum
	changed bool
	err     error
}

type counts struct{ next, items, bytes uint64 }

func stateOf(tx *bolt.Tx) *state {
	s := &state{bucket: tx.Bucket(bucketName), counts: counts{next: 1}}
	if b := s.bucket.Get(countsKey); len(b) == 24 {
		s.counts = counts{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:]), binary.BigEndian.Uint64(b[16:])}
	}
	if b := s.bucket.Get(sumKey); len(b) == 16 {
		s.sum, s.written = binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])
	}
	return s
}

// number returns a key that ends with a number.
func number(kind byte, seq uint64) []byte { return binary.BigEndian.AppendUint64([]byte{kind}, seq) }

func seqOf(b []byte) uint64 { return binary.BigEndian.Uint64(b) }

// sumOf returns the part of the sum for a key and its value.
func sumOf(key, value []byte) uint64 {
	if value == nil {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(key)))) // a hash never fails
	_, _ = h.Write(key)
	_, _ = h.Write(value)
	return h.Sum64()
}

func (s *state) set(key, value []byte) {
	s.changed = true
	s.sum ^= sumOf(key, s.bucket.Get(key)) ^ sumOf(key, value)
	s.err = errors.Join(s.err, s.bucket.Put(key, value))
}

func (s *state) remove(key []byte) {
	s.changed = true
	s.sum ^= sumOf(key, s.bucket.Get(key))
	s.err = errors.Join(s.err, s.bucket.Delete(key))
}

// store writes the counts and the sum. Pages of earlier transactions stay in the file for a while and have
// valid sums too; the transaction number distinguishes them.
func (s *state) store() {
	b := binary.BigEndian.AppendUint64(nil, s.counts.next)
	b = binary.BigEndian.AppendUint64(b, s.counts.items)
	s.set(countsKey, binary.BigEndian.AppendUint64(b, s.counts.bytes))
	b = binary.BigEndian.AppendUint64(nil, s.sum)
	s.err = errors.Join(s.err, s.bucket.Put(sumKey, binary.BigEndian.AppendUint64(b, uint64(s.bucket.Tx().ID()))))
}

// each calls f with the numbers and values of a kind, in order, until f returns false.
func (s *state) each(kind byte, f func(seq uint64, value []byte) bool) {
	c := s.bucket.Cursor()
	for k, v := c.Seek([]byte{kind}); len(k) == 9 && k[0] == kind && f(seqOf(k[1:]), v); k, v = c.Next() {
	}
}

// readEntry returns when an entry was put, and its key.
func readEntry(value []byte) (at time.Time, key []byte) {
	return time.UnixMilli(int64(binary.BigEndian.Uint64(value))), value[8:]
}

func (s *state) waits(seq uint64) bool { return s.bucket.Get(number(itemOf, seq)) != nil }

func (s *state) waiting() (items []queue.Item) {
	s.each(itemOf, func(seq uint64, data []byte) bool {
		at, key := readEntry(s.bucket.Get(number(entryOf, seq)))
		items = append(items, queue.Item{Seq: seq, Key: string(key), At: at, Data: bytes.Clone(data)})
		return true
	})
	return items
}

func (s *state) usage() queue.State {
	u := queue.State{Items: int(s.counts.items), Bytes: int64(s.counts.bytes)}
	s.each(itemOf, func(seq uint64, _ []byte) bool {
		u.Oldest, _ = readEntry(s.bucket.Get(number(entryOf, seq)))
		return false
	})
	return u
}

// cost returns an item's share of the limit of bytes.
func cost(key string, data []byte) int64 { return int64(len(key) + len(data) + 64) }

func (s *state) put(entries []queue.Entry, o Options) (items []queue.Item, duplicates int, err error) {
	at, bytes := time.UnixMilli(s.now.UnixMilli()), int64(0)
	fresh := map[string]bool{}
	for _, e := range entries {
		if fresh[e.Key] || s.known(e) {
			duplicates++
			continue
		}
		fresh[e.Key] = true
		items = append(items, queue.Item{Seq: s.counts.next + uint64(len(items)), Key: e.Key, At: at, Data: e.Data})
		bytes += cost(e.Key, e.Data)
	}
	if s.counts.next+uint64(len(items)) < s.counts.next {
		return nil, 0, queue.ErrFull // numbers must follow the order of items
	}
	if len(items) > 0 && (int(s.counts.items)+len(items) > o.MaxItems || int64(s.counts.bytes)+bytes > o.MaxBytes) {
		return nil, 0, queue.ErrFull
	}
	for _, item := range items {
		s.set(number(itemOf, item.Seq), item.Data)
		s.set(number(entryOf, item.Seq), append(binary.BigEndian.AppendUint64(nil, uint64(at.UnixMilli())), item.Key...))
		s.set(append([]byte{keyOf}, item.Key...), binary.BigEndian.AppendUint64(nil, item.Seq))
	}
	s.counts.next += uint64(len(items))
	s.counts.items += uint64(len(items))
	s.counts.bytes += uint64(bytes)
	return items, duplicates, nil
}

// known reports whether an entry is a duplicate.
func (s *state) known(e queue.Entry) bool {
	newest := s.bucket.Get(append([]byte{keyOf}, e.Key...))
	if newest == nil {
		return false
	}
	seq := seqOf(newest)
	at, _ := readEntry(s.bucket.Get(number(entryOf, seq)))
	return s.waits(seq) || s.now.Sub(at) < e.Within
}

// clamp resets entry times in the future to now, so that entries written with a clock ahead of time age from
// now on.
func (s *state) clamp() {
	var ahead []uint64
	s.each(entryOf, func(seq uint64, value []byte) bool {
		if at, _ := readEntry(value); at.After(s.now) {
			ahead = append(ahead, seq)
		}
		return true
	})
	for _, seq := range ahead {
		_, key := readEntry(s.bucket.Get(number(entryOf, seq)))
		s.set(number(entryOf, seq), append(binary.BigEndian.AppendUint64(nil, uint64(s.now.UnixMilli())), key...))
	}
}

func (s *state) done(seq uint64) {
	data := s.bucket.Get(number(itemOf, seq))
	if data == nil {
		return
	}
	_, key := readEntry(s.bucket.Get(number(entryOf, seq)))
	s.counts.items--
	s.counts.bytes -= uint64(cost(string(key), data))
	s.remove(number(itemOf, seq))
}

// forget removes the keys from before a time and the oldest of too many, except those of waiting items.
func (s *state) forget(before time.Time, most int) {
	over := map[uint64]string{}
	s.each(entryOf, func(seq uint64, value []byte) bool {
		at, key := readEntry(value)
		if !at.Before(before) && s.counts.next-seq <= uint64(most) {
			return false
		}
		if !s.waits(seq) {
			over[seq] = string(key)
		}
		return true
	})
	for seq, key := range over {
		s.remove(number(entryOf, seq))
		newest := append([]byte{keyOf}, key...)
		if b := s.bucket.Get(newest); b != nil && seqOf(b) == seq {
			s.remove(newest)
		}
	}
}
