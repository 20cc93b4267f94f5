package outbound

import (
	"context"
	"net/http"
	"testing"
	"time"
)

func TestWaits(t *testing.T) {
	r := Retry{First: 100 * time.Millisecond, Longest: time.Second}.WithDefaults()
	for failed, want := range map[int]time.Duration{1: 100 * time.Millisecond, 2: 200 * time.Millisecond, 3: 400 * time.Millisecond, 8: time.Second, 90: time.Second} {
		for range 50 {
			got, ok := r.Wait(context.Background(), failed, nil)
			if !ok || got < want/2 || got > want {
				t.Fatalf("after %d failures: %v, want %v to %v", failed, got, want/2, want)
			}
		}
	}
}

func TestWaitsThatAreAsked(t *testing.T) {
	cases := []struct {
		asked    string
		deadline time.Duration
		ok       bool
	}{
		{"90", 0, true}, {"121", 0, false}, {"90", 80 * time.Second, false}, {"90", 100 * time.Second, true},
	}
	for _, tc := range cases {
		ctx := context.Background()
		if tc.deadline > 0 {
			short, cancel := context.WithTimeout(ctx, tc.deadline)
			defer cancel()
			ctx = short
		}
		got, ok := Retry{}.WithDefaults().Wait(ctx, 1, http.Header{"Retry-After": {tc.asked}})
		if ok != tc.ok || ok && got < 90*time.Second {
			t.Errorf("asked for %s s with a deadline of %v: %v, %v", tc.asked, tc.deadline, got, ok)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	cases := []struct {
		header string
		want   time.Duration
		ok     bool
	}{
		{"30", 30 * time.Second, true},
		{" 0 ", 0, true},
		{"Fri, 01 May 2026 12:01:30 GMT", 90 * time.Second, true},
		{"Fri, 01 May 2026 11:00:00 GMT", 0, true},
		{"", 0, false}, {"-1", 0, false}, {"soon", 0, false}, {"99999999999999999999", 0, false},
	}
	for _, tc := range cases {
		got, ok := RetryAfter(http.Header{"Retry-After": {tc.header}}, now)
		if got != tc.want || ok != tc.ok {
			t.Errorf("%q: got %v %v, want %v %v", tc.header, got, ok, tc.want, tc.ok)
		}
	}
}

// A date refers to the sender's clock, whose time is in the same answer.
func TestRetryAfterBySendersClock(t *testing.T) {
	there := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for _, ahead := range []time.Duration{0, time.Hour, -time.Hour, 24 * 365 * time.Hour, -24 * 365 * time.Hour} {
		h := http.Header{"Date": {there.Format(http.TimeFormat)}, "Retry-After": {there.Add(90 * time.Second).Format(http.TimeFormat)}}
		if got, ok := RetryAfter(h, there.Add(ahead)); got != 90*time.Second || !ok {
			t.Errorf("%v ahead: %v, %v", ahead, got, ok)
		}
	}
}
