package command_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/olmgraft/graft/internal/command"
	relay "github.com/olmgraft/graft/internal/relay/command"
)

// received holds the spans that a collector received, by service and name.
type received struct {
	mu    sync.Mutex
	spans map[string]string // their traces
}

// ServeHTTP accepts OTLP over HTTP.
func (r *received) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body := io.Reader(req.Body)
	if req.Header.Get("Content-Encoding") == "gzip" {
		unzipped, err := gzip.NewReader(body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = unzipped
	}
	text, err := io.ReadAll(body)
	var sent collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(text, &sent)
	}
	if err != nil || req.URL.Path != "/v1/traces" || req.Header.Get("Content-Type") != "application/x-protobuf" {
		http.Error(w, fmt.Sprint(req.URL, err), http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, from := range sent.GetResourceSpans() {
		name := ""
		for _, a := range from.GetResource().GetAttributes() {
			if a.GetKey() == "service.name" {
				name = a.GetValue().GetStringValue()
			}
		}
		for _, scope := range from.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				r.spans[name+": "+span.GetName()] = fmt.Sprintf("%x", span.GetTraceId())
			}
		}
	}
	answer, _ := proto.Marshal(&collector.ExportTraceServiceResponse{})
	w.Header().Set("Content-Type", "application/x-protobuf")
	_, _ = w.Write(answer)
}

type buffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// program is a graft-relay that serves until the test ends it.
type program struct {
	url string
	log *buffer
	end func() int
}

const secret = "0123456789abcdef0123"

// serve runs graft-relay with a GitHub that accepts all events, with more lines of configuration and with flags.
func serve(t *testing.T, env map[string]string, config string, flags ...string) *program {
	t.Helper()
	github := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	t.Cleanup(github.Close)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	dir := t.TempDir()
	file := filepath.Join(dir, "relay.yaml")
	text := fmt.Sprintf("listen: %q\nqueue: {dir: %s}\ngithub: {apiURL: %q}\nroutes: [{path: /hook, from: client_payload, secretEnv: SECRET}]\n"+
		"targets: [{images: ['quay.io/example/*'], repositories: [octo/catalog]}]\n%s", address, filepath.Join(dir, "queue"), github.URL, config)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &program{url: "http://" + address, log: &buffer{}}
	all := map[string]string{"SECRET": secret, "GITHUB_TOKEN": "t0ken"}
	for key, value := range env {
		all[key] = value
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan int, 1)
	go func() {
		stdio := command.IO{Out: io.Discard, Err: p.log, Env: func(key string) (string, bool) { v, ok := all[key]; return v, ok }}
		ended <- relay.Main(ctx, append([]string{"--config", file}, flags...), stdio)
	}()
	p.end = sync.OnceValue(func() int {
		cancel()
		return <-ended
	})
	t.Cleanup(func() { p.end() })
	for range 1000 {
		if resp, err := http.Get(p.url + "/healthz"); err == nil {
			_ = resp.Body.Close()
			return p
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("it does not serve\n%s", p.log)
	return nil
}

// announce sends an announcement and waits until it is dispatched.
func (p *program) announce(t *testing.T) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, p.url+"/hook", strings.NewReader(`{"image": "quay.io/example/op:v1"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", secret)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if _ = resp.Body.Close(); resp.StatusCode != http.StatusAccepted {
		t.Fatalf("%d\n%s", resp.StatusCode, p.log)
	}
	for range 1000 {
		if strings.Contains(p.log.String(), "dispatched") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("it is not dispatched\n%s", p.log)
}

// The collector named by the variable or by the configuration receives the whole trace before the program ends.
func TestCollector(t *testing.T) {
	for name, by := range map[string]func(url string) (env map[string]string, config string){
		"by the variable": func(url string) (map[string]string, string) {
			return map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": url}, ""
		},
		"by the variable for traces alone": func(url string) (map[string]string, string) {
			return map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": url + "/v1/traces"}, ""
		},
		"by the configuration": func(url string) (map[string]string, string) {
			return map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}, "tracing: {endpoint: " + url + "/}\n"
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := &received{spans: map[string]string{}}
			server := httptest.NewServer(got)
			defer server.Close()
			env, config := by(server.URL)
			p := serve(t, env, config)
			p.announce(t)
			p.end()
			hook := got.spans["graft-relay: POST /hook"]
			if len(got.spans) != 3 || hook == "" || got.spans["graft-relay: dispatch"] != hook || got.spans["graft-relay: queue put"] != hook {
				t.Errorf("%v\n%s", got.spans, p.log)
			}
		})
	}
}

// Without an address no spans are sent. An unreachable address leads to a line in the log and changes nothing
// else.
func TestNoCollector(t *testing.T) {
	for name, env := range map[string]map[string]string{
		"none": nil, "off": {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"},
		"no exporter": {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_TRACES_EXPORTER": "none"},
	} {
		p := serve(t, env, "")
		p.announce(t)
		p.end()
		if strings.Contains(p.log.String(), "trace") {
			t.Errorf("%s: %s", name, p.log)
		}
	}
	p := serve(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}, "")
	p.announce(t)
	if p.end(); !strings.Contains(p.log.String(), `"msg":"traces"`) {
		t.Errorf("%s", p.log)
	}
}

// The log is JSON by default, and text with a flag.
func TestLog(t *testing.T) {
	for flags, want := range map[string]string{"": `{"time":"`, "--log=json": `{"time":"`, "--log=text": "time="} {
		p := serve(t, nil, "", strings.Fields(flags)...)
		p.announce(t)
		p.end()
		for line := range strings.Lines(p.log.String()) {
			if !strings.HasPrefix(line, want) && !strings.Contains(line, "interrupted") && !strings.HasPrefix(line, "  ") {
				t.Errorf("%s: %s", flags, line)
			}
		}
	}
}
