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
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/graph"
)

// graphPath is where clients of the Cincinnati protocol ask.
const graphPath = "/api/upgrades_info/v1/graph"

// graphServer answers for one catalog, which it reads again when it is asked after some
// time. While the catalog cannot be read, what was read before is served.
type graphServer struct {
	read  func(ctx context.Context) (*graph.Catalog, error)
	say   func(error)
	every time.Duration
	pkg   string
	name  string // of an operand

	mu      sync.Mutex
	catalog *graph.Catalog
	since   time.Time
}

func (a *app) serveGraph(ctx context.Context, o *graphOptions, name string) error {
	if name == "-" || o.base != "" {
		return failure.New(failure.Usage, "reading the command line: --serve reads its catalog again, so that it is not standard input, and compares with none")
	}
	s := &graphServer{every: o.refresh, pkg: o.picture.Package, name: o.operand, say: a.PrintFailures}
	s.read = func(ctx context.Context) (*graph.Catalog, error) {
		c, err := o.catalogs.Graph(ctx, name)
		if err != nil {
			return nil, err
		}
		return c, readable(c)
	}
	c, err := s.current(ctx)
	if err == nil {
		_, err = o.cincinnati(c)
	}
	if err != nil {
		return err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", o.serve)
	if err != nil {
		return failure.New(failure.Usage, "serving the graph: %w", err).Fix("Give --serve with a free address of this machine, such as 127.0.0.1:8080.")
	}
	server := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, ErrorLog: log.New(a.Err, "graft: ", 0),
		BaseContext: func(net.Listener) context.Context { return ctx }}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	fmt.Fprintf(a.Err, "graft: serving http://%s%s\n", listener.Addr(), graphPath)
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return failure.New(failure.Usage, "serving the graph: %w", err)
	}
	return nil // to be stopped is how it is meant to end
}

// readable fails where a document of the catalog cannot be read, as while it is written.
func readable(c *graph.Catalog) error {
	for _, f := range graph.Verify(c, nil, graph.Levels{}) {
		if f.ID == "document-unreadable" {
			return failure.New(failure.TemplateMalformed, "reading the catalog: %s", f.Message).At(f.File, f.Line, 0)
		}
	}
	return nil
}

// current is the catalog, read again where that was long ago.
func (s *graphServer) current(ctx context.Context) (*graph.Catalog, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.catalog != nil && time.Since(s.since) < s.every {
		return s.catalog, nil
	}
	c, err := s.read(ctx)
	if err != nil && s.catalog == nil {
		return nil, err
	}
	if s.since = time.Now(); err != nil {
		s.say(err)
		return s.catalog, nil
	}
	s.catalog = c
	return c, nil
}

// ServeHTTP answers with the graph of a channel, or with an error as the protocol has it.
func (s *graphServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Vary", "Accept")
	switch {
	case r.URL.Path != graphPath:
		refuse(w, http.StatusNotFound, "does_not_exist", "the graph is at "+graphPath)
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
	// A client that goes away must not keep the others from what is read.
	c, err := s.current(context.WithoutCancel(r.Context()))
	if err == nil {
		var body []byte
		o := &graphOptions{operand: s.name, picture: graph.PictureOptions{Package: s.pkg, Channel: channel}}
		if body, err = o.cincinnati(c); err == nil {
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

// acceptsJSON tells whether a client takes application/json: by the most particular of the
// ranges that it names, and where it names none.
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
