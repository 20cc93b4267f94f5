package outbound

import (
	"context"
	"errors"
	"io"
	"net/http"
)

// streamHeader marks the one request below a context whose answer is streamed: others are
// made on its way, for tokens. It is not sent.
const streamHeader = "X-Graft-Stream"

type streamKey struct{}

// Stream has the answer to a request be given to take as it comes, in the place of being held:
// its body is empty then. Where the connection breaks, take is called again, from the
// beginning. What take itself fails with is a Refused.
func Stream(req *http.Request, take func(io.Reader) error) *http.Request {
	out := req.Clone(context.WithValue(req.Context(), streamKey{}, take))
	out.Header.Set(streamHeader, "1")
	return out
}

// Refused is what the one who took a stream says of its content. It is not the network's, so
// nothing is tried again.
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

// noted remembers what was read, and how reading failed.
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
