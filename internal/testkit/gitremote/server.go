// Package gitremote is a git host inside the process, for tests and for the demo: bare repositories served over
// smart HTTP, with tokens, a log of the requests, and faults on purpose.
package gitremote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/olmgraft/graft/internal/testkit/wire"
)

// Backend selects the implementation of the git protocol.
type Backend int

// The backends. Auto is GitBackend if git and its http-backend are installed, else GoBackend, which needs no
// program.
const (
	Auto Backend = iota
	GitBackend
	GoBackend
)

// Options configure a server. Dir holds the repositories. If it is empty, they are in a temporary folder that
// Close removes.
type Options struct {
	Backend Backend
	Dir     string
}

// Server serves repositories on a loopback port, without TLS. Its settings may change while it serves.
type Server struct {
	// URL is http://HOST:PORT. A repository is at URL/OWNER/NAME.git.
	URL string

	backend backend
	kind    Backend
	dir     string
	temp    bool
	http    *http.Server

	wire.Log[Kind, Request]

	mu     sync.Mutex
	repos  map[string]*Repo
	rights map[string]Right
	public Right
	script func(Request) Fault
}

// backend answers one request that passed the checks.
type backend interface {
	serve(w http.ResponseWriter, r *http.Request, repo *Repo, kind Kind, body []byte)
}

// Start starts a server without repositories. Close stops it.
func Start(o Options) (*Server, error) {
	s := &Server{dir: o.Dir, repos: map[string]*Repo{}, public: Write}
	s.Of = func(r Request) Kind { return r.Kind }
	var err error
	if s.backend, s.kind, err = chooseBackend(o.Backend); err != nil {
		return nil, err
	}
	if s.dir == "" {
		if s.dir, err = os.MkdirTemp("", "gitremote-"); err != nil {
			return nil, err
		}
		s.temp = true
	}
	addr, server, err := wire.Serve(s)
	if err != nil {
		return nil, errors.Join(err, s.removeTemp())
	}
	s.URL, s.http = "http://"+addr, server
	return s, nil
}

func chooseBackend(want Backend) (backend, Backend, error) {
	if want == GoBackend {
		return goBackend{}, GoBackend, nil
	}
	git, err := findGit()
	switch {
	case err == nil:
		return gitBackend{git: git}, GitBackend, nil
	case want == Auto:
		return goBackend{}, GoBackend, nil
	}
	return nil, 0, err
}

// findGit finds a git that can serve. Some packages of git leave http-backend out.
func findGit() (string, error) {
	git, err := exec.LookPath("git")
	if err != nil {
		return "", err
	}
	out, err := exec.CommandContext(context.Background(), git, "--exec-path").Output()
	if err != nil {
		return "", fmt.Errorf("asking git for its programs: %w", err)
	}
	_, err = os.Stat(filepath.Join(strings.TrimSpace(string(out)), "git-http-backend"))
	return git, err
}

// Close stops the server and cuts all answers in progress.
func (s *Server) Close() error { return errors.Join(s.http.Close(), s.removeTemp()) }

func (s *Server) removeTemp() error {
	if !s.temp {
		return nil
	}
	return os.RemoveAll(s.dir)
}

// Backend returns the backend in use.
func (s *Server) Backend() Backend { return s.kind }

// SetScript sets the function that chooses the fault of each request. nil removes it. The function runs before
// the server looks at the request, so it may also move a branch.
func (s *Server) SetScript(decide func(Request) Fault) { s.set(func() { s.script = decide }) }

// SetTokens gives rights to passwords, whatever the user name, and the public right to requests without
// credentials. Before, everyone may do everything.
func (s *Server) SetTokens(public Right, tokens map[string]Right) {
	s.set(func() { s.public, s.rights = public, tokens })
}

func (s *Server) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// ServeHTTP answers one request according to the settings.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	req, body, err := describe(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	req.Nth = s.Nth(string(req.Kind) + " " + req.Repository)
	s.mu.Lock()
	repo, script := s.repos[req.Repository], s.script
	refusal := s.refusal(r, req)
	s.mu.Unlock()

	var fault Fault
	if script != nil {
		fault = script(req)
	}
	reply := wire.NewReply()
	switch {
	case fault.Status != 0 || fault.Reset:
		fault.fill(reply)
	case refusal != 0:
		refuse(reply, refusal, req)
	case repo == nil || req.Kind == Other:
		http.Error(reply, "Repository not found.", http.StatusNotFound)
	default:
		s.backend.serve(reply, r, repo, req.Kind, body)
	}
	req.Status, req.Bytes = reply.Status, reply.Body.Len()
	s.Add(req)
	fault.send(w, reply)
}
