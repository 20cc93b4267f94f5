// Package outbound is how Graft asks others over HTTP, whoever they are: what is tried
// again and after which wait, how much of an answer is read, how many requests are under
// way to one host, and what may be shown of what went wrong.
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
	// mostLimits ends a run against a server that never stops asking to wait.
	mostLimits = 20
	// AttemptsHeader is set in answers: how often the request was sent.
	AttemptsHeader = "X-Graft-Attempts"
)

// ErrTooLong is an answer that is longer than it may be.
var ErrTooLong = errors.New("the answer is longer than any should be")

// Standard is the transport of the system, with its proxies and authorities. It gives up on
// a server that takes a request and does not begin to answer for that long.
func Standard(answerWithin time.Duration) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout = answerWithin
	return t
}

// Transport makes of one request as many attempts as it takes and may take. An attempt ends
// with the last byte of the answer, so that a connection that breaks within the body is one
// more reason to try again. The answer of the last attempt is handed up whatever it is.
type Transport struct {
	// Next sends the requests; nil means http.DefaultTransport.
	Next  http.RoundTripper
	Retry Retry
	// UserAgent is sent with each request; "" means graft.
	UserAgent string
	// PerHost bounds the requests under way to one host, by scheme; 0 is no bound.
	PerHost int
	// Repeatable tells what may be sent again beside GET and HEAD.
	Repeatable func(*http.Request) bool
	// RateLimit reads of an answer until when nothing may be sent, and whether that is why the
	// request was refused, as it was so many times before. Waiting for it is no attempt.
	RateLimit func(answer *http.Response, before int, now time.Time) (limit RateLimit, refused bool)

	mu    sync.Mutex
	slots map[string]chan struct{}
	limit RateLimit
}

// RoundTrip is as Transport says, save for a rate limit that is not worth waiting for: that is
// a RateLimited.
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

// mayPass reports whether the same request may fare better later, and may be sent again.
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

// attempt sends the request once, when its host has a slot free, and reads the answer.
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

// slot goes by the scheme, too: a server may be asked with and without TLS at the same
// time, and the one must not wait for the other to time out.
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

// WithLimit bounds what is read of each answer to requests below the context.
func WithLimit(ctx context.Context, n int64) context.Context {
	return context.WithValue(ctx, limitKey{}, n)
}

// readBody reads the body of a success, which may not be longer than it may be, and the
// beginning of any other.
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

// Body is all of an answer's body, which has been read already where the answer comes from
// a Transport.
func Body(resp *http.Response) ([]byte, error) {
	if b, ok := resp.Body.(*wholeBody); ok {
		return b.all, nil
	}
	return io.ReadAll(resp.Body)
}

// RateLimit is a time before which nothing may be sent.
type RateLimit struct {
	Until time.Time
	// Kind is one word for it, such as primary.
	Kind string
}

// RateLimited is a rate limit that lasts for longer than may be waited.
type RateLimited struct{ RateLimit }

func (e *RateLimited) Error() string {
	return "the " + e.Kind + " rate limit lasts until " + e.Until.UTC().Format("2006-01-02 15:04:05 UTC")
}

// noteLimit remembers the limit that an answer tells of.
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

// waitForLimit waits until a limit that some request ran into is over.
func (t *Transport) waitForLimit(ctx context.Context, retry Retry) error {
	// inTime reports whether there is anything left of the run after the wait.
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
		// What many were told at once, they should not all do at once.
		if jittered := wait + rand.N(time.Second); inTime(jittered) {
			wait = jittered
		}
		if err := retry.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}
