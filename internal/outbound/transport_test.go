package outbound

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/budget"
)

// clock replaces the time, which advances only in Sleep.
type clock struct {
	now   time.Time
	slept []time.Duration
}

func (c *clock) sleep(_ context.Context, d time.Duration) error {
	c.slept, c.now = append(c.slept, d), c.now.Add(d)
	return nil
}

func (c *clock) retry() Retry {
	c.now = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	return Retry{Now: func() time.Time { return c.now }, Sleep: c.sleep}
}

// ask sends a request to a server that answers with the handler, and counts the requests.
func ask(ctx context.Context, t *testing.T, transport *Transport, method string, answer func(nth int, w http.ResponseWriter)) (got answered, sent int, err error) {
	t.Helper()
	var n atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer(int(n.Add(1)), w)
	}))
	t.Cleanup(server.Close)
	req, rerr := http.NewRequestWithContext(ctx, method, server.URL, strings.NewReader("sent"))
	if rerr != nil {
		t.Fatal(rerr)
	}
	resp, err := transport.RoundTrip(req)
	if err == nil {
		defer resp.Body.Close()
		got = answered{status: resp.StatusCode, header: resp.Header}
		got.body, got.fault = Body(resp)
	}
	return got, int(n.Load()), err
}

// answered is the received answer.
type answered struct {
	status int
	header http.Header
	body   []byte
	fault  error // of reading the body
}

func TestWhatIsTriedAgain(t *testing.T) {
	status := func(codes ...int) func(int, http.ResponseWriter) {
		return func(nth int, w http.ResponseWriter) { w.WriteHeader(codes[min(nth, len(codes))-1]) }
	}
	cut := func(_ int, w http.ResponseWriter) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "half")
		panic(http.ErrAbortHandler)
	}
	all := func(*http.Request) bool { return true }
	cases := []struct {
		name       string
		method     string
		repeatable func(*http.Request) bool
		once       bool
		answer     func(int, http.ResponseWriter)
		sent       int
		status     int // 0 means an error
	}{
		{"a success", "GET", nil, false, status(200), 1, 200},
		{"a temporary error", "GET", nil, false, status(503, 429, 200), 3, 200},
		{"a permanent error", "GET", nil, false, status(404), 1, 404},
		{"an unsupported request", "GET", nil, false, status(501), 1, 501},
		{"a lasting error", "GET", nil, false, status(500), 4, 500},
		{"a write", "POST", nil, false, status(500), 1, 500},
		{"a repeatable write", "POST", all, false, status(500, 201), 2, 201},
		{"a write marked as once", "POST", all, true, status(500), 1, 500},
		{"half a body", "GET", nil, false, cut, 4, 0},
		{"half a body, once", "GET", nil, true, cut, 1, 0},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			ctx := t.Context()
			if tc.once {
				ctx = Once(ctx)
			}
			c := &clock{}
			got, sent, err := ask(ctx, t, &Transport{Retry: c.retry(), Repeatable: tc.repeatable}, tc.method, tc.answer)
			if sent != tc.sent || len(c.slept) != sent-1 || (err != nil) != (tc.status == 0) {
				t.Fatalf("sent %d times, want %d; waited %v; %v", sent, tc.sent, c.slept, err)
			}
			if err == nil && (got.status != tc.status || got.header.Get(AttemptsHeader) != strconv.Itoa(sent)) {
				t.Errorf("got %d after %s attempts, want %d after %d", got.status, got.header.Get(AttemptsHeader), tc.status, sent)
			}
		})
	}
}

func TestAttemptsAreShared(t *testing.T) {
	c := &clock{}
	transport := &Transport{Retry: c.retry()}
	ctx := ShareAttempts(t.Context(), 4)
	refuse := func(_ int, w http.ResponseWriter) { w.WriteHeader(http.StatusInternalServerError) }
	_, first, err := ask(ctx, t, transport, "GET", refuse)
	_, second, err2 := ask(ctx, t, transport, "GET", refuse)
	if err != nil || err2 != nil || first != 4 || second != 1 {
		t.Errorf("%d and %d attempts, want 4 and 1; %v, %v", first, second, err, err2)
	}
}

func TestAnswersAreBounded(t *testing.T) {
	write := func(status, n int, announced bool) func(int, http.ResponseWriter) {
		return func(_ int, w http.ResponseWriter) {
			if announced {
				w.Header().Set("Content-Length", strconv.Itoa(n))
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, strings.Repeat("x", n))
		}
	}
	for _, announced := range []bool{true, false} {
		ctx := WithLimit(t.Context(), 10_000)
		got, _, err := ask(ctx, t, &Transport{}, "GET", write(200, 10_000, announced))
		if err != nil {
			t.Fatal(err)
		}
		if got.fault != nil || len(got.body) != 10_000 {
			t.Errorf("read %d bytes, %v", len(got.body), got.fault)
		}
		if _, sent, err := ask(ctx, t, &Transport{}, "GET", write(200, 10_001, announced)); !errors.Is(err, ErrTooLong) || sent != 1 {
			t.Errorf("one byte more: %d attempts, %v", sent, err)
		}
		got, _, err = ask(ctx, t, &Transport{}, "GET", write(404, 2<<20, announced))
		if err != nil {
			t.Fatal(err)
		}
		if got.fault != nil || len(got.body) != budget.RefusalBytes {
			t.Errorf("of a refusal %d bytes were read, %v", len(got.body), got.fault)
		}
	}
}

// Graft waits for a rate limit without using up attempts, if it ends soon enough. The limit applies to every
// later request.
func TestRateLimits(t *testing.T) {
	limits := func(resp *http.Response, _ int, _ time.Time) (RateLimit, bool) {
		seconds, err := strconv.Atoi(resp.Header.Get("Until"))
		if err != nil {
			return RateLimit{}, false
		}
		return RateLimit{time.Date(2026, 5, 1, 12, 0, seconds, 0, time.UTC), "primary"}, resp.StatusCode == http.StatusForbidden
	}
	limited := func(until string, times int) func(int, http.ResponseWriter) {
		return func(nth int, w http.ResponseWriter) {
			if nth <= times {
				w.Header().Set("Until", until)
				w.WriteHeader(http.StatusForbidden)
			}
		}
	}
	c := &clock{}
	transport := &Transport{Retry: c.retry(), RateLimit: limits}
	got, sent, err := ask(t.Context(), t, transport, "POST", limited("30", 1))
	if err != nil || got.status != http.StatusOK || sent != 2 || len(c.slept) != 1 || got.header.Get(AttemptsHeader) != "1" {
		t.Fatalf("sent %d times, waited %v, %v", sent, c.slept, err)
	}
	var far *RateLimited
	_, sent, err = ask(t.Context(), t, transport, "POST", limited("400", 1))
	if !errors.As(err, &far) || sent != 1 || !strings.Contains(err.Error(), "primary rate limit lasts until 2026-05-01 12:06:40") {
		t.Fatalf("a limit that is far: sent %d times, %v", sent, err)
	}
	if _, sent, err = ask(t.Context(), t, transport, "GET", limited("", 0)); !errors.As(err, &far) || sent != 0 {
		t.Errorf("the next request: sent %d times, %v", sent, err)
	}
	endless := &Transport{Retry: c.retry(), RateLimit: func(*http.Response, int, time.Time) (RateLimit, bool) {
		return RateLimit{c.now.Add(time.Second), "secondary"}, true
	}}
	if _, sent, err = ask(t.Context(), t, endless, "GET", limited("1", 100)); !errors.As(err, &far) || sent != mostLimits+1 {
		t.Errorf("a server that never stops: sent %d times, %v", sent, err)
	}
}

// Waiting for a slot does not count as an attempt.
func TestSlotsAreNoAttempts(t *testing.T) {
	c := &clock{}
	retry := c.retry()
	retry.Attempt = 300 * time.Millisecond
	transport := &Transport{Retry: retry, PerHost: 1}
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	slot := transport.slot(server.URL)
	slot <- struct{}{}
	time.AfterFunc(400*time.Millisecond, func() { <-slot })
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK || len(c.slept) > 0 {
		t.Errorf("got %v after waiting %v", resp.Status, c.slept)
	}
}
