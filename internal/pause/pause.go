// Package pause waits.
package pause

import (
	"context"
	"time"
)

// For waits that long, or until the context ends: then its error is returned.
func For(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
