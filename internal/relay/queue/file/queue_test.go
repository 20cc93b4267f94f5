package file

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/relay/queue"
	"github.com/olmgraft/graft/internal/testkit/effort"
)

type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func start(t *testing.T) (Options, *clock) {
	c := &clock{now: time.UnixMilli(1_763_650_000_000)}
	return Options{Dir: t.TempDir(), MaxItems: 1000, MaxBytes: 1 << 20, Remember: time.Hour, Now: c.Now}, c
}

func open(t *testing.T, o Options) *Queue {
	t.Helper()
	q, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func shut(t *testing.T, q *Queue) {
	t.Helper()
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
}

func entry(key string) queue.Entry {
	return queue.Entry{Key: key, Within: time.Hour, Data: json.RawMessage(fmt.Sprintf("%q", key))}
}

func keys(q *Queue) string {
	var all []string
	for _, item := range q.waiting() {
		all = append(all, item.Key)
	}
	return strings.Join(all, " ")
}

func put(t *testing.T, q *Queue, all ...string) []queue.Item {
	t.Helper()
	var entries []queue.Entry
	for _, key := range all {
		entries = append(entries, entry(key))
	}
	items, _, err := q.Put(t.Context(), entries...)
	if err != nil {
		t.Fatal(err)
	}
	return items
}

func TestWhatWaitsIsThereAfterARestart(t *testing.T) {
	t.Parallel()
	o, _ := start(t)
	q := open(t, o)
	items := put(t, q, "a", "b", "c")
	if err := q.Done(t.Context(), items[1]); err != nil {
		t.Fatal(err)
	}
	// Nothing is closed in order. Only the file matters.
	killed := o
	killed.Dir = t.TempDir()
	replaceFile(t, filepath.Join(killed.Dir, fileName), read(t, filepath.Join(o.Dir, fileName)))
	defer q.Close()
	again := open(t, killed)
	defer again.Close()
	if got := keys(again); got != "a c" {
		t.Errorf("%q waits, want a c", got)
	}
	if got := again.waiting()[1]; string(got.Data) != `"c"` || !got.At.Equal(o.Now()) {
		t.Errorf("it came back as %+v", got)
	}
	if _, duplicates, _ := again.Put(t.Context(), entry("b")); duplicates != 1 {
		t.Error("the key of a finished item is not remembered")
	}
}

func TestDuplicates(t *testing.T) {
	t.Parallel()
	o, c := start(t)
	q := open(t, o)
	defer q.Close()
	items, duplicates, err := q.Put(t.Context(), entry("a"), entry("a"))
	if err != nil || len(items) != 1 || duplicates != 1 {
		t.Fatalf("%d items, %d duplicates, %v", len(items), duplicates, err)
	}
	c.add(2 * time.Hour)
	if _, duplicates, _ = q.Put(t.Context(), entry("a")); duplicates != 1 {
		t.Error("the key of a waiting item was accepted again")
	}
	if err := q.Done(t.Context(), items[0]); err != nil {
		t.Fatal(err)
	}
	if items = put(t, q, "a"); len(items) != 1 {
		t.Error("the key is a duplicate after its window")
	}
	if err := q.Done(t.Context(), items[0]); err != nil {
		t.Fatal(err)
	}
	c.add(2 * time.Minute)
	brief := entry("a")
	brief.Within = time.Minute
	if _, duplicates, _ = q.Put(t.Context(), brief); duplicates != 0 {
		t.Error("the key is a duplicate after its own window")
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	o, _ := start(t)
	o.MaxItems = 2
	q := open(t, o)
	defer q.Close()
	if _, _, err := q.Put(t.Context(), entry("a"), entry("b"), entry("c")); !errors.Is(err, queue.ErrFull) || q.State(t.Context()).Items != 0 {
		t.Fatalf("%v, and %d items: Put must be all or nothing", err, q.State(t.Context()).Items)
	}
	put(t, q, "a", "b")
	if q.State(t.Context()).Refuses != "the queue is full" {
		t.Error("the queue is full and does not report it")
	}
	if _, duplicates, err := q.Put(t.Context(), entry("a")); err != nil || duplicates != 1 {
		t.Errorf("a duplicate needs no room: %v", err)
	}
	if _, _, err := q.Put(t.Context(), entry("c")); !errors.Is(err, queue.ErrFull) {
		t.Errorf("%v", err)
	}
	o.MaxBytes, o.MaxItems, o.Dir = 200, 100, t.TempDir()
	small := open(t, o)
	defer small.Close()
	put(t, small, "a", "b")
	if _, _, err := small.Put(t.Context(), entry("c")); !errors.Is(err, queue.ErrFull) {
		t.Errorf("%v after %d bytes", err, small.State(t.Context()).Bytes)
	}
}

func TestOneRelayForAFolder(t *testing.T) {
	o, _ := start(t)
	q := open(t, o)
	if _, err := Open(o); !failure.Is(err, failure.Usage) || !strings.Contains(err.Error(), "another relay") {
		t.Errorf("%v", err)
	}
	shut(t, q)
	shut(t, open(t, o))
	if _, _, err := q.Put(t.Context(), entry("a")); !errors.Is(err, queue.ErrClosed) {
		t.Errorf("%v", err)
	}
}

// Damage of any byte, and truncation, is reported, unless the byte holds no data.
func TestDamage(t *testing.T) {
	t.Parallel()
	o, _ := start(t)
	q := open(t, o)
	for i := range 300 { // enough for pages with pages below
		finish(t, q, put(t, q, fmt.Sprint("done", i)))
	}
	put(t, q, "a", "b")
	want := contents(q)
	shut(t, q)
	whole := read(t, filepath.Join(o.Dir, fileName))
	told, most := 0, effort.Of(t, 100, 200, 2000)
	for n := range most {
		bad := append([]byte(nil), whole...)
		switch n % 10 {
		case 0:
			bad = bad[:rand.IntN(len(bad))]
		case 1: // everything depends on this byte
			bad[n/10%2*pageSize+rand.IntN(80)] ^= 1 << rand.IntN(8)
		default:
			bad[rand.IntN(len(bad))] ^= byte(1 + rand.IntN(255))
		}
		told += damaged(t, o, bad, want)
	}
	for _, at := range []int{1, pageSize, 2 * pageSize, 3 * pageSize, len(whole) / 2} {
		told += damaged(t, o, whole[:at], want)
	}
	if told < most/20 {
		t.Errorf("%d of %d damages were reported", told, most)
	}
}

// damaged opens a damaged file. It returns 1 if the damage is reported, and 0 if nothing is lost.
func damaged(t *testing.T, o Options, bad []byte, want string) int {
	t.Helper()
	o.Dir = t.TempDir()
	path := filepath.Join(o.Dir, fileName)
	replaceFile(t, path, bad)
	q, err := Open(o)
	if err == nil {
		defer q.Close()
		if got := contents(q); got != want {
			t.Fatalf("it holds %d bytes, and held %d", len(got), len(want))
		}
		return 0
	}
	if !failure.Is(err, failure.Usage) || failure.Of(err).Remedy == "" {
		t.Fatalf("%v", err)
	}
	if string(read(t, path)) != string(bad) {
		t.Fatalf("the file was changed, though there is %v", err)
	}
	return 1
}

// contents returns all of a queue's data except the sum, which each start writes again.
func contents(q *Queue) string {
	var b strings.Builder
	_ = q.view(func(s *state) {
		_ = s.bucket.ForEach(func(k, v []byte) error {
			if string(k) != string(sumKey) {
				fmt.Fprintf(&b, "%q %q\n", k, v)
			}
			return nil
		})
	})
	return b.String()
}

// A file that is not a queue, such as that of an older relay, stays unchanged.
func TestNoQueue(t *testing.T) {
	o, _ := start(t)
	for _, other := range []string{"Not a queue.\n", strings.Repeat("\xf7GQ\xf8", 5000)} {
		if damaged(t, o, []byte(other), "") != 1 {
			t.Errorf("%.10q was read as a queue", other)
		}
	}
	db, err := bolt.Open(filepath.Join(o.Dir, fileName), 0o600, nil)
	if err == nil {
		err = errors.Join(db.Update(func(tx *bolt.Tx) error {
			_, err := tx.CreateBucket([]byte("others"))
			return err
		}), db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(o); !failure.Is(err, failure.Usage) {
		t.Errorf("another program's file: %v", err)
	}
}

// The file stays within a limit however many items pass through, and keeps all waiting ones.
func TestFileIsBounded(t *testing.T) {
	t.Parallel()
	o, c := start(t)
	q := open(t, o)
	kept := put(t, q, "kept")[0]
	path := filepath.Join(o.Dir, fileName)
	most := 0
	for i := range 250 {
		e := entry(fmt.Sprint("k", i))
		e.Data = json.RawMessage(`"` + strings.Repeat("x", 25_000) + `"`)
		items, _, err := q.Put(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		if err := q.Done(t.Context(), items[0]); err != nil {
			t.Fatal(err)
		}
		most = max(most, len(read(t, path)))
		c.add(time.Second)
	}
	if most > 2<<20 {
		t.Errorf("the file grew to %d bytes", most)
	}
	shut(t, q)
	q = open(t, o)
	defer q.Close()
	if got := q.waiting(); len(got) != 1 || got[0].Seq != kept.Seq {
		t.Errorf("%+v waits", got)
	}
	if items, duplicates, _ := q.Put(t.Context(), entry("k249"), entry("new")); duplicates != 1 || items[0].Seq != 252 {
		t.Errorf("%d duplicates, the next item is %d", duplicates, items[0].Seq)
	}
	c.add(2 * time.Hour)
	put(t, q, "later")
	if n := known(q); n != 3 { // two wait
		t.Errorf("%d keys are remembered", n)
	}
}

func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	o, _ := start(t)
	o.MaxItems = 10_000
	q := open(t, o)
	var wg sync.WaitGroup
	for w := range 16 {
		wg.Go(func() {
			for i := range 50 {
				items, _, err := q.Put(t.Context(), entry(fmt.Sprintf("%d-%d", w, i)), entry(fmt.Sprint("shared", i)))
				if err != nil {
					t.Error(err)
					return
				}
				if i%2 == 0 {
					if err := q.Done(t.Context(), items[0]); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	want := keys(q)
	shut(t, q)
	q = open(t, o)
	defer q.Close()
	if keys(q) != want || q.State(t.Context()).Items != len(strings.Fields(want)) {
		t.Error("another queue came back")
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func replaceFile(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// known returns the number of remembered keys.
func known(q *Queue) (n int) {
	_ = q.view(func(s *state) {
		_ = s.bucket.ForEach(func(k, _ []byte) error {
			if k[0] == keyOf {
				n++
			}
			return nil
		})
	})
	return n
}
