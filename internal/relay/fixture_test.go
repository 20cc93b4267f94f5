package relay

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/olmgraft/graft/internal/testkit/fakegithub"
	"github.com/olmgraft/graft/internal/testkit/fakegithub/api"
)

const (
	secret  = "correct-horse-battery-staple"
	ghToken = "ghp_0123456789abcdefghij"
)

// fixture is a relay with a GitHub.
type fixture struct {
	*Relay
	t     *testing.T
	hub   *fakegithub.Server
	url   string
	log   *logBuffer
	env   map[string]string
	end   func() error
	queue string

	resolve func(context.Context, string) (string, error)
	grace   time.Duration
	traces  trace.TracerProvider
	agent   atomic.Value // the last user agent that asked GitHub
}

type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// setup is the difference of a fixture from the usual one. Lines of the configuration replace those with the
// same key.
type setup struct {
	config map[string]string
	github map[string]string
	script func(fakegithub.Request) *fakegithub.Fault
	env    map[string]string
	hub    func(*fakegithub.Server)
	// resolve answers for the registries.
	resolve func(context.Context, string) (string, error)
	// grace replaces five seconds.
	grace time.Duration
	// traces receives the spans.
	traces trace.TracerProvider
}

// usual returns a configuration whose window includes the events of the test data.
func usual() map[string]string {
	return map[string]string{
		"listen":       `"127.0.0.1:0"`,
		"replayWindow": "500000h",
		"routes":       "[{path: /quay, from: quay, secretEnv: SECRET}, {path: /hook, from: client_payload, secretEnv: SECRET}]",
		"targets":      `[{images: ["quay.io/example/*"], repositories: [octo/catalog]}]`,
	}
}

func (s setup) yaml(t *testing.T, api string) string {
	all := usual()
	all["queue"] = "{dir: " + filepath.Join(t.TempDir(), "queue") + "}"
	github := map[string]string{"apiURL": api, "pace": "0s", "firstRetry": "1ms", "longestRetry": "20ms"}
	maps.Copy(github, s.github)
	maps.Copy(all, s.config)
	var out strings.Builder
	for key, value := range all {
		out.WriteString(key + ": " + value + "\n")
	}
	out.WriteString("github:\n")
	for key, value := range github {
		out.WriteString("  " + key + ": " + value + "\n")
	}
	return out.String()
}

func begin(t *testing.T, s setup) *fixture {
	t.Helper()
	w := &fixture{t: t, traces: s.traces, log: &logBuffer{}, resolve: s.resolve, grace: cmp.Or(s.grace, 5*time.Second), env: map[string]string{"SECRET": secret, "GITHUB_TOKEN": ghToken}}
	maps.Copy(w.env, s.env)
	w.hub = fakegithub.New(fakegithub.Options{Script: s.script, Observe: api.Observer(t)})
	for _, name := range []string{"catalog", "other"} {
		if err := w.hub.AddRepository(fakegithub.Repository{Owner: "octo", Name: name, Files: map[string]string{"a": "b"}}); err != nil {
			t.Fatal(err)
		}
	}
	w.hub.AddToken(ghToken, fakegithub.Identity{Login: "octo"})
	if s.hub != nil {
		s.hub(w.hub)
	}
	api := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.agent.Store(r.UserAgent())
		w.hub.ServeHTTP(out, r)
	}))
	t.Cleanup(api.Close)
	c, err := Parse("relay.yaml", []byte(s.yaml(t, api.URL)))
	if err != nil {
		t.Fatal(err)
	}
	w.serve(c)
	return w
}

// serve opens a relay with the configuration and runs it until end or the end of the test.
func (w *fixture) serve(c *Config) {
	w.t.Helper()
	w.queue = c.Queue.Dir
	r, err := Open(w.t.Context(), c, w.options())
	if err != nil {
		w.t.Fatal(err)
	}
	w.Relay, w.url = r, "http://"+r.Addr()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	w.end = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	w.t.Cleanup(func() {
		if err := w.end(); err != nil {
			w.t.Error(err)
		}
	})
}

func (w *fixture) options() Options {
	return Options{
		Env:    func(key string) (string, bool) { v, ok := w.env[key]; return v, ok },
		Log:    slog.New(slog.NewJSONHandler(w.log, nil)),
		Traces: w.traces, Grace: w.grace, Resolve: w.resolve, UserAgent: "graft/test",
	}
}

// post sends a body. head has pairs of header names and values.
func (w *fixture) post(path, body string, head ...string) (int, string) {
	w.t.Helper()
	return w.request(http.MethodPost, path, strings.NewReader(body), head...)
}

func (w *fixture) request(method, path string, body io.Reader, head ...string) (int, string) {
	w.t.Helper()
	resp := w.ask(method, path, body, head...)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp.StatusCode, strings.TrimSpace(string(text))
}

func (w *fixture) ask(method, path string, body io.Reader, head ...string) *http.Response {
	w.t.Helper()
	req, err := http.NewRequest(method, w.url+path, body)
	if err != nil {
		w.t.Fatal(err)
	}
	for i := 0; i+1 < len(head); i += 2 {
		req.Header.Set(head[i], head[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp
}

// hook sends a client_payload for an image.
func (w *fixture) hook(image string) (int, string) {
	w.t.Helper()
	return w.post("/hook", `{"image": "`+image+`"}`, "Authorization", secret)
}

// until waits for a condition.
func (w *fixture) until(what string, is func() bool) {
	w.t.Helper()
	for range 6000 {
		if is() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	w.t.Fatalf("waited in vain until %s\n%s", what, w.log)
}

// metric returns the value of a line of the metrics.
func (w *fixture) metric(name string) float64 {
	w.t.Helper()
	_, text := w.request(http.MethodGet, "/metrics", nil)
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			value, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
			if err != nil {
				w.t.Fatal(err)
			}
			return value
		}
	}
	return 0
}

// settled waits until the queue is empty.
func (w *fixture) settled() {
	w.t.Helper()
	w.until("the queue is empty", func() bool { return w.metric("graft_relay_queue_items") == 0 })
}

func testdata(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile("../event/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
