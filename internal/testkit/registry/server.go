// Package registry is an image registry inside the process, for tests and for the demo. It counts requests,
// delays answers, requires credentials, and breaks answers on purpose.
package registry

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/olmgraft/graft/internal/testkit/wire"

	"github.com/google/go-containerregistry/pkg/registry"
)

// Server is a registry on a loopback port, without TLS. Its settings may change while it serves.
type Server struct {
	// Addr is host:port.
	Addr string

	inner  http.Handler
	http   *http.Server
	closed chan struct{}

	wire.Log[Kind, Request]

	mu       sync.Mutex
	latency  time.Duration
	pageSize int
	auth     Auth
	tokens   map[string]*grant
	script   func(Request) Fault
}

// Kind is what a request asks for.
type Kind string

// The kinds of request.
const (
	Ping     Kind = "ping"
	Token    Kind = "token"
	Manifest Kind = "manifest"
	Blob     Kind = "blob"
	Tags     Kind = "tags"
	Upload   Kind = "upload"
	Other    Kind = "other"
)

// Request is one request to the server. Status and Bytes, the length of the body sent, are set once it is
// answered.
type Request struct {
	Kind       Kind
	Method     string
	Host       string
	Repository string
	Reference  string // the tag or digest of a manifest, the digest of a blob
	Nth        int    // 1 for the first request of this method and path
	Authorized bool   // the request carried credentials
	UserAgent  string
	Status     int
	Bytes      int64
}

// Start starts an empty registry. Close stops it.
func Start() (*Server, error) {
	s := &Server{
		inner:  registry.New(registry.Logger(log.New(io.Discard, "", 0))),
		closed: make(chan struct{}),
		tokens: map[string]*grant{},
	}
	s.Of = func(r Request) Kind { return r.Kind }
	var err error
	if s.Addr, s.http, err = wire.Serve(s); err != nil {
		return nil, err
	}
	return s, nil
}

// Close stops the server and cuts all answers in progress.
func (s *Server) Close() error {
	close(s.closed)
	return s.http.Close()
}

// Transport sends every request to this server, whatever its host and scheme, so that tests can name bundles
// quay.io/... or 127.0.0.1:5555/... The recorded request keeps the requested host.
func (s *Server) Transport() http.RoundTripper {
	return &redirector{base: &http.Transport{
		MaxIdleConnsPerHost: 64,
		DisableCompression:  true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "tcp", s.Addr)
		},
	}}
}

type redirector struct{ base *http.Transport }

func (r *redirector) RoundTrip(req *http.Request) (*http.Response, error) {
	to := req.Clone(req.Context())
	to.Header.Set("X-Forwarded-Proto", req.URL.Scheme)
	to.URL.Scheme = "http"
	resp, err := r.base.RoundTrip(to)
	if resp != nil {
		resp.Request = req
	}
	return resp, err
}

// CloseIdleConnections passes on the call of http.Client.CloseIdleConnections.
func (r *redirector) CloseIdleConnections() { r.base.CloseIdleConnections() }

// SetLatency delays the first byte of every answer.
func (s *Server) SetLatency(d time.Duration) { s.set(func() { s.latency = d }) }

// SetPageSize limits the tags in one answer. 0 means no limit.
func (s *Server) SetPageSize(n int) { s.set(func() { s.pageSize = n }) }

// SetScript sets the function that chooses the fault of each request. nil removes it.
func (s *Server) SetScript(fault func(Request) Fault) { s.set(func() { s.script = fault }) }

func (s *Server) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// Bytes returns the total size of the bodies sent since the start or the last Reset.
func (s *Server) Bytes() int64 {
	var n int64
	for _, r := range s.Requests() {
		n += r.Bytes
	}
	return n
}

// ServeHTTP answers one request according to the settings.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	req := describe(r)
	req.Nth = s.Nth(r.Method + " " + r.URL.Path)
	s.mu.Lock()
	latency, script := s.latency, s.script
	s.mu.Unlock()

	if !s.wait(r.Context(), latency) {
		panic(http.ErrAbortHandler)
	}
	var fault Fault
	if script != nil {
		fault = script(req)
	}
	reply := s.answer(r, req)
	s.record(&req, fault.change(reply))
	fault.send(s, w, r, reply)
}

// answer returns the answer of a sound registry with these settings.
func (s *Server) answer(r *http.Request, req Request) *wire.Reply {
	switch {
	case req.Kind == Token:
		return s.grantToken(r)
	case !s.authorized(r, req):
		return s.challenge(r, req)
	case req.Kind == Tags && r.Method == http.MethodGet:
		return s.listTags(r, req)
	}
	return s.direct(r)
}

// direct passes the request to the underlying registry.
func (s *Server) direct(r *http.Request) *wire.Reply {
	reply := wire.NewReply()
	s.inner.ServeHTTP(reply, r)
	return reply
}

func (s *Server) record(req *Request, reply *wire.Reply) {
	req.Status, req.Bytes = reply.Status, int64(reply.Body.Len())
	if req.Method == http.MethodHead {
		req.Bytes = 0
	}
	s.Add(*req)
}

// wait returns false if the server or the client went away.
func (s *Server) wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
	case <-s.closed:
	}
	return false
}

func describe(r *http.Request) Request {
	req := Request{
		Kind:       Other,
		Method:     r.Method,
		Host:       r.Host,
		Authorized: r.Header.Get("Authorization") != "",
		UserAgent:  r.UserAgent(),
	}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	n := len(parts)
	switch {
	case r.URL.Path == tokenPath:
		req.Kind = Token
	case n == 1 && parts[0] == "v2":
		req.Kind = Ping
	case n >= 4 && parts[n-2] == "manifests":
		req.Kind, req.Reference = Manifest, parts[n-1]
	case uploads(parts) > 0:
		req.Kind, req.Repository = Upload, strings.Join(parts[1:uploads(parts)], "/")
	case n >= 4 && parts[n-2] == "blobs":
		req.Kind, req.Reference = Blob, parts[n-1]
	case n >= 4 && parts[n-2] == "tags":
		req.Kind = Tags
	}
	if req.Kind == Manifest || req.Kind == Blob || req.Kind == Tags {
		req.Repository = strings.Join(parts[1:n-2], "/")
	}
	return req
}
