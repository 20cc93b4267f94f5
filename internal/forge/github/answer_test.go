package github_test

import (
	"context"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/forge/github"
	"github.com/olmgraft/graft/internal/outbound"
	"github.com/olmgraft/graft/internal/testkit/fakegithub"
)

// A caller that retries by itself gets the status, and the time when the forge accepts the next request.
func TestAnswerOf(t *testing.T) {
	const route = "POST /repos/{owner}/{repo}/dispatches"
	for name, tt := range map[string]struct {
		fault  func(now time.Time) *fakegithub.Fault
		status int
		after  time.Duration // 0 means no time
	}{
		"secondary limit":     {func(time.Time) *fakegithub.Fault { return fakegithub.SecondaryLimit(429, 90*time.Second) }, 0, 90 * time.Second},
		"primary limit":       {func(now time.Time) *fakegithub.Fault { return fakegithub.PrimaryLimit(now.Add(time.Hour)) }, 0, time.Hour + time.Second},
		"limit of no length":  {func(time.Time) *fakegithub.Fault { return fakegithub.SecondaryLimit(403, 0) }, 0, time.Minute},
		"down until a time":   {func(time.Time) *fakegithub.Fault { return answer(503, "", "Retry-After", "600") }, 503, 10 * time.Minute},
		"down":                {func(time.Time) *fakegithub.Fault { return fakegithub.ServerError(502, false) }, 502, 0},
		"not found":           {func(time.Time) *fakegithub.Fault { return &fakegithub.Fault{Status: 404} }, 404, 0},
		"cut, without answer": {func(time.Time) *fakegithub.Fault { return &fakegithub.Fault{Cut: true} }, 0, 0},
	} {
		h := start(t, fakegithub.Repository{})
		now := h.Now()
		h.client = h.newClient(github.Options{Retry: outbound.Retry{Attempts: 1, LongestAsked: time.Nanosecond}})
		h.faults(route, tt.fault(now))
		err := h.client.Dispatch(context.Background(), catalog, "bundle", nil)
		got := github.AnswerOf(err, now)
		want := github.Answer{Status: tt.status}
		if tt.after > 0 {
			want.RetryAt = now.Add(tt.after)
		}
		if err == nil || got.Status != want.Status || !got.RetryAt.Equal(want.RetryAt) {
			t.Errorf("%s: %+v, want %+v (%v)", name, got, want, err)
		}
		if n := h.Count(route); n != 1 {
			t.Errorf("%s: %d requests", name, n)
		}
	}
}
