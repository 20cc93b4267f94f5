package queue

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/failure"
)

// faulty is a disk that fails where it is told to, and counts what it was asked.
type faulty struct {
	Disk
	full   bool // half of what is written still has room
	sync   error
	synced int
}

func (f *faulty) WriteAt(b []byte, at int64) (int, error) {
	if !f.full {
		return f.Disk.WriteAt(b, at)
	}
	n, _ := f.Disk.WriteAt(b[:len(b)/2], at)
	return n, syscall.ENOSPC
}

func (f *faulty) Sync() error {
	f.synced++
	if f.sync != nil {
		return f.sync
	}
	return f.Disk.Sync()
}

func withFaults(t *testing.T) (Options, *Queue, *faulty) {
	o, _ := start(t)
	f, faults := &faulty{}, o
	faults.Disk = func(file *os.File) Disk {
		f.Disk = file
		return f
	}
	return o, open(t, faults), f
}

// What Put and Done have returned was synced.
func TestSynced(t *testing.T) {
	_, q, f := withFaults(t)
	defer q.Close()
	items := put(t, q, "a")
	if f.synced != 1 {
		t.Errorf("after Put it was synced %d times", f.synced)
	}
	finish(t, q, items)
	if f.synced != 2 {
		t.Errorf("after Done it was synced %d times", f.synced)
	}
}

// A disk that is full takes nothing, and what it took half is taken back. When there is room
// again, the queue goes on.
func TestFullDisk(t *testing.T) {
	o, q, f := withFaults(t)
	items := put(t, q, "a")
	f.full = true
	if _, _, err := q.Put(entry("b")); !failure.Is(err, failure.Usage) || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Put: %v", err)
	}
	if err := q.Done(items[0].Seq); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Done: %v", err)
	}
	if q.Fault() != nil || keys(q) != "a" {
		t.Errorf("%q waits, and the fault is %v", keys(q), q.Fault())
	}
	if size := len(file(t, o.Dir+"/"+fileName)); int64(size) != q.size {
		t.Errorf("the file has %d bytes, %d of them whole", size, q.size)
	}
	f.full = false
	if items := put(t, q, "b"); len(items) != 1 {
		t.Error("what was refused is a duplicate")
	}
	shut(t, q)
	q = open(t, o)
	defer q.Close()
	if keys(q) != "a b" || q.Dropped() != 0 {
		t.Errorf("%q waits, %d bytes were dropped", keys(q), q.Dropped())
	}
}

// Where nobody knows what the disk holds, nothing is promised any more.
func TestSyncFails(t *testing.T) {
	_, q, f := withFaults(t)
	defer q.Close()
	f.sync = syscall.EIO
	if _, _, err := q.Put(entry("a")); !errors.Is(err, syscall.EIO) {
		t.Errorf("%v", err)
	}
	f.sync = nil
	if _, _, err := q.Put(entry("b")); !errors.Is(err, syscall.EIO) {
		t.Errorf("it goes on: %v", err)
	}
	isBroken(t, q)
}

func isBroken(t *testing.T, q *Queue) {
	t.Helper()
	select {
	case <-q.Broken():
	case <-time.After(10 * time.Second):
		t.Error("nobody is told")
	}
	if q.Fault() == nil {
		t.Error("it does not say what has broken it")
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
	if u := q.Usage(); u.Items != 2 || u.Keys != 2 || !u.Oldest.Equal(first) || u.Bytes != 2*cost("a", []byte(`"a"`)) || q.Full() {
		t.Errorf("%+v, full: %v", u, q.Full())
	}
	put(t, q, "c")
	if !q.Full() {
		t.Error("no byte is free, and it does not say that it is full")
	}
	finish(t, q, items)
	if u := q.Usage(); u.Items != 2 || !u.Oldest.Equal(first.Add(time.Minute)) || q.Full() || strings.Contains(keys(q), "a") {
		t.Errorf("%+v, full: %v", u, q.Full())
	}
}
