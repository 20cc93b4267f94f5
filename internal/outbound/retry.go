package outbound

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/olmgraft/graft/internal/pause"
)

// Retry configures how often and with which waits a request is repeated: after 408, 429, 5xx, and after a
// connection that failed, before or within the body. Retry-After is honoured. The context's deadline ends the
// retries.
type Retry struct {
	// Attempts limits the attempts of one request, including the first. 0 means 4.
	Attempts int
	// First and Longest limit the growing, jittered wait between attempts. 0 means 500 ms and 10 s.
	First, Longest time.Duration
	// LongestAsked is the longest wait that a server may request. 0 means 2 min.
	LongestAsked time.Duration
	// Attempt limits one attempt, including its body. 0 means 2 min.
	Attempt time.Duration
	// Now and Sleep replace the clock in tests.
	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error
}

// WithDefaults sets unset fields.
func (r Retry) WithDefaults() Retry {
	def := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	if r.Attempts <= 0 {
		r.Attempts = 4
	}
	def(&r.First, 500*time.Millisecond)
	def(&r.Longest, 10*time.Second)
	def(&r.LongestAsked, 2*time.Minute)
	def(&r.Attempt, 2*time.Minute)
	if r.Now == nil {
		r.Now = time.Now
	}
	if r.Sleep == nil {
		r.Sleep = pause.For
	}
	return r
}

// Wait returns the wait after this many failed attempts, and whether it is worthwhile: it is not if the
// deadline comes first, or the server requests too long a wait. The header is that of the last answer, if there
// was one.
func (r Retry) Wait(ctx context.Context, failed int, answer http.Header) (time.Duration, bool) {
	wait := Backoff(failed, r.First, r.Longest)
	if asked, ok := RetryAfter(answer, r.Now()); ok {
		if asked > r.LongestAsked {
			return 0, false
		}
		// Jitter keeps clients that got the same answer at once from retrying at once.
		wait = asked + rand.N(r.First/2+1)
	}
	deadline, ok := ctx.Deadline()
	return wait, !ok || r.Now().Add(wait).Before(deadline)
}

// Backoff doubles with each failed attempt, up to the longest wait. Half of it is random.
func Backoff(failed int, first, longest time.Duration) time.Duration {
	wait := first
	for i := 1; i < failed && wait < longest; i++ {
		wait *= 2
	}
	wait = min(wait, longest)
	return wait/2 + rand.N(wait/2+1)
}

// Sent returns the time of an answer by the server's clock, or now if the server does not send it. Other times
// in the answer refer to that clock.
func Sent(h http.Header, now time.Time) time.Time {
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		return date
	}
	return now
}

// RetryAfter parses the header's two forms: seconds and a date.
func RetryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(0, date.Sub(Sent(h, now))), true
	}
	return 0, false
}

// PassingStatus reports whether the same request may succeed later. It excludes the two server errors that mean
// that the server does not support the request.
func PassingStatus(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests:
		return true
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return false
	}
	return status >= 500
}

// PassingError treats all network faults as temporary except those of certificates, names and wrong protocols.
func PassingError(err error) bool {
	var dns *net.DNSError
	var network net.Error
	var op *net.OpError
	switch {
	case IsTLS(err):
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
	// net/http has no error type for a broken HTTP/2 connection or stream.
	text := err.Error()
	return strings.Contains(text, "http2: ") || strings.Contains(text, "stream error: ") ||
		strings.Contains(text, "server closed idle connection")
}

// IsTLS reports whether TLS with the server is impossible.
func IsTLS(err error) bool {
	return errors.Is(err, http.ErrSchemeMismatch) || IsCertificate(err) ||
		errors.As(err, new(tls.RecordHeaderError)) ||
		errors.As(err, new(tls.AlertError))
}

// IsCertificate reports whether the server's certificate is not trusted.
func IsCertificate(err error) bool {
	return errors.As(err, new(*tls.CertificateVerificationError)) ||
		errors.As(err, new(x509.UnknownAuthorityError)) ||
		errors.As(err, new(x509.HostnameError)) ||
		errors.As(err, new(x509.CertificateInvalidError))
}

// attempts counts the attempts of one action across its requests.
type attempts struct {
	used atomic.Int64
	of   int
}

type attemptsKey struct{}

// ShareAttempts makes all requests below the context share one count of attempts.
func ShareAttempts(ctx context.Context, n int) context.Context {
	return context.WithValue(ctx, attemptsKey{}, newAttempts(n))
}

func newAttempts(n int) *attempts {
	a := &attempts{of: n}
	a.used.Store(1)
	return a
}

func attemptsOf(ctx context.Context, n int) *attempts {
	if a, ok := ctx.Value(attemptsKey{}).(*attempts); ok {
		return a
	}
	return newAttempts(n)
}

// another takes one more attempt if one is left, and returns the number of failed ones.
func (a *attempts) another() (failed int, ok bool) {
	used := int(a.used.Add(1))
	return used - 1, used <= a.of
}

type onceKey struct{}

// Once is for actions that must not run twice: no request below the context is repeated after an answer, or a
// missing answer, that leaves open whether it was executed.
func Once(ctx context.Context) context.Context { return context.WithValue(ctx, onceKey{}, true) }
