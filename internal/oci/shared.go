package oci

import (
	"context"
	"sync"

	"golang.org/x/sync/singleflight"
)

// shared lets the first of several concurrent callers with the same key do the
// work, and the others have its result. With keep, a success is had by all later
// callers too; a failure never is.
type shared[V any] struct {
	keep  bool
	calls singleflight.Group
	kept  sync.Map
}

// do runs work unless another caller is at it. A caller who waited for one that
// was cancelled or ran out of time does the work itself, in its own time.
func (s *shared[V]) do(ctx context.Context, key string, work func() (V, error)) (V, error) {
	type result struct {
		value     V
		err       error
		abandoned bool // the caller who did the work was cancelled or out of time
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
