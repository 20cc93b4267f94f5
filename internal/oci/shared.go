package oci

import (
	"context"
	"sync"

	"golang.org/x/sync/singleflight"
)

// shared runs the work once for concurrent callers with the same key, and gives all of them the result. With
// keep, later callers get a success too; failures are never kept.
type shared[V any] struct {
	keep  bool
	calls singleflight.Group
	kept  sync.Map
}

// do runs work unless another caller is running it. A caller that waited for a cancelled or expired one runs
// the work itself, with its own deadline.
func (s *shared[V]) do(ctx context.Context, key string, work func() (V, error)) (V, error) {
	type result struct {
		value     V
		err       error
		abandoned bool // the caller that ran the work was cancelled or out of time
	}
	for {
		mine := false
		done := s.calls.DoChan(key, func() (any, error) {
			mine = true
			if kept, ok := s.kept.Load(key); ok {
				return result{value: kept.(V)}, nil
			}
			value, err := work()
			if err == nil && s.keep {
				s.kept.Store(key, value)
			}
			return result{value, err, err != nil && ctx.Err() != nil}, nil
		})
		select {
		case r := <-done:
			got := r.Val.(result)
			if got.abandoned && !mine && ctx.Err() == nil {
				continue
			}
			return got.value, got.err
		case <-ctx.Done():
			var none V
			return none, ctx.Err()
		}
	}
}
