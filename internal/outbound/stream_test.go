package outbound

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// An answer is passed on as a stream, from the start again if the connection breaks. An error of the receiver
// ends it. Only the marked request is streamed.
func TestStream(t *testing.T) {
	var c clock
	transport := &Transport{Retry: c.retry()}
	sent := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if sent++; r.Header.Get(streamHeader) != "" {
			t.Error("the mark was sent")
		}
		if r.URL.Path == "/breaks" && sent == 1 {
			w.Header().Set("Content-Length", "100")
		}
		_, _ = io.WriteString(w, "all of it")
	}))
	defer server.Close()
	unwanted := errors.New("not this")
	for _, tt := range []struct {
		path  string
		limit int64
		took  error
		want  error
		sent  int
	}{
		{"/", 100, nil, nil, 1},
		{"/breaks", 100, nil, nil, 2},
		{"/", 100, unwanted, unwanted, 1},
		{"/", 3, nil, ErrTooLong, 1},
	} {
		sent = 0
		var got string
		req, err := http.NewRequestWithContext(WithLimit(context.Background(), tt.limit), http.MethodGet, server.URL+tt.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := transport.RoundTrip(Stream(req, func(r io.Reader) error { //nolint:bodyclose // the body is already read
			text, err := io.ReadAll(r)
			got = string(text)
			return errors.Join(err, tt.took)
		}))
		var refused *Refused
		if errors.As(err, &refused) {
			err = refused.Err
		}
		if !errors.Is(err, tt.want) || sent != tt.sent || err == nil && got != "all of it" {
			t.Errorf("%+v: got %q, %v, sent %d times", tt, got, err, sent)
		}
		if err != nil {
			continue
		}
		if left, err := Body(resp); err != nil || len(left) > 0 {
			t.Errorf("%+v: %q is left, %v", tt, left, err)
		}
		unmarked := Stream(req, func(io.Reader) error { return unwanted })
		unmarked.Header.Del(streamHeader)
		if resp, err = transport.RoundTrip(unmarked); err != nil { //nolint:bodyclose // the same
			t.Fatal(err)
		}
		if held, err := Body(resp); err != nil || !strings.Contains(string(held), "all of it") {
			t.Errorf("unmarked: %q, %v", held, err)
		}
	}
}
