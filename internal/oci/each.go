package oci

import (
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/olmgraft/graft/internal/failure"
)

// ForEach calls do for each image, with at most jobs at a time. A failure does not stop the others.
func ForEach[T any](jobs int, images []string, do func(image string) (T, error)) (map[string]T, error) {
	var mu sync.Mutex
	var errs []error
	out := map[string]T{}
	var group errgroup.Group
	group.SetLimit(max(jobs, 1))
	for _, image := range images {
		group.Go(func() error {
			got, err := do(image)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				errs = append(errs, err)
			} else {
				out[image] = got
			}
			return nil
		})
	}
	_ = group.Wait() // errs has the failures
	return out, failure.InOrder(errs)
}
