package oci

import (
	"context"
	"errors"
	"sync"
)

// flight lets the first of several concurrent callers with the same key do the
// work, and the others have its result. With keep, a success is had by all later
// callers too; a failure never is.
type flight[V any] struct {
	keep  bool
	mu    sync.Mutex
	calls map[string]*call[V]
}

type call[V any] struct {
	done      chan struct{}
	value     V
	err       error
	abandoned bool // the caller who did the work was cancelled or out of time
}

// do runs work unless another caller is at it. A caller who waited for one that
// was cancelled or ran out of time does the work itself, in its own time.
func (f *flight[V]) do(ctx context.Context, key string, work func() (V, error)) (V, error) {
	for {
		c, first := f.join(key)
		if first {
			f.run(ctx, c, key, work)
			return c.value, c.err
		}
		select {
		case <-c.done:
		case <-ctx.Done():
			var none V
			return none, ctx.Err()
		}
		if c.abandoned && ctx.Err() == nil {
			continue
		}
		return c.value, c.err
	}
}

func (f *flight[V]) join(key string) (c *call[V], first bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c, ok := f.calls[key]; ok {
		return c, false
	}
	if f.calls == nil {
		f.calls = map[string]*call[V]{}
	}
	c = &call[V]{done: make(chan struct{}), err: errors.New("the work was not finished")}
	f.calls[key] = c
	return c, true
}

func (f *flight[V]) run(ctx context.Context, c *call[V], key string, work func() (V, error)) {
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if c.err != nil || !f.keep {
			delete(f.calls, key)
		}
		close(c.done)
	}()
	c.value, c.err = work()
	c.abandoned = c.err != nil && ctx.Err() != nil
}
