// Package wire holds the common parts of the testkit's servers: a loopback port, a buffered answer that a fault
// can change, and a log of requests.
package wire

import (
	"bytes"
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"sync"
)

// Serve serves a handler on a loopback port, without TLS, until the server is closed.
func Serve(h http.Handler) (addr string, server *http.Server, err error) {
	var config net.ListenConfig
	listener, err := config.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server = &http.Server{Handler: h, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = server.Serve(listener) }() // it ends by Close and returns an error that says so
	return listener.Addr().String(), server, nil
}

// Reply is an answer that is buffered so that a fault can change it.
type Reply struct {
	Status int
	Head   http.Header
	Body   bytes.Buffer
}

// NewReply returns an empty answer with status 200.
func NewReply() *Reply { return &Reply{Status: http.StatusOK, Head: http.Header{}} }

// Header implements http.ResponseWriter.
func (r *Reply) Header() http.Header { return r.Head }

// WriteHeader implements http.ResponseWriter.
func (r *Reply) WriteHeader(status int) { r.Status = status }

// Write implements http.ResponseWriter.
func (r *Reply) Write(b []byte) (int, error) { return r.Body.Write(b) }

// Reset resets the connection instead of answering.
func Reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	// With a linger time of 0, Close sends a reset.
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// Log holds the requests that a server answered. Of returns the kind of a request.
type Log[K comparable, R any] struct {
	Of func(R) K

	mu   sync.Mutex
	seen map[string]int
	all  []R
}

// Nth counts the requests with one key, from 1.
func (l *Log[K, R]) Nth(key string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen == nil {
		l.seen = map[string]int{}
	}
	l.seen[key]++
	return l.seen[key]
}

// Add logs a request.
func (l *Log[K, R]) Add(r R) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, r)
}

// Requests returns the requests since the start or the last Reset, in the order of their answers.
func (l *Log[K, R]) Requests() []R {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.all)
}

// Count returns the number of answered requests of the kinds, or of all kinds if none are given.
func (l *Log[K, R]) Count(kinds ...K) int {
	n := 0
	for _, r := range l.Requests() {
		if len(kinds) == 0 || slices.Contains(kinds, l.Of(r)) {
			n++
		}
	}
	return n
}

// Reset forgets the requests so far. The server keeps its content.
func (l *Log[K, R]) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all, l.seen = nil, nil
}
