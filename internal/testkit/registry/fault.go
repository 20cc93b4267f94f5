package registry

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"strconv"
	"time"
)

// Fault is what goes wrong with one answer. The zero Fault is nothing.
type Fault struct {
	// Status answers with this status and an error body instead.
	Status int
	// Header is set on the answer, over what stands there; "" removes a key.
	Header map[string]string
	// Alter changes the body; the length of what it returns is what is announced.
	Alter func([]byte) []byte
	// Truncate announces the whole body, sends so many bytes of it and hangs up.
	// Less than 0 sends none.
	Truncate int
	// Stall sends half of the body, and the rest only so much later.
	Stall time.Duration
	// Reset resets the connection instead of answering.
	Reset bool
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

// jsonReply panics on what cannot be JSON: all callers know their values.
func jsonReply(value any) *reply {
	body, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	r := newReply()
	r.header.Set("Content-Type", "application/json")
	r.body.Write(body)
	return r
}

func errorReply(status int, code, message string) *reply {
	r := jsonReply(map[string]any{"errors": []any{map[string]string{"code": code, "message": message}}})
	r.status = status
	return r
}

// change makes the answer the faulty one, as far as its bytes go.
func (f Fault) change(r *reply) *reply {
	if f.Status != 0 {
		*r = *errorReply(f.Status, faultCode(f.Status), http.StatusText(f.Status))
	}
	if f.Alter != nil {
		body := f.Alter(bytes.Clone(r.body.Bytes()))
		r.body.Reset()
		r.body.Write(body)
	}
	for k, v := range f.Header {
		if v == "" {
			r.header.Del(k)
			continue
		}
		r.header.Set(k, v)
	}
	return r
}

func faultCode(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "UNAUTHORIZED"
	case http.StatusForbidden:
		return "DENIED"
	case http.StatusNotFound:
		return "MANIFEST_UNKNOWN"
	case http.StatusTooManyRequests:
		return "TOOMANYREQUESTS"
	}
	return "UNKNOWN"
}

// send writes the answer as the fault has it.
func (f Fault) send(s *Server, w http.ResponseWriter, r *http.Request, reply *reply) {
	if f.Reset {
		reset(w)
		return
	}
	for k, v := range reply.header {
		w.Header()[k] = v
	}
	body := reply.body.Bytes()
	if r.Method != http.MethodHead {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	w.WriteHeader(reply.status)
	if r.Method == http.MethodHead {
		return
	}
	switch {
	case f.Truncate != 0:
		writeNow(w, body[:max(0, min(f.Truncate, len(body)))])
		panic(http.ErrAbortHandler)
	case f.Stall > 0:
		writeNow(w, body[:len(body)/2])
		if s.wait(r.Context(), f.Stall) {
			writeNow(w, body[len(body)/2:])
		}
	default:
		writeNow(w, body)
	}
}

// writeNow ends the answer where the client is gone.
func writeNow(w http.ResponseWriter, b []byte) {
	if _, err := w.Write(b); err != nil {
		panic(http.ErrAbortHandler)
	}
	if err := http.NewResponseController(w).Flush(); err != nil {
		panic(http.ErrAbortHandler)
	}
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
