package outbound

import (
	"context"
	"errors"
	"io"
	"net/http"
)

// streamHeader marks the one request below a context whose answer is streamed, as opposed to token requests on
// the way. It is not sent.
const streamHeader = "X-Graft-Stream"

type streamKey struct{}

// Stream makes the answer to a request be passed to take as a stream; its body is then empty. If the connection
// breaks, take is called again with the stream from the start. An error of take itself becomes a Refused.
func Stream(req *http.Request, take func(io.Reader) error) *http.Request {
	out := req.Clone(context.WithValue(req.Context(), streamKey{}, take))
	out.Header.Set(streamHeader, "1")
	return out
}

// Refused is the receiver's error about the content of a stream. It is not a network fault, so the request is
// not repeated.
type Refused struct{ Err error }

func (e *Refused) Error() string { return e.Err.Error() }

func streamOf(req *http.Request) func(io.Reader) error {
	take, _ := req.Context().Value(streamKey{}).(func(io.Reader) error)
	if req.Header.Get(streamHeader) == "" {
		return nil
	}
	return take
}

func stream(body io.Reader, limit int64, take func(io.Reader) error) error {
	r := &noted{r: io.LimitReader(body, limit+1)}
	err := take(r)
	switch {
	case r.err != nil:
		return r.err
	case r.n > limit:
		return ErrTooLong
	case err != nil:
		return &Refused{err}
	}
	return nil
}

// noted records the bytes read and the read error.
type noted struct {
	r   io.Reader
	n   int64
	err error
}

func (r *noted) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if r.n += int64(n); err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}
