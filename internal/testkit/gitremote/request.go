package gitremote

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/pktline"
)

// Kind is what a request asks for.
type Kind string

// The kinds of request, in a client's order.
const (
	FetchRefs Kind = "fetch-refs"
	Fetch     Kind = "fetch"
	PushRefs  Kind = "push-refs"
	Push      Kind = "push"
	Other     Kind = "other"
)

// Right is what a token allows.
type Right int

// The rights. Each includes those before it.
const (
	None Right = iota
	Read
	Write
)

// Request is one request to the server. Status and Bytes, the length of the body sent, are set once it is
// answered.
type Request struct {
	Kind       Kind
	Repository string // OWNER/NAME
	Nth        int    // 1 for the first request of this kind and repository
	User       string
	Authorized bool // the request carried credentials
	UserAgent  string
	Lines      []string  // of a fetch: want, have, shallow, deepen, filter
	Commands   []Command // of a push
	Status     int
	Bytes      int
}

// Command is one branch that a push moves. A hash of zeros means that the branch is absent.
type Command struct{ Ref, Old, New string }

// describe also reads the body, which holds the request's details.
func describe(r *http.Request) (Request, []byte, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return Request{}, nil, err
	}
	if r.Header.Get("Content-Encoding") == "gzip" {
		if body, err = gunzip(body); err != nil {
			return Request{}, nil, err
		}
		r.Header.Del("Content-Encoding")
	}
	user, _, authorized := r.BasicAuth()
	req := Request{Kind: Other, User: user, Authorized: authorized, UserAgent: r.UserAgent()}
	name, action := splitPath(r.URL.Path)
	req.Repository = name
	switch action {
	case "info/refs":
		switch r.URL.Query().Get("service") {
		case "git-upload-pack":
			req.Kind = FetchRefs
		case "git-receive-pack":
			req.Kind = PushRefs
		}
	case "git-upload-pack":
		req.Kind = Fetch
		req.Lines = linesOf(body)
	case "git-receive-pack":
		req.Kind = Push
		req.Commands = commandsOf(body)
	}
	return req, body, nil
}

// splitPath parses /OWNER/NAME.git/ACTION. Like GitHub, it accepts the path without .git.
func splitPath(p string) (name, action string) {
	parts := strings.SplitN(strings.TrimPrefix(p, "/"), "/", 3)
	if len(parts) < 3 {
		return "", ""
	}
	return parts[0] + "/" + strings.TrimSuffix(parts[1], ".git"), parts[2]
}

func gunzip(b []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// linesOf returns the lines without capabilities. A flush is "".
func linesOf(body []byte) []string {
	var lines []string
	for s := pktline.NewScanner(bytes.NewReader(body)); s.Scan(); {
		line := strings.TrimSuffix(string(s.Bytes()), "\n")
		if strings.HasPrefix(line, "want ") && len(line) > len("want ")+40 {
			line = line[:len("want ")+40]
		}
		lines = append(lines, line)
	}
	return lines
}

func commandsOf(body []byte) []Command {
	commands, _, _ := readPush(body)
	var all []Command
	for _, c := range commands {
		all = append(all, Command{Ref: c.Name.String(), Old: c.Old.String(), New: c.New.String()})
	}
	return all
}

// refusal returns the status for a request without the needed right, or 0.
func (s *Server) refusal(r *http.Request, req Request) int {
	need := Read
	if req.Kind == Push || req.Kind == PushRefs {
		need = Write
	}
	_, password, ok := r.BasicAuth()
	right, known := s.public, true
	if ok && s.rights != nil {
		right, known = s.rights[password]
	}
	switch {
	case !known, !ok && right < need:
		return http.StatusUnauthorized
	case right < need && right < Read:
		return http.StatusNotFound // GitHub hides what a token may not see
	case right < need:
		return http.StatusForbidden
	}
	return 0
}

func refuse(w http.ResponseWriter, status int, req Request) {
	switch status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", `Basic realm="gitremote"`)
		http.Error(w, "Invalid username or token.", status)
	case http.StatusForbidden:
		http.Error(w, "Permission to "+req.Repository+".git denied to "+strconv.Quote(req.User)+".", status)
	default:
		http.Error(w, "Repository not found.", status)
	}
}
