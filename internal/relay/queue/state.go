package queue

import (
	"fmt"
	"time"
)

// state is what the file says: all that is known comes from records, in their order.
type state struct {
	items map[uint64]Item
	bytes int64
	next  uint64
	seen  map[string]time.Time
	// order are the keys as they were put, so that the oldest are forgotten first. One that
	// was put again stands there again.
	order []sight
	// keys of items that wait, and how often.
	keys map[string]int
}

type sight struct {
	key string
	at  time.Time
}

func newState() state {
	return state{items: map[uint64]Item{}, next: 1, seen: map[string]time.Time{}, keys: map[string]int{}}
}

// apply takes a record in. Its error says that the records contradict each other.
func (s *state) apply(r record) error {
	switch r.Op {
	case opPut:
		if r.Seq < s.next || r.Key == "" || len(r.Data) == 0 {
			return fmt.Errorf("the item %d does not follow upon the item %d", r.Seq, s.next-1)
		}
		item := Item{Seq: r.Seq, Key: r.Key, At: time.UnixMilli(r.At), Data: r.Data}
		s.items[r.Seq] = item
		s.bytes += cost(r.Key, r.Data)
		s.keys[r.Key]++
		s.next = r.Seq + 1
		s.see(r.Key, item.At)
	case opDone:
		item, ok := s.items[r.Seq]
		if !ok {
			return fmt.Errorf("the item %d is done and was never put", r.Seq)
		}
		delete(s.items, r.Seq)
		s.bytes -= cost(item.Key, item.Data)
		if s.keys[item.Key]--; s.keys[item.Key] == 0 {
			delete(s.keys, item.Key)
		}
	case opSeen:
		if r.Key == "" {
			return fmt.Errorf("a key is empty")
		}
		s.see(r.Key, time.UnixMilli(r.At))
	case opNext:
		if r.Seq < s.next {
			return fmt.Errorf("the next item is %d, and there is an item %d", r.Seq, s.next-1)
		}
		s.next = r.Seq
	default:
		return fmt.Errorf("there is a record %q, perhaps of a newer Graft", r.Op)
	}
	return nil
}

func (s *state) see(key string, at time.Time) {
	s.seen[key] = at
	s.order = append(s.order, sight{key, at})
}

// forget drops the keys of before a time, and the oldest of too many.
func (s *state) forget(before time.Time, most int) {
	n := 0
	for n < len(s.order) && (s.order[n].at.Before(before) || len(s.order)-n > most) {
		if old := s.order[n]; s.seen[old.key].Equal(old.at) {
			delete(s.seen, old.key)
		}
		n++
	}
	if s.order = s.order[n:]; n > 0 && cap(s.order) > 4*len(s.order)+64 {
		s.order = append([]sight(nil), s.order...)
	}
}

// cost is what an item counts for in the bound of bytes.
func cost(key string, data []byte) int64 { return int64(len(key) + len(data) + 64) }

// changes are records that are being decided upon, and what they will do to the state.
type changes struct {
	of      *state
	records []record
	next    uint64
	items   int
	bytes   int64
	put     map[string]bool
	done    map[uint64]bool
}

func (s *state) changes() *changes {
	return &changes{of: s, next: s.next, items: len(s.items), bytes: s.bytes, put: map[string]bool{}, done: map[uint64]bool{}}
}

func (c *changes) decide(r request, now time.Time, o Options) answer {
	if r.done != 0 {
		if _, ok := c.of.items[r.done]; ok && !c.done[r.done] {
			c.done[r.done] = true
			c.records = append(c.records, record{Op: opDone, Seq: r.done})
		}
		return answer{}
	}
	var a answer
	var records []record
	var bytes int64
	fresh := map[string]bool{}
	for _, e := range r.entries {
		if c.put[e.Key] || fresh[e.Key] || c.of.keys[e.Key] > 0 || within(c.of.seen[e.Key], now, e.Within) {
			a.duplicates++
			continue
		}
		fresh[e.Key] = true
		seq := c.next + uint64(len(records))
		records = append(records, record{Op: opPut, Seq: seq, At: now.UnixMilli(), Key: e.Key, Data: e.Data})
		a.items = append(a.items, Item{Seq: seq, Key: e.Key, At: time.UnixMilli(now.UnixMilli()), Data: e.Data})
		bytes += cost(e.Key, e.Data)
	}
	if len(records) > 0 && (c.items+len(records) > o.MaxItems || c.bytes+bytes > o.MaxBytes) {
		return answer{err: ErrFull}
	}
	c.records = append(c.records, records...)
	c.next += uint64(len(records))
	c.items += len(records)
	c.bytes += bytes
	for key := range fresh {
		c.put[key] = true
	}
	return a
}

func within(at, now time.Time, window time.Duration) bool {
	return !at.IsZero() && now.Sub(at) < window
}
