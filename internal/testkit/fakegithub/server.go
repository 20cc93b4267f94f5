// Package fakegithub imitates GitHub inside the process, for tests and for the demo. It keeps repositories,
// branches, pull requests, labels and reviews, over real git objects in memory or in a bare repository on disk.
// It records the requests and fails on purpose. It serves the paths of api.github.com, and the same paths below
// /api/v3 as an Enterprise Server does.
package fakegithub

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Options configure a server.
type Options struct {
	// Observe receives every exchange as sent over the wire. status is 0 if the connection was cut.
	Observe func(req *http.Request, reqBody []byte, status int, header http.Header, body []byte)
	// Script returns the fault of a request, or nil. SetScript changes it.
	Script func(Request) *Fault
	// Now returns the time. nil uses the real clock.
	Now func() time.Time
	// Login is the account of all requests while no token was added. "" means graft-bot.
	Login string
}

// Request is a recorded request.
type Request struct {
	Method, Path, Query string
	// Route is the matching pattern, such as POST /repos/{owner}/{repo}/pulls, or "".
	Route string
	// Nth counts the requests of the route from 1.
	Nth   int
	Login string
	Body  []byte
	// Status is 0 until the request is answered, and if the connection was cut.
	Status int
}

// Server imitates GitHub. It implements http.Handler.
type Server struct {
	options Options

	mu         sync.Mutex
	ids        int64
	repos      map[string]*repository
	users      map[string]*user
	tokens     map[string]Identity
	apps       []GitHubApp
	suspended  map[int64]time.Time // installations, and since when
	dispatches []Dispatch
	signed     map[string]bool
	log        []Request
	seen       map[string]int
	script     func(Request) *Fault
}

// New returns a server without repositories.
func New(o Options) *Server {
	if o.Login == "" {
		o.Login = "graft-bot"
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Server{
		options: o,
		script:  o.Script,
		repos:   map[string]*repository{},
		users:   map[string]*user{},
		tokens:  map[string]Identity{}, suspended: map[int64]time.Time{},
		signed: map[string]bool{},
		seen:   map[string]int{},
	}
}

// SetScript sets the function that chooses the fault of each request. nil removes it.
func (s *Server) SetScript(decide func(Request) *Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = decide
}

// ServeHTTP serves the API below / and below /api/v3, and GraphQL at /graphql and /api/graphql.
func (s *Server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	at := req.URL.EscapedPath()
	if rest, ok := strings.CutPrefix(at, "/api/v3/"); ok {
		at = "/" + rest
	} else if at == "/api/graphql" {
		at = "/graphql"
	}
	s.serve(w, req, at, match(req, at))
}

// Requests returns the requests so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.log...)
}

// Count returns the number of requests of a route, or of all routes for "".
func (s *Server) Count(route string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if route == "" {
		return len(s.log)
	}
	return s.seen[route]
}

// serve records the request, asks the script, acts and answers.
func (s *Server) serve(w http.ResponseWriter, req *http.Request, path string, r *route) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	c := &call{s: s, r: req, path: path, body: body, now: s.options.Now().UTC().Truncate(time.Second)}
	record, at, script := s.record(c, r)
	var fault Fault
	if script != nil {
		if f := script(record); f != nil {
			fault = *f
		}
	}
	if fault.Delay > 0 {
		time.Sleep(fault.Delay)
	}
	var answer reply
	if fault.Acted || !fault.replaces() {
		s.mu.Lock()
		answer = c.answer(r)
		s.mu.Unlock()
	}
	if fault.replaces() {
		answer = fault.reply()
	}
	s.send(w, c, answer, fault, at)
}

func (s *Server) record(c *call, r *route) (record Request, at int, script func(Request) *Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.identify()
	record = Request{
		Method: c.r.Method, Path: c.path, Query: c.r.URL.RawQuery,
		Login: c.who.Login, Body: bytes.Clone(c.body),
	}
	if r != nil {
		record.Route = r.pattern
	}
	s.seen[record.Route]++
	record.Nth = s.seen[record.Route]
	s.log = append(s.log, record)
	return record, len(s.log) - 1, s.script
}

func (s *Server) send(w http.ResponseWriter, c *call, answer reply, fault Fault, at int) {
	header := http.Header{}
	header.Set("Date", c.now.Format(http.TimeFormat))
	header.Set("X-GitHub-Request-Id", strconv.Itoa(at+1))
	header.Set("X-RateLimit-Limit", "5000")
	header.Set("X-RateLimit-Remaining", strconv.Itoa(max(5000-at, 1)))
	header.Set("X-RateLimit-Used", strconv.Itoa(min(at, 4999)))
	header.Set("X-RateLimit-Reset", strconv.FormatInt(c.now.Add(time.Hour).Unix(), 10))
	header.Set("X-RateLimit-Resource", "core")
	for k, v := range answer.header {
		header[k] = v
	}
	var body []byte
	if answer.body != nil {
		header.Set("Content-Type", "application/json; charset=utf-8")
		body, _ = json.Marshal(answer.body) //nolint:errchkjson // all values are plain
	}
	status := answer.status
	if fault.Cut {
		status, header, body = 0, http.Header{}, nil
	}
	s.mu.Lock()
	s.log[at].Status = status
	s.mu.Unlock()
	if s.options.Observe != nil {
		s.options.Observe(c.r, c.body, status, header, body)
	}
	if fault.Cut {
		panic(http.ErrAbortHandler)
	}
	for k, v := range header {
		w.Header()[k] = v
	}
	w.WriteHeader(status)
	if fault.Truncate > 0 {
		_, _ = w.Write(body[:min(fault.Truncate, len(body))])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(body)
}

// call is one request in progress.
type call struct {
	s *Server
	r *http.Request
	// path is the request's path below the API's root.
	path string
	body []byte
	now  time.Time
	who  Identity
	// known is false for an invalid token.
	known bool
	repo  *repository
}

// answer checks the caller's permissions and acts. The server is locked.
func (c *call) answer(r *route) reply {
	if !c.known {
		return failed(http.StatusUnauthorized, "Bad credentials")
	}
	if r == nil {
		return failed(http.StatusNotFound, "Not Found")
	}
	if _, is := c.s.suspended[c.who.Installation]; is {
		return failed(http.StatusForbidden, "This installation has been suspended")
	}
	if owner := c.r.PathValue("owner"); owner != "" {
		c.repo = c.s.repos[key(owner, c.r.PathValue("repo"))]
		if c.repo == nil || !c.mayRead() {
			return failed(http.StatusNotFound, "Not Found")
		}
	}
	if refusal := c.mayUse(r); refusal != nil {
		return *refusal
	}
	return r.act(c)
}

func (s *Server) nextID() int64 {
	s.ids++
	return s.ids
}

func key(owner, name string) string { return strings.ToLower(owner + "/" + name) }
