package github

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/olmgraft/graft/internal/pause"
)

const (
	// longestAttempt bounds one attempt, the largest file that is uploaded included.
	longestAttempt = 2 * time.Minute
	longestBackoff = 30 * time.Second
	// longestAnswer is far beyond what any of the used operations gives.
	longestAnswer = 64 << 20
	// mostLimits ends a run against a forge that never stops asking to wait.
	mostLimits = 20
	// attemptsHeader tells those above how often a request was sent.
	attemptsHeader = "X-Graft-Attempts"
)

// carrier is the transport below go-github: one request becomes as many attempts
// as it takes and may take. go-github's own bookkeeping of rate limits refuses to
// send where this one waits, so it is kept from seeing them.
type carrier struct {
	next      http.RoundTripper
	api       *url.URL
	token     string
	userAgent string
	attempts  int
	patience  time.Duration
	now       func() time.Time
	sleep     func(context.Context, time.Duration) error

	mu    sync.Mutex
	limit limit
}

func newCarrier(o Options, api *url.URL) *carrier {
	c := &carrier{
		next: o.Transport, api: api, token: strings.TrimSpace(o.Token), userAgent: o.UserAgent,
		attempts: o.Attempts, patience: o.Patience, now: o.Now, sleep: o.Sleep,
	}
	if c.next == nil {
		c.next = http.DefaultTransport
	}
	if c.userAgent == "" {
		c.userAgent = "graft"
	}
	if c.attempts <= 0 {
		c.attempts = 5
	}
	if c.patience <= 0 {
		c.patience = 10 * time.Minute
	}
	if c.now == nil {
		c.now = time.Now
	}
	if c.sleep == nil {
		c.sleep = pause.For
	}
	return c
}

// RoundTrip hands up the answer of the last attempt, whatever it is, save for a
// rate limit that is not worth waiting for: that is an errLimited.
func (c *carrier) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	for failed, limits := 0, 0; ; {
		if err := c.hold(ctx); err != nil {
			return nil, err
		}
		resp, body, err := c.attempt(req)
		if err == nil {
			if l, limited := limitOf(resp, body, limits, c.now()); limited {
				if limits++; limits > mostLimits {
					return nil, &errLimited{l}
				}
				c.remember(l)
				continue
			}
			c.remember(exhausted(resp, c.now()))
			resp.Header.Set(attemptsHeader, strconv.Itoa(failed+1))
		}
		if err == nil && !passingStatus(resp.StatusCode) || err != nil && !passingError(ctx, err) {
			return resp, err
		}
		failed++
		wait := backoff(failed, resp, c.now())
		if failed >= c.attempts || ctx.Value(once{}) != nil || !c.inTime(ctx, wait) {
			return resp, err
		}
		if serr := c.sleep(ctx, wait); serr != nil {
			return nil, errors.Join(serr, err)
		}
	}
}

// once in a context is for what must not be done twice: the request is not sent again
// after an answer that leaves open whether it was done.
type once struct{}

func onceOnly(ctx context.Context) context.Context { return context.WithValue(ctx, once{}, true) }

// attempt sends the request once and reads the whole answer, so that a connection
// that breaks within the body is one more reason to try again.
func (c *carrier) attempt(req *http.Request) (*http.Response, []byte, error) {
	ctx, cancel := context.WithTimeout(req.Context(), longestAttempt)
	defer cancel()
	out := req.Clone(ctx)
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, nil, err
		}
		out.Body = body
	}
	out.Header.Set("User-Agent", c.userAgent)
	// A redirect may lead elsewhere, and the token is for the API only.
	out.Header.Del("Authorization")
	if c.token != "" && req.URL.Host == c.api.Host && (req.URL.Scheme == "https" || req.URL.Scheme == c.api.Scheme) {
		out.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.next.RoundTrip(out)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, longestAnswer+1))
	if err != nil {
		return nil, nil, err
	}
	if len(body) > longestAnswer {
		return nil, nil, errTooLong
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	resp.Request = req
	return resp, body, nil
}

var errTooLong = errors.New("the answer is longer than any should be")

// hold waits until a limit that some request ran into is over.
func (c *carrier) hold(ctx context.Context) error {
	for {
		c.mu.Lock()
		l := c.limit
		c.mu.Unlock()
		wait := l.until.Sub(c.now())
		if wait <= 0 {
			return ctx.Err()
		}
		if !c.inTime(ctx, wait) {
			return &errLimited{l}
		}
		// What many were told at once, they should not all do at once.
		if jitter := wait + rand.N(time.Second); c.inTime(ctx, jitter) {
			wait = jitter
		}
		if err := c.sleep(ctx, wait); err != nil {
			return err
		}
	}
}

func (c *carrier) remember(l limit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l.until.After(c.limit.until) {
		c.limit = l
	}
}

// inTime reports whether there is anything left of the run after the wait.
func (c *carrier) inTime(ctx context.Context, wait time.Duration) bool {
	if deadline, ok := ctx.Deadline(); ok {
		return c.now().Add(wait).Before(deadline)
	}
	return wait <= c.patience
}

// backoff grows and is jittered; a server that names a time is given that.
func backoff(failed int, resp *http.Response, now time.Time) time.Duration {
	wait := min(500*time.Millisecond<<min(failed-1, 10), longestBackoff)
	wait = wait/2 + rand.N(wait/2+1)
	if resp != nil {
		if asked, ok := retryAfter(resp.Header, now); ok {
			wait = max(wait, asked)
		}
	}
	return wait
}

// passingStatus leaves out the two server errors that say that the request will
// never be understood.
func passingStatus(status int) bool {
	switch status {
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return false
	}
	return status >= 500 || status == http.StatusRequestTimeout
}

// passingError takes faults of the network for passing, but not what a
// certificate or a name says: that stays so.
func passingError(ctx context.Context, err error) bool {
	var dns *net.DNSError
	switch {
	case ctx.Err() != nil, errors.Is(err, errTooLong), isTLSError(err):
		return false
	case errors.As(err, &dns):
		return !dns.IsNotFound
	}
	return true
}

func isTLSError(err error) bool {
	return errors.Is(err, http.ErrSchemeMismatch) ||
		errors.As(err, new(*tls.CertificateVerificationError)) ||
		errors.As(err, new(tls.RecordHeaderError)) ||
		errors.As(err, new(tls.AlertError))
}
