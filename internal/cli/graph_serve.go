package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"mime"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/olmgraft/graft/internal/explorer"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/graph"
)

// graphPath is the path of the Cincinnati protocol.
const graphPath = "/api/upgrades_info/v1/graph"

// graphServer serves the explorer of catalogs, and a single catalog with the Cincinnati protocol. It reads the
// catalogs again on a request after some time; for the explorer, as soon as their files change. While they are
// unreadable, it serves the last content.
type graphServer struct {
	read  func(ctx context.Context) ([]explorer.Platform, error)
	stamp func() string // of the files
	say   func(error)
	every time.Duration
	shown explorer.Options
	name  string                 // of an operand
	hosts func(host string) bool // reports whether a request's Host may name this server

	mu        sync.Mutex
	platforms []explorer.Platform
	since     time.Time
	stamped   string
	trouble   string // why the served content is not the present one
	page      []byte // of the platforms, made on demand
	version   string // of the page
}

func (a *app) serveGraph(ctx context.Context, o *graphOptions, names []string) error {
	if slices.Contains(names, "-") || o.base == "-" {
		return failure.New(failure.Usage, "reading the command line: --serve reads its catalogs again, and standard input can be read once").Fix("Name a file or a directory.")
	}
	s := &graphServer{every: o.refresh, name: o.operand, say: a.PrintFailures,
		shown: explorer.Options{Package: o.picture.Package, Channel: o.picture.Channel, Live: true}}
	s.read = func(ctx context.Context) ([]explorer.Platform, error) { return o.explored(ctx, names) }
	sources, err := o.sources(names)
	if err != nil {
		return err
	}
	s.stamp = func() string { return stampOf(sources) }
	all, err := s.current(ctx)
	if err == nil {
		err = o.served(all, names)
	}
	if err != nil {
		return err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", o.serve)
	if err != nil {
		return failure.New(failure.Usage, "serving the graph: %w", err).Fix("Give --serve with a free address of this machine, such as 127.0.0.1:8080.")
	}
	s.hosts = namesOf(o.serve, listener.Addr())
	server := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, ErrorLog: log.New(a.Err, "graft: ", 0),
		BaseContext: func(net.Listener) context.Context { return ctx }}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	fmt.Fprintf(a.Err, "graft: serving the explorer at http://%s/\n", listener.Addr())
	if len(names) == 1 {
		fmt.Fprintf(a.Err, "graft: serving the Cincinnati protocol at http://%s%s\n", listener.Addr(), graphPath)
	}
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return failure.New(failure.Usage, "serving the graph: %w", err)
	}
	return nil // a stop is the normal end
}

// namesOf returns which hosts a request may ask for. A server on a loopback address is for one machine alone. It
// accepts only names that always lead to that machine: the page of a foreign site can have its own name lead here
// (DNS rebinding), and would read the catalogs.
func namesOf(given string, listens net.Addr) func(host string) bool {
	if tcp, ok := listens.(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() {
		return func(string) bool { return true }
	}
	own, _, _ := net.SplitHostPort(given) // it listens there
	return func(host string) bool {
		name, _, err := net.SplitHostPort(host)
		if err != nil {
			name = strings.Trim(host, "[]") // without a port
		}
		name = strings.ToLower(strings.TrimSuffix(name, "."))
		return name == "localhost" || strings.HasSuffix(name, ".localhost") || net.ParseIP(name) != nil || strings.EqualFold(name, own)
	}
}

// served refuses arguments for which no request could succeed.
func (o *graphOptions) served(all []explorer.Platform, names []string) error {
	if o.operand != "" {
		_, err := o.cincinnati(all[0].Catalog)
		return err
	}
	return o.shows(all, names)
}

// current returns the catalogs, and reads them again if they are old.
func (s *graphServer) current(ctx context.Context) ([]explorer.Platform, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.load(ctx, s.stamped)
	return s.platforms, err
}

// load reads the catalogs if they are old or their files have changed.
func (s *graphServer) load(ctx context.Context, stamp string) error {
	if s.platforms != nil && stamp == s.stamped && time.Since(s.since) < s.every {
		return nil
	}
	all, err := s.read(ctx)
	if err != nil && s.platforms == nil {
		return err
	}
	if s.since, s.stamped, s.trouble = time.Now(), stamp, ""; err != nil {
		s.say(err)
		s.trouble = troubleOf(err)
		return nil
	}
	s.platforms, s.page = all, nil
	return nil
}

// ServeHTTP answers with the graph of a channel, or with an error in the protocol's form.
func (s *graphServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Vary", "Accept")
	switch {
	case !s.hosts(r.Host):
		refuse(w, http.StatusMisdirectedRequest, "invalid_params", "this server is for this machine alone; give its address as localhost or as an IP address")
		return
	case r.URL.Path == "/" || r.URL.Path == eventsPath:
		s.serveExplorer(w, r)
		return
	case r.URL.Path != graphPath:
		refuse(w, http.StatusNotFound, "does_not_exist", "the explorer is at /, and the graph at "+graphPath)
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed, "invalid_params", "the method is neither GET nor HEAD")
		return
	case !acceptsJSON(r.Header.Values("Accept")):
		refuse(w, http.StatusNotAcceptable, "invalid_content_type", "the graph is application/json, which the request does not accept")
		return
	}
	channel := r.URL.Query().Get("channel")
	if channel == "" {
		refuse(w, http.StatusBadRequest, "missing_params", "the parameter channel is missing")
		return
	}
	// A client that disconnects must not cancel the read for the others.
	all, err := s.current(context.WithoutCancel(r.Context()))
	if err == nil && len(all) > 1 {
		err = failure.New(failure.Usage, "drawing for Cincinnati: %d catalogs are served, not one", len(all))
	}
	if err == nil {
		var body []byte
		o := &graphOptions{operand: s.name, picture: graph.PictureOptions{Package: s.shown.Package, Channel: channel}}
		if body, err = o.cincinnati(all[0].Catalog); err == nil {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Cache-Control", "no-cache")
			w.Header().Set("ETag", fmt.Sprintf("%q", fmt.Sprintf("%x", sha256.Sum256(body))))
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
			return
		}
	}
	refuse(w, http.StatusInternalServerError, "failed_plugin_execution", failure.Of(err).Message)
}

func refuse(w http.ResponseWriter, status int, kind, value string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"kind": kind, "value": value}) // the client may be gone
}

// acceptsJSON reports whether a client accepts application/json, by the most specific matching range, or
// because it names none.
func acceptsJSON(headers []string) bool {
	best, accepted := 0, len(headers) == 0
	for _, part := range strings.Split(strings.Join(headers, ","), ",") {
		media, params, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		rank := map[string]int{"*/*": 1, "application/*": 2, "application/json": 3}[media]
		q := 1.0
		if text, ok := params["q"]; ok {
			if q, err = strconv.ParseFloat(text, 64); err != nil {
				continue
			}
		}
		if rank > best {
			best, accepted = rank, q > 0
		}
	}
	return accepted
}
