package oci

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestSharedSharesWork(t *testing.T) {
	for _, keep := range []bool{false, true} {
		f := shared[int]{keep: keep}
		var runs atomic.Int32
		start := make(chan struct{})
		do := func(key string) {
			_, err := f.do(t.Context(), key, func() (int, error) {
				<-start
				return int(runs.Add(1)), nil
			})
			if err != nil {
				t.Error(err)
			}
		}
		var group sync.WaitGroup
		for range 10 {
			group.Go(func() { do("k") })
		}
		time.Sleep(20 * time.Millisecond)
		close(start)
		group.Wait()
		if keep && runs.Load() != 1 {
			t.Errorf("kept work was done %d times", runs.Load())
		}
		first := runs.Load()
		do("k")
		do("other")
		want := first + 2
		if keep {
			want = first + 1
		}
		if runs.Load() != want {
			t.Errorf("keep %v: %d runs, want %d", keep, runs.Load(), want)
		}
	}
}

func TestSharedForgetsFailures(t *testing.T) {
	f := shared[int]{keep: true}
	_, err := f.do(t.Context(), "k", func() (int, error) { return 0, errors.New("no") })
	if err == nil {
		t.Fatal("no error")
	}
	got, err := f.do(t.Context(), "k", func() (int, error) { return 7, nil })
	if got != 7 || err != nil {
		t.Errorf("got %d, %v", got, err)
	}
}

// The end of one caller does not end those that wait for it.
func TestSharedOutlivesItsFirstCaller(t *testing.T) {
	var f shared[int]
	ctx, cancel := context.WithCancel(t.Context())
	entered := make(chan struct{})
	go func() {
		_, _ = f.do(ctx, "k", func() (int, error) {
			close(entered)
			<-ctx.Done()
			return 0, ctx.Err()
		})
	}()
	<-entered
	done := make(chan int)
	go func() {
		got, err := f.do(t.Context(), "k", func() (int, error) { return 7, nil })
		if err != nil {
			t.Error(err)
		}
		done <- got
	}()
	time.Sleep(10 * time.Millisecond)
	cancel()
	if got := <-done; got != 7 {
		t.Errorf("got %d", got)
	}

	waiting, stop := context.WithCancel(t.Context())
	hold := make(chan struct{})
	entered = make(chan struct{})
	go func() {
		_, _ = f.do(t.Context(), "h", func() (int, error) { close(entered); <-hold; return 0, nil })
	}()
	<-entered
	stop()
	if _, err := f.do(waiting, "h", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	close(hold)
}
