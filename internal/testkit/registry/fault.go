package registry

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/olmgraft/graft/internal/testkit/wire"
)

// Fault describes a fault of one answer. The zero Fault means none.
type Fault struct {
	// Status answers with this status and an error body.
	Status int
	// Header is set on the answer and replaces present values. "" removes a key.
	Header map[string]string
	// Alter changes the body. The announced length is that of the result.
	Alter func([]byte) []byte
	// Truncate announces the whole body, sends this many bytes of it and closes the connection. A negative
	// number sends none.
	Truncate int
	// Stall sends half of the body, and the rest after this time.
	Stall time.Duration
	// Reset resets the connection instead of answering.
	Reset bool
}

// jsonReply panics on a value that JSON cannot hold. All callers pass known values.
func jsonReply(value any) *wire.Reply {
	body, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	r := wire.NewReply()
	r.Head.Set("Content-Type", "application/json")
	r.Body.Write(body)
	return r
}

func errorReply(status int, code, message string) *wire.Reply {
	r := jsonReply(map[string]any{"errors": []any{map[string]string{"code": code, "message": message}}})
	r.Status = status
	return r
}

// change applies the fault to the bytes of the answer.
func (f Fault) change(r *wire.Reply) *wire.Reply {
	if f.Status != 0 {
		*r = *errorReply(f.Status, faultCode(f.Status), http.StatusText(f.Status))
	}
	if f.Alter != nil {
		body := f.Alter(bytes.Clone(r.Body.Bytes()))
		r.Body.Reset()
		r.Body.Write(body)
	}
	for k, v := range f.Header {
		if v == "" {
			r.Head.Del(k)
			continue
		}
		r.Head.Set(k, v)
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

// send writes the answer with the fault.
func (f Fault) send(s *Server, w http.ResponseWriter, r *http.Request, reply *wire.Reply) {
	if f.Reset {
		wire.Reset(w)
		return
	}
	for k, v := range reply.Head {
		w.Header()[k] = v
	}
	body := reply.Body.Bytes()
	if r.Method != http.MethodHead {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	w.WriteHeader(reply.Status)
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

// writeNow aborts the answer if the client is gone.
func writeNow(w http.ResponseWriter, b []byte) {
	if _, err := w.Write(b); err != nil {
		panic(http.ErrAbortHandler)
	}
	if err := http.NewResponseController(w).Flush(); err != nil {
		panic(http.ErrAbortHandler)
	}
}
