package file

import (
	"encoding/json"
	"errors"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/testkit/child"
)

// limit sets the kernel's limit for the size of this process' files.
func limit(t *testing.T, bytes uint64) (lift func()) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	set := func(l syscall.Rlimit) {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &l); err != nil {
			t.Error(err)
		}
	}
	set(syscall.Rlimit{Cur: bytes, Max: before.Max})
	return func() { set(before) }
}

// A full disk accepts nothing. Once there is room, the queue continues.
func TestFullDisk(t *testing.T) {
	if !child.Is(t) {
		return
	}
	o, _ := start(t)
	q := open(t, o)
	items := put(t, q, "a")
	big := entry("b")
	big.Data = json.RawMessage(`"` + strings.Repeat("x", 200_000) + `"`)
	for _, bytes := range []uint64{0, 2 * pageSize, 40_000, 100_000} {
		lift := limit(t, bytes)
		_, _, err := q.Put(t.Context(), big)
		lift()
		if !failure.Is(err, failure.Usage) {
			t.Errorf("Put with room for %d bytes: %v", bytes, err)
		}
		if q.brokenBy() != nil || keys(q) != "a" {
			t.Fatalf("%q waits, and the fault is %v", keys(q), q.brokenBy())
		}
	}
	lift := limit(t, 0)
	err := q.Done(t.Context(), items[0])
	lift()
	if err != nil || q.refusedBy() == nil || keys(q) != "a" {
		t.Errorf("Done: %v, %q waits, %v", err, keys(q), q.refusedBy())
	}
	if items, _, err := q.Put(t.Context(), big); len(items) != 1 || err != nil || keys(q) != "b" || q.refusedBy() != nil {
		t.Errorf("after a refused Put: %v, %q waits, %v", err, keys(q), q.refusedBy())
	}
	shut(t, q)
	q = open(t, o)
	defer q.Close()
	if keys(q) != "b" {
		t.Errorf("%q waits", keys(q))
	}
}

// If the disk is full at the start, the waiting items can be read. Finished deliveries are recorded once there
// is room.
func TestStartsOnFullDisk(t *testing.T) {
	if !child.Is(t) {
		return
	}
	o, _ := start(t)
	lift := limit(t, 0)
	q := open(t, o)
	_, _, err := q.Put(t.Context(), entry("a"))
	q.probe()
	lift()
	if !failure.Is(err, failure.Usage) || q.refusedBy() == nil || keys(q) != "" {
		t.Errorf("without a file: %v, %v", err, q.refusedBy())
	}
	if q.probe(); q.refusedBy() != nil {
		t.Errorf("there is room: %v", q.refusedBy())
	}
	put(t, q, "a", "b")
	shut(t, q)

	lift = limit(t, 0)
	q = open(t, o)
	waiting := q.waiting()
	if keys(q) != "a b" || q.refusedBy() == nil {
		t.Fatalf("%q waits, %v", keys(q), q.refusedBy())
	}
	if err := q.Done(t.Context(), waiting[0]); err != nil {
		t.Error(err)
	}
	lift()
	if q.probe(); keys(q) != "b" || q.refusedBy() != nil {
		t.Errorf("%q waits, %v", keys(q), q.refusedBy())
	}
	shut(t, q)
	q = open(t, o)
	defer q.Close()
	if keys(q) != "b" {
		t.Errorf("%q waits", keys(q))
	}
}

// If the content of the disk is unknown, the queue accepts nothing more.
func TestBrokenDisk(t *testing.T) {
	o, _ := start(t)
	var disk *os.File
	o.OpenFile = func(name string, flag int, mode os.FileMode) (_ *os.File, err error) {
		disk, err = os.OpenFile(name, flag, mode)
		return disk, err
	}
	q := open(t, o)
	put(t, q, "a")
	_ = disk.Close()
	for range 2 {
		if _, _, err := q.Put(t.Context(), entry("b")); !failure.Is(err, failure.Usage) || !errors.Is(err, os.ErrClosed) {
			t.Errorf("%v", err)
		}
	}
	isBroken(t, q)
	_ = q.Close()
	o.OpenFile = nil
	q = open(t, o)
	defer q.Close()
	if keys(q) != "a" {
		t.Errorf("%q waits", keys(q))
	}
}

func isBroken(t *testing.T, q *Queue) {
	t.Helper()
	select {
	case <-q.broken:
	case <-time.After(10 * time.Second):
		t.Error("the fault is not reported")
	}
	if q.brokenBy() == nil {
		t.Error("the state does not have the fault")
	}
}

func TestUsage(t *testing.T) {
	o, c := start(t)
	o.MaxBytes = 3 * cost("a", []byte(`"a"`))
	q := open(t, o)
	defer q.Close()
	first := c.Now()
	items := put(t, q, "a")
	c.add(time.Minute)
	put(t, q, "b")
	if u := q.State(t.Context()); u.Items != 2 || known(q) != 2 || !u.Oldest.Equal(first) || u.Bytes != 2*cost("a", []byte(`"a"`)) || u.Refuses != "" {
		t.Errorf("%+v", u)
	}
	put(t, q, "c")
	if q.State(t.Context()).Refuses != "the queue is full" {
		t.Error("the queue is full and State does not report it")
	}
	finish(t, q, items)
	if u := q.State(t.Context()); u.Items != 2 || !u.Oldest.Equal(first.Add(time.Minute)) || u.Refuses != "" || strings.Contains(keys(q), "a") {
		t.Errorf("%+v", u)
	}
}
