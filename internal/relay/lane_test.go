package relay

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A lane keeps the order of one image repository even if its first delivery fails. Meanwhile other image
// repositories have their turn, however many deliveries of the first one wait.
func TestTurns(t *testing.T) {
	for name, tt := range map[string]struct {
		fails func(try) outcome
		want  string
	}{
		"all is taken": {
			func(try) outcome { return outcome{delivered: true} },
			"a noisy:1 at 0s, a quiet:1 at 1s, a noisy:2 at 2s, a quiet:2 at 3s, a noisy:3 at 4s, a noisy:4 at 5s, a noisy:5 at 6s",
		},
		"the first is refused twice": {
			func(one try) outcome {
				if one.name == "a noisy:1" && one.n < 3 {
					return outcome{err: errors.New("down"), again: time.Now().Add(20 * time.Second)}
				}
				return outcome{delivered: true}
			},
			"a noisy:1 at 0s, a quiet:1 at 21s, a noisy:1 at 22s, a quiet:2 at 43s, a noisy:1 at 44s, a noisy:2 at 45s, a noisy:3 at 46s, a noisy:4 at 47s, a noisy:5 at 48s",
		},
		"a limit": {
			func(one try) outcome {
				if one.name == "a quiet:1" && one.n == 1 {
					return outcome{limited: true, err: errors.New("limit"), again: time.Now().Add(20 * time.Second)}
				}
				return outcome{delivered: true}
			},
			"a noisy:1 at 0s, a quiet:1 at 1s, a quiet:1 at 22s, a noisy:2 at 23s, a quiet:2 at 24s, a noisy:3 at 25s, a noisy:4 at 26s, a noisy:5 at 27s",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := deliver(steady, func(_ context.Context, one try) outcome {
					time.Sleep(time.Second)
					return tt.fails(one)
				}, "a noisy:1", "a noisy:2", "a noisy:3", "a noisy:4", "a noisy:5", "a quiet:1", "a quiet:2")
				if all := r.after(10 * time.Minute); all != tt.want {
					t.Errorf("tried %s\nwant  %s", all, tt.want)
				}
			})
		})
	}
}
