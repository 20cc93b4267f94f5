package gitremote

import (
	"bytes"
	"net"
	"net/http"
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

// reply is an answer held back until it is known what to do to it.
type reply struct {
	status int
	header http.Header
	body   bytes.Buffer
}

func newReply() *reply { return &reply{status: http.StatusOK, header: http.Header{}} }

func (r *reply) Header() http.Header         { return r.header }
func (r *reply) WriteHeader(status int)      { r.status = status }
func (r *reply) Write(b []byte) (int, error) { return r.body.Write(b) }

func (f Fault) fill(r *reply) {
	r.status = f.Status
	for k, v := range f.Header {
		r.header.Set(k, v)
	}
	r.body.WriteString(f.Body)
}

func (f Fault) send(w http.ResponseWriter, r *reply) {
	if f.Reset || f.Lose {
		reset(w)
		return
	}
	for k, v := range r.header {
		w.Header()[k] = v
	}
	w.WriteHeader(r.status)
	body := r.body.Bytes()
	if f.Truncate == 0 {
		_, _ = w.Write(body) // the client may be gone
		return
	}
	_, _ = w.Write(body[:min(f.Truncate, len(body))])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	// Without lingering, closing sends a reset and no orderly end.
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
