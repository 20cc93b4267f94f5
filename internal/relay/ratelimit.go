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

// rateLimits are what GitHub's answers say of the rate limit of each account.
type rateLimits struct {
	mu sync.Mutex
	of map[string]rateLimit
}

// rateLimit is how many requests are left of how many, until a time by the clock here.
type rateLimit struct {
	left, most int
	until      time.Time
}

// mostLimits bounds the accounts whose limits are kept in mind.
const mostLimits = 10_000

// note takes what an answer says. One that is not of the limit for dispatches says nothing.
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

// now are the limits that still hold.
func (r *rateLimits) now(now time.Time) map[string]rateLimit {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.of, func(_ string, l rateLimit) bool { return !now.Before(l.until) })
	return maps.Clone(r.of)
}

// noting notes what the answers to an account's requests say.
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

// Metrics name so many accounts: those for which most waits, and those with the least left of
// their limits. What waits for the rest is one figure, whose name no account has.
const (
	mostNamed = 100
	restNamed = "_rest"
)

// named are the accounts that come first, and the others.
func named[V any](all map[string]V, first func(a, b V) int) (names, rest []string) {
	names = slices.SortedFunc(maps.Keys(all), func(a, b string) int { return cmp.Or(first(all[a], all[b]), cmp.Compare(a, b)) })
	n := min(len(names), mostNamed)
	return names[:n], names[n:]
}
