package gitremote

import (
	"net/http"

	"github.com/olmgraft/graft/internal/testkit/wire"
)

// Fault is what goes wrong with one answer. The zero Fault is nothing.
type Fault struct {
	// Status answers with this status, Header and Body, and does nothing.
	Status int
	Header map[string]string
	Body   string
	// Reset resets the connection and does nothing.
	Reset bool
	// Lose does what was asked, and resets the connection instead of saying so.
	Lose bool
	// Truncate sends so many bytes of the answer and hangs up.
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
