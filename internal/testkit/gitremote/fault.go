package gitremote

import (
	"net/http"

	"github.com/olmgraft/graft/internal/testkit/wire"
)

// Fault describes a fault of one answer. The zero Fault means none.
type Fault struct {
	// Status answers with this status, Header and Body, and does not execute the request.
	Status int
	Header map[string]string
	Body   string
	// Reset resets the connection and does not execute the request.
	Reset bool
	// Lose executes the request and resets the connection instead of answering.
	Lose bool
	// Truncate sends this many bytes of the answer and closes the connection.
	Truncate int
}

func (f Fault) fill(r *wire.Reply) {
	r.Status = f.Status
	for k, v := range f.Header {
		r.Head.Set(k, v)
	}
	r.Body.WriteString(f.Body)
}

func (f Fault) send(w http.ResponseWriter, r *wire.Reply) {
	if f.Reset || f.Lose {
		wire.Reset(w)
		return
	}
	for k, v := range r.Head {
		w.Header()[k] = v
	}
	w.WriteHeader(r.Status)
	body := r.Body.Bytes()
	if f.Truncate == 0 {
		_, _ = w.Write(body) // the client may be gone
		return
	}
	_, _ = w.Write(body[:min(f.Truncate, len(body))])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}
