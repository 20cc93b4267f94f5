package relay

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/olmgraft/graft/internal/event"
	"github.com/olmgraft/graft/internal/relay/queue"
)

// retryAfter is how long senders should wait while the queue is full.
const retryAfter = "30"

// headerTime limits the time for a header.
const headerTime = 3 * time.Second

func (r *Relay) servers() map[net.Listener]*http.Server {
	server := func(h http.Handler) *http.Server {
		t := r.config.Limits.Timeout
		return &http.Server{
			Handler: h, ReadHeaderTimeout: min(t, headerTime), ReadTimeout: t, WriteTimeout: 2*t + 10*time.Second, IdleTimeout: 2 * t,
			MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(r.log.Handler(), slog.LevelWarn),
		}
	}
	hooks := server(http.HandlerFunc(r.serveHooks))
	hooks.ConnState = r.listener.state
	servers := map[net.Listener]*http.Server{r.listener: hooks}
	if r.admin == nil {
		hooks.Handler = http.HandlerFunc(r.serveAll)
	} else {
		servers[r.admin] = server(http.HandlerFunc(r.serveAdmin))
	}
	return servers
}

func (r *Relay) serveAll(w http.ResponseWriter, req *http.Request) {
	switch req.URL.Path {
	case "/healthz", "/readyz", "/metrics":
		r.serveAdmin(w, req)
	default:
		r.serveHooks(w, req)
	}
}

func (r *Relay) serveAdmin(w http.ResponseWriter, req *http.Request) {
	if req.Method != http.MethodGet && req.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	switch req.URL.Path {
	case "/healthz":
		_, _ = io.WriteString(w, "ok\n")
	case "/readyz":
		why := r.queue.State(req.Context()).Refuses
		if r.stopping.Load() {
			why = "stopping"
		}
		if why != "" {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, why+"\n")
			return
		}
		_, _ = io.WriteString(w, "ok\n")
	case "/metrics":
		r.metrics.handler(r.log).ServeHTTP(w, req)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// result is the answer to an authenticated sender. Others get only a status.
type result struct {
	status     int
	Result     string `json:"result,omitempty"`
	Reason     string `json:"reason,omitempty"`
	Accepted   int    `json:"accepted,omitempty"`
	Duplicates int    `json:"duplicates,omitempty"`
	// Validation is Event Grid's code that confirms the address.
	Validation string `json:"validationResponse,omitempty"`
}

// serveHooks answers a sender. It does not log the path, which may contain a secret.
func (r *Relay) serveHooks(w http.ResponseWriter, req *http.Request) {
	begun := time.Now()
	route, rest := r.find(req.URL.Path)
	if route == nil {
		r.metrics.request("", http.StatusNotFound)
		w.WriteHeader(http.StatusNotFound)
		return
	}
	res := r.hook(w, req, route, rest, begun)
	r.metrics.request(route.Path, res.status)
	r.log.Info("request", "route", route.Path, "status", res.status, "result", res.Result, "reason", res.Reason,
		"accepted", res.Accepted, "duplicates", res.Duplicates, "took", time.Since(begun).Round(time.Microsecond).String())
	if res.status >= http.StatusBadRequest {
		// The relay does not wait for the rest of a stranger's request.
		w.Header().Set("Connection", "close")
	}
	if res.Result == "" && res.Validation == "" {
		w.WriteHeader(res.status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(res.status)
	_ = json.NewEncoder(w).Encode(res)
}

// find returns the route of a path. One more segment may follow a route whose secret may be in the address.
func (r *Relay) find(path string) (*route, string) {
	if route := r.routes[path]; route != nil {
		return route, ""
	}
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return nil, ""
	}
	if route := r.routes[path[:i]]; route != nil && route.Proof == event.ByURL {
		return route, path[i+1:]
	}
	return nil, ""
}

// hook checks in the order of cost: the method, the length, a proof without the body, the body, a proof with it.
func (r *Relay) hook(w http.ResponseWriter, req *http.Request, route *route, rest string, begun time.Time) result {
	greeting := req.Method == http.MethodOptions && route.handshakes()
	switch {
	case req.Method != http.MethodPost && !greeting:
		w.Header().Set("Allow", http.MethodPost)
		return result{status: http.StatusMethodNotAllowed}
	case req.ContentLength > r.config.Limits.Body:
		return result{status: http.StatusRequestEntityTooLarge}
	case !route.coversBody() && !route.proven(req, rest, nil, time.Now()):
		return result{status: http.StatusUnauthorized}
	case greeting:
		w.Header().Set("WebHook-Allowed-Origin", req.Header.Get("WebHook-Request-Origin"))
		return result{status: http.StatusOK}
	}
	release, ok := r.slots.take(req.Context(), sender(req, r.proxies))
	if !ok {
		w.Header().Set("Retry-After", "1")
		return result{status: http.StatusServiceUnavailable}
	}
	defer release()
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, r.config.Limits.Body))
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		return result{status: http.StatusRequestEntityTooLarge}
	case err != nil:
		return result{status: http.StatusRequestTimeout}
	case route.coversBody() && !route.proven(req, rest, body, time.Now()):
		return result{status: http.StatusUnauthorized}
	}
	ctx, span := r.traces.webhook(req, route, begun)
	res := r.announce(req.WithContext(ctx), route, body)
	answer(span, res)
	if res.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", retryAfter)
	}
	return res
}

// accept puts entries into the queue and answers once they are stored.
func (r *Relay) accept(ctx context.Context, route *route, entries []queue.Entry) result {
	for _, e := range entries {
		if !r.dispatcher.hasRoom(e.From) {
			return result{status: http.StatusServiceUnavailable, Result: "refused", Reason: "too many announcements of " + e.From + " are waiting"}
		}
	}
	ctx, span := r.traces.put(ctx, len(entries))
	items, duplicates, err := r.queue.Put(ctx, entries...)
	ended(span, err)
	switch {
	case errors.Is(err, queue.ErrFull):
		return result{status: http.StatusServiceUnavailable, Result: "refused", Reason: err.Error()}
	case err != nil:
		r.log.Error("storing an announcement failed", "route", route.Path, "error", err.Error())
		return result{status: http.StatusServiceUnavailable, Result: "refused", Reason: "writing to the queue failed"}
	}
	r.metrics.announced(route.Path, accepted, len(items))
	r.metrics.announced(route.Path, duplicate, duplicates)
	for _, item := range items {
		var l delivery
		_ = json.Unmarshal(item.Data, &l) // made here
		r.log.Info("accepted", "route", route.Path, "image", l.Image, "to", l.To, "id", l.ID)
	}
	if len(items) == 0 {
		return result{status: http.StatusOK, Result: duplicate, Duplicates: duplicates}
	}
	return result{status: http.StatusAccepted, Result: accepted, Accepted: len(items), Duplicates: duplicates}
}
