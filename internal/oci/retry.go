package oci

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/olmgraft/graft/internal/pause"
)

// Retry says how often and how patiently a request is tried again: after 408,
// 429, 5xx, and a connection that broke or was not had, before or within the
// body. Retry-After is honoured. All of it ends with the context's deadline.
type Retry struct {
	// Attempts of one request, the first included; 0 means 4.
	Attempts int
	// First and Longest bound the growing, jittered wait between attempts; 0
	// means 500 ms and 10 s.
	First, Longest time.Duration
	// LongestAsked is the longest Retry-After that is waited for; 0 means 2 min.
	LongestAsked time.Duration
	// Attempt bounds one attempt, its body included; 0 means 2 min.
	Attempt time.Duration
	// Sleep replaces the clock in tests.
	Sleep func(context.Context, time.Duration) error
}

func (r Retry) withDefaults() Retry {
	def := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	if r.Attempts == 0 {
		r.Attempts = 4
	}
	def(&r.First, 500*time.Millisecond)
	def(&r.Longest, 10*time.Second)
	def(&r.LongestAsked, 2*time.Minute)
	def(&r.Attempt, 2*time.Minute)
	if r.Sleep == nil {
		r.Sleep = pause.For
	}
	return r
}

// mayPass reports whether the same request may fare better later.
func (c *carrier) mayPass(req *http.Request, resp *http.Response, err error) bool {
	repeatable := req.Method == http.MethodGet || req.Method == http.MethodHead ||
		req.Header.Get("Content-Type") == "application/x-www-form-urlencoded" && req.GetBody != nil
	if !repeatable || req.Context().Err() != nil {
		return false
	}
	if err != nil {
		return passingError(err)
	}
	return passingStatus(resp.StatusCode)
}

// passingStatus leaves out the two server errors that say that the request will
// never be understood.
func passingStatus(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests:
		return true
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return false
	}
	return status >= 500
}

// passingError takes all faults of the network for passing, but not what a
// certificate, a name or a wrong protocol says: that stays so.
func passingError(err error) bool {
	var dns *net.DNSError
	var network net.Error
	var op *net.OpError
	switch {
	case isTLSError(err) || errors.As(err, new(errPlainHTTP)):
		return false
	case errors.As(err, &dns):
		return !dns.IsNotFound
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, context.DeadlineExceeded):
		return true
	case errors.As(err, &op):
		return true
	case errors.As(err, &network):
		return network.Timeout()
	}
	// What net/http says of a broken HTTP/2 connection or stream has no type.
	text := err.Error()
	return strings.Contains(text, "http2: ") || strings.Contains(text, "stream error: ") ||
		strings.Contains(text, "server closed idle connection")
}

// pause is how long to wait before the next attempt, and whether that is worth
// it: not if the deadline comes first, or the registry asks for too long.
func (c *carrier) pause(ctx context.Context, left *attempts, resp *http.Response) (time.Duration, bool) {
	wait := min(c.retry.First<<min(left.failed()-1, 20), c.retry.Longest)
	wait = wait/2 + rand.N(wait/2+1)
	if resp != nil {
		if asked, ok := retryAfter(resp.Header, time.Now()); ok {
			if asked > c.retry.LongestAsked {
				return 0, false
			}
			// What they all were told at once, they should not all do at once.
			wait = asked + rand.N(c.retry.First/2+1)
		}
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= wait {
		return 0, false
	}
	return wait, true
}

// retryAfter reads the header's two forms: seconds and a date.
func retryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(0, date.Sub(now)), true
	}
	return 0, false
}

// attempts counts the attempts at one thing, wherever they are made.
type attempts struct {
	mu       sync.Mutex
	used, of int
}

type attemptsKey struct{}

// withAttempts makes all requests below ctx share one count of attempts: those
// that failed before the answer and those that failed within it.
func withAttempts(ctx context.Context, n int) (context.Context, *attempts) {
	a := &attempts{used: 1, of: n}
	return context.WithValue(ctx, attemptsKey{}, a), a
}

func attemptsOf(ctx context.Context, n int) *attempts {
	if a, ok := ctx.Value(attemptsKey{}).(*attempts); ok {
		return a
	}
	return &attempts{used: 1, of: n}
}

// take takes one more attempt, if one is left.
func (a *attempts) take() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.used >= a.of {
		return false
	}
	a.used++
	return true
}

func (a *attempts) failed() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.used - 1
}
