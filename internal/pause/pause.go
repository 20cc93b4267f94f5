// Package pause provides a wait that a context can interrupt.
package pause

import (
	"context"
	"time"
)

// For waits for d. If the context ends earlier, it returns the context's error.
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
