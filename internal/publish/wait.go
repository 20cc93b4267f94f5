package publish

import (
	"context"
	"errors"
	"time"

	"github.com/olmgraft/graft/internal/failure"
)

// patiently retries a request for an image that does not exist yet, because some registries announce images
// before they serve them.
func (p *publisher) patiently(ctx context.Context, image string, patience time.Duration, ask func() error) error {
	waited := time.Duration(0)
	for wait := time.Second; ; wait *= 2 {
		err := ask()
		if err == nil || !failure.Is(err, failure.BundleNotFound) || waited >= patience {
			return err
		}
		p.Line("%s is not there yet, asking again in %v", image, wait)
		if slept := p.Sleep(ctx, wait); slept != nil {
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return err
			}
			return failure.New(failure.Interrupted, "waiting: %w", context.Cause(ctx))
		}
		waited += wait
	}
}
