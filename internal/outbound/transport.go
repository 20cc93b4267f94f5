// Package outbound sends Graft's HTTP requests to all services. It decides which requests are repeated and
// after which wait, how much of an answer is read, how many requests run at one host, and which parts of an
// error may be shown.
package outbound

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/olmgraft/graft/internal/budget"
)

const (
	// mostLimits ends a run against a server that keeps requesting waits.
	mostLimits = 20
	// AttemptsHeader is set in answers to the number of attempts.
	AttemptsHeader = "X-Graft-Attempts"
)

// ErrTooLong reports an answer beyond the size limit.
var ErrTooLong = errors.New("the answer is longer than any should be")

// Standard returns the system's transport with its proxies and authorities. It gives up if an accepted request
// gets no answer within that time.
func Standard(answerWithin time.Duration) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout = answerWithin
	return t
}

// Transport repeats a request as often as needed and allowed. An attempt ends with the last byte of the answer,
// so a connection that breaks within the body leads to another attempt. The answer of the last attempt is
// returned in any case.
type Transport struct {
	// Next sends the requests. nil means http.DefaultTransport.
	Next  http.RoundTripper
	Retry Retry
	// UserAgent is sent with each request; "" means graft.
	UserAgent string
	// PerHost limits the concurrent requests to one host, by scheme. 0 means no limit.
	PerHost int
	// Repeatable reports which requests besides GET and HEAD may be sent again.
	Repeatable func(*http.Request) bool
	// RateLimit reads from an answer how long no request may be sent, and whether the request was refused for
	// that; before is the number of earlier refusals. Waiting for the limit does not count as an attempt.
	RateLimit func(answer *http.Response, before int, now time.Time) (limit RateLimit, refused bool)

	mu    sync.Mutex
	slots map[string]chan struct{}
	limit RateLimit
}

// RoundTrip repeats the request as described for Transport. For a rate limit that is too long to wait for, it
// returns a RateLimited.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, retry := req.Context(), t.Retry.WithDefaults()
	count := attemptsOf(ctx, retry.Attempts)
	for sent, limits := 1, 0; ; {
		if err := t.waitForLimit(ctx, retry); err != nil {
			return nil, err
		}
		resp, err := t.attempt(req, retry.Attempt)
		var header http.Header
		if err == nil {
			if t.noteLimit(resp, limits, retry.Now()) {
				if limits++; limits > mostLimits {
					return nil, t.limited()
				}
				continue
			}
			header = resp.Header
			header.Set(AttemptsHeader, strconv.Itoa(sent))
		}
		if !t.mayPass(req, resp, err) {
			return resp, err
		}
		failed, ok := count.another()
		if !ok {
			return resp, err
		}
		wait, worthIt := retry.Wait(ctx, failed, header)
		if !worthIt {
			return resp, err
		}
		if serr := retry.Sleep(ctx, wait); serr != nil {
			return nil, errors.Join(serr, err)
		}
		sent++
	}
}

// mayPass reports whether the same request may succeed later and may be sent again.
func (t *Transport) mayPass(req *http.Request, resp *http.Response, err error) bool {
	ctx := req.Context()
	repeatable := req.Method == http.MethodGet || req.Method == http.MethodHead || t.Repeatable != nil && t.Repeatable(req)
	if !repeatable || ctx.Err() != nil || ctx.Value(onceKey{}) != nil {
		return false
	}
	if err != nil {
		return PassingError(err)
	}
	return PassingStatus(resp.StatusCode)
}

// attempt sends the request once its host has a free slot, and reads the answer.
func (t *Transport) attempt(req *http.Request, longest time.Duration) (*http.Response, error) {
	if slot := t.slot(req.URL.Scheme + "://" + req.URL.Host); slot != nil {
		select {
		case slot <- struct{}{}:
			defer func() { <-slot }()
		case <-req.Context().Done():
			return nil, req.Context().Err()
		}
	}
	ctx, cancel := context.WithTimeout(req.Context(), longest)
	defer cancel()
	out := req.Clone(ctx)
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		out.Body = body
	}
	out.Header.Del(streamHeader)
	out.Header.Set("User-Agent", cmp.Or(t.UserAgent, "graft"))
	next := t.Next
	if next == nil {
		next = http.DefaultTransport
	}
	begun := time.Now()
	resp, err := next.RoundTrip(out)
	watched(req, begun, resp)
	if err != nil {
		return nil, err
	}
	body, err := readBody(req, resp)
	if err != nil {
		return nil, err
	}
	resp.Body = &wholeBody{bytes.NewReader(body), body}
	resp.Request = req
	return resp, nil
}

// slot is by scheme too: a server may be asked with and without TLS at the same time, and one must not wait for
// the other's timeout.
func (t *Transport) slot(host string) chan struct{} {
	if t.PerHost <= 0 {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.slots == nil {
		t.slots = map[string]chan struct{}{}
	}
	if t.slots[host] == nil {
		t.slots[host] = make(chan struct{}, t.PerHost)
	}
	return t.slots[host]
}

type limitKey struct{}

// WithLimit limits the size of each answer to requests below the context.
func WithLimit(ctx context.Context, n int64) context.Context {
	return context.WithValue(ctx, limitKey{}, n)
}

// readBody reads the body of a success up to the limit, and the start of any other.
func readBody(req *http.Request, resp *http.Response) ([]byte, error) {
	defer resp.Body.Close()
	if resp.StatusCode >= http.StatusMultipleChoices {
		return io.ReadAll(io.LimitReader(resp.Body, budget.RefusalBytes))
	}
	limit, ok := req.Context().Value(limitKey{}).(int64)
	if !ok {
		limit = budget.AnswerBytes
	}
	if resp.ContentLength > limit {
		return nil, ErrTooLong
	}
	if take := streamOf(req); take != nil {
		return nil, stream(resp.Body, limit, take)
	}
	if n := resp.ContentLength; n >= 0 && req.Method != http.MethodHead {
		body := make([]byte, n)
		_, err := io.ReadFull(resp.Body, body)
		return body, err
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err == nil && int64(len(body)) > limit {
		err = ErrTooLong
	}
	return body, err
}

type wholeBody struct {
	*bytes.Reader
	all []byte
}

func (*wholeBody) Close() error { return nil }

// Body returns the whole body of an answer. A Transport's answers are already read.
func Body(resp *http.Response) ([]byte, error) {
	if b, ok := resp.Body.(*wholeBody); ok {
		return b.all, nil
	}
	return io.ReadAll(resp.Body)
}

// RateLimit is a time before which no request may be sent.
type RateLimit struct {
	Until time.Time
	// Kind names the limit, such as primary.
	Kind string
}

// RateLimited reports a rate limit that lasts too long to wait for.
type RateLimited struct{ RateLimit }

func (e *RateLimited) Error() string {
	return "the " + e.Kind + " rate limit lasts until " + e.Until.UTC().Format("2006-01-02 15:04:05 UTC")
}

// noteLimit records the limit that an answer reports.
func (t *Transport) noteLimit(resp *http.Response, before int, now time.Time) (refused bool) {
	if t.RateLimit == nil {
		return false
	}
	limit, refused := t.RateLimit(resp, before, now)
	t.mu.Lock()
	defer t.mu.Unlock()
	if limit.Until.After(t.limit.Until) {
		t.limit = limit
	}
	return refused
}

func (t *Transport) limited() *RateLimited {
	t.mu.Lock()
	defer t.mu.Unlock()
	return &RateLimited{t.limit}
}

// waitForLimit waits until the known limit is over.
func (t *Transport) waitForLimit(ctx context.Context, retry Retry) error {
	// inTime reports whether the run has time left after the wait.
	inTime := func(wait time.Duration) bool {
		if deadline, ok := ctx.Deadline(); ok {
			return retry.Now().Add(wait).Before(deadline)
		}
		return wait <= retry.LongestAsked
	}
	for {
		limit := t.limited()
		wait := limit.Until.Sub(retry.Now())
		switch {
		case wait <= 0:
			return ctx.Err()
		case !inTime(wait):
			return limit
		}
		// Jitter keeps clients that got the same limit at once from retrying at once.
		if jittered := wait + rand.N(time.Second); inTime(jittered) {
			wait = jittered
		}
		if err := retry.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}
