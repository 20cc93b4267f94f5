package relay

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/olmgraft/graft/internal/outbound"
)

// rateLimits are the rate limits of accounts, from GitHub's answers.
type rateLimits struct {
	mu sync.Mutex
	of map[string]rateLimit
}

// rateLimit is the number of requests left, and of all, until a time of the local clock.
type rateLimit struct {
	left, most int
	until      time.Time
}

// mostLimits limits the accounts in memory.
const mostLimits = 10_000

// note reads the headers of an answer. It ignores limits of other kinds, and headers that it cannot read.
func (r *rateLimits) note(account string, h http.Header, now time.Time) {
	left, leftErr := strconv.Atoi(h.Get("X-RateLimit-Remaining"))
	most, mostErr := strconv.Atoi(h.Get("X-RateLimit-Limit"))
	reset, resetErr := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64)
	if cmp.Or(leftErr, mostErr, resetErr) != nil || most <= 0 || cmp.Or(h.Get("X-RateLimit-Resource"), "core") != "core" {
		return
	}
	until := now.Add(time.Unix(reset, 0).Sub(outbound.Sent(h, now)))
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.of[account]; !known && len(r.of) == mostLimits {
		clear(r.of)
	}
	r.of[account] = rateLimit{left, most, until}
}

// now returns the limits that have not started again.
func (r *rateLimits) now(now time.Time) map[string]rateLimit {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.of, func(_ string, l rateLimit) bool { return !now.Before(l.until) })
	return maps.Clone(r.of)
}

// noting passes the headers of an account's answers to limits.
type noting struct {
	next    http.RoundTripper
	account string
	limits  *rateLimits
}

// RoundTrip implements http.RoundTripper.
func (n noting) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := n.next.RoundTrip(req)
	if err == nil {
		n.limits.note(n.account, resp.Header, time.Now())
	}
	return resp, err
}

// Metrics name mostNamed accounts: those with the most waiting deliveries, and those with the least left of their
// limits. One line has the waiting deliveries of the rest. No account on GitHub can have its name.
const (
	mostNamed = 100
	restNamed = "_rest"
)

// named returns the accounts that come first, and the others.
func named[V any](all map[string]V, first func(a, b V) int) (names, rest []string) {
	names = slices.SortedFunc(maps.Keys(all), func(a, b string) int { return cmp.Or(first(all[a], all[b]), cmp.Compare(a, b)) })
	n := min(len(names), mostNamed)
	return names[:n], names[n:]
}
