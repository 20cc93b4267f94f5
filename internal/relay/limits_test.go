package relay

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/relay/queue"
	"github.com/olmgraft/graft/internal/relay/queue/file"
	"github.com/olmgraft/graft/internal/testkit/fakegithub"
)

// say writes bytes to the relay and reads one answer. It waits up to five seconds.
func (w *fixture) say(bytes string) (*http.Response, error) {
	w.t.Helper()
	conn, err := net.Dial("tcp", w.Addr())
	if err != nil {
		w.t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := conn.Write([]byte(bytes)); err != nil {
		return nil, err
	}
	return http.ReadResponse(bufio.NewReader(conn), nil)
}

// A request with too large a length, or from a stranger, is refused before its body is sent.
func TestRefusedBeforeTheBody(t *testing.T) {
	t.Parallel()
	w := begin(t, setup{config: map[string]string{"limits": "{body: 100, timeout: 30s}"}})
	for name, tt := range map[string]struct {
		head string
		want int
	}{
		"too long":         {"Authorization: " + secret + "\r\nContent-Length: 101", 413},
		"a stranger":       {"Content-Length: 100", 401},
		"a stranger, long": {"Content-Length: 1000000", 413},
		"a long head":      {"X: " + strings.Repeat("x", 30_000), 431},
	} {
		answer, err := w.say("POST /hook HTTP/1.1\r\nHost: x\r\n" + tt.head + "\r\n\r\n")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _ = answer.Body.Close(); answer.StatusCode != tt.want || !answer.Close {
			t.Errorf("%s: %d, the connection is closed: %v", name, answer.StatusCode, answer.Close)
		}
	}
	longest := `{"image": "quay.io/example/op:v1"}`
	if status, said := w.post("/hook", longest+strings.Repeat(" ", 100-len(longest)), "Authorization", secret); status != http.StatusAccepted {
		t.Errorf("as long as it may be: %d %s", status, said)
	}
}

// dial opens connections that send nothing.
func (w *fixture) dial(n int) (all []net.Conn) {
	w.t.Helper()
	for range n {
		conn, err := net.Dial("tcp", w.Addr())
		if err != nil {
			w.t.Fatal(err)
		}
		w.t.Cleanup(func() { _ = conn.Close() })
		all = append(all, conn)
	}
	return all
}

// If there are too many connections, the one that has waited longest without a request is closed. Requests in
// progress continue.
func TestConnections(t *testing.T) {
	t.Parallel()
	w := begin(t, setup{config: map[string]string{"limits": "{timeout: 1m, connections: 2}"}})
	head := "POST /hook HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: " + secret + "\r\nContent-Length: 33\r\n\r\n"
	busy := w.dial(1)[0]
	if _, err := busy.Write([]byte(head)); err != nil {
		t.Fatal(err)
	}
	w.until("its header is read", func() bool { return w.slots.users() == 1 })
	silent := w.dial(1)[0]
	answer, err := w.say("GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("there is no place for a third: %v", err)
	}
	_ = answer.Body.Close()
	_ = silent.SetReadDeadline(time.Now().Add(5 * time.Second))
	if _, err := io.Copy(io.Discard, silent); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the connection that waited longest is still open")
	}
	if _, err := busy.Write([]byte(`{"image": "quay.io/example/op:v"}`)); err != nil {
		t.Fatal(err)
	}
	if answer, err = http.ReadResponse(bufio.NewReader(busy), nil); err != nil || answer.StatusCode != http.StatusAccepted {
		t.Fatalf("the request in progress: %v", err)
	}
	_ = answer.Body.Close()
}

// Clients that never finish their headers keep no other client out.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	w := begin(t, setup{config: map[string]string{"limits": "{connections: 200}"}})
	defer slowClients(t.Context(), w.Addr(), 300)()
	for i := range 20 {
		if status, said := w.hook(fmt.Sprintf("quay.io/example/op:v%d", i)); status != http.StatusAccepted {
			t.Errorf("%d %s", status, said)
		}
	}
}

// slowClients repeatedly start headers and never finish them, until stop is called.
func slowClients(ctx context.Context, address string, n int) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for ctx.Err() == nil {
				conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
				if err != nil {
					continue
				}
				cut := context.AfterFunc(ctx, func() { _ = conn.Close() })
				_, _ = conn.Write([]byte("POST /hook HTTP/1.1\r\nHost: x\r\nX-Slow: "))
				_, _ = io.Copy(io.Discard, conn) // until it is closed
				_ = conn.Close()
				cut()
			}
		})
	}
	return func() {
		cancel()
		all.Wait()
	}
}

// One address gets its share of the slots and no more. Another address has its own share.
func TestSlotsOfOneAddress(t *testing.T) {
	t.Parallel()
	w := begin(t, setup{config: map[string]string{"limits": "{requests: 3, perAddress: 1, timeout: 1m, trustedProxies: [127.0.0.0/8]}"}})
	head := "POST /hook HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 203.0.113.9, 203.0.113.1, 127.0.0.5\r\nAuthorization: " + secret + "\r\nContent-Length: 33\r\n\r\n"
	if _, err := w.dial(1)[0].Write([]byte(head)); err != nil {
		t.Fatal(err)
	}
	w.until("its header is read", func() bool { return w.slots.users() == 1 })
	for from, want := range map[string]int{"203.0.113.1": 503, "203.0.113.9": 202, "203.0.113.1, 203.0.113.7": 202} {
		if status, said := w.post("/hook", `{"image": "quay.io/example/op:v`+from[len(from)-1:]+`"}`, "Authorization", secret, "X-Forwarded-For", from); status != want {
			t.Errorf("%s: %d %s, want %d", from, status, said, want)
		}
	}
}

func (s *slots) users() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, own := range s.shares {
		n += own.users
	}
	return n
}

// A client that stops sending is disconnected.
func TestSilence(t *testing.T) {
	t.Parallel()
	w := begin(t, setup{config: map[string]string{"limits": "{timeout: 100ms}"}})
	head := "POST /hook HTTP/1.1\r\nHost: x\r\nAuthorization: " + secret + "\r\nContent-Length: 9\r\n\r\n"
	for i, conn := range w.dial(3) {
		_, _ = conn.Write([]byte([]string{"", head[:20], head + "{"}[i]))
		_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
		if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the connection is still open: %v", err)
		}
	}
}

// Headers that senders get besides the status.
func TestHeaders(t *testing.T) {
	t.Parallel()
	w := begin(t, setup{config: map[string]string{"routes": "[{path: /azure, from: azure, secretEnv: SECRET}, {path: /hook, from: client_payload, secretEnv: SECRET}]"}})
	for _, tt := range []struct{ method, path, name, want string }{
		{"GET", "/hook", "Allow", "POST"},
		{"DELETE", "/metrics", "Allow", "GET, HEAD"},
		{"OPTIONS", "/azure", "WebHook-Allowed-Origin", "eventgrid.azure.net"},
		{"OPTIONS", "/hook", "WebHook-Allowed-Origin", ""},
		{"POST", "/hook", "Content-Type", "application/json"},
		{"GET", "/metrics", "Content-Type", "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"},
	} {
		answer := w.ask(tt.method, tt.path, strings.NewReader("{"), "Authorization", secret, "WebHook-Request-Origin", "eventgrid.azure.net")
		if _ = answer.Body.Close(); answer.Header.Get(tt.name) != tt.want {
			t.Errorf("%s %s: %d, %s is %q, want %q", tt.method, tt.path, answer.StatusCode, tt.name, answer.Header.Get(tt.name), tt.want)
		}
	}
}

// If probes and metrics have their own address, senders do not see them there, and the probes' address has no
// hooks.
func TestAdminListens(t *testing.T) {
	t.Parallel()
	w := begin(t, setup{config: map[string]string{"adminListen": `"127.0.0.1:0"`}})
	hooks, admin := w.url, "http://"+w.admin.Addr().String()
	for _, tt := range []struct {
		at, method, path string
		want             int
	}{
		{hooks, "POST", "/hook", 202}, {hooks, "GET", "/healthz", 404}, {hooks, "GET", "/readyz", 404}, {hooks, "GET", "/metrics", 404},
		{admin, "POST", "/hook", 405}, {admin, "GET", "/hook", 404}, {admin, "GET", "/healthz", 200}, {admin, "GET", "/readyz", 200}, {admin, "GET", "/metrics", 200},
	} {
		w.url = tt.at
		if status, _ := w.request(tt.method, tt.path, strings.NewReader(`{"image": "quay.io/example/op:v1"}`), "Authorization", secret); status != tt.want {
			t.Errorf("%s %s: %d, want %d", tt.method, tt.path, status, tt.want)
		}
	}
}

// If the disk fails, the relay accepts nothing and ends with the cause.
func TestDiskFails(t *testing.T) {
	t.Parallel()
	w := begin(t, setup{script: func(fakegithub.Request) *fakegithub.Fault { return fakegithub.ServerError(503, false) }})
	if err := w.end(); err != nil {
		t.Fatal(err)
	}
	r, err := Open(t.Context(), w.config, w.options())
	if err != nil {
		t.Fatal(err)
	}
	var disk *os.File
	_ = r.queue.Close()
	r.queue, err = file.Open(file.Options{Dir: w.queue, MaxItems: 9, MaxBytes: 1 << 20, OpenFile: func(name string, flag int, mode os.FileMode) (_ *os.File, err error) {
		disk, err = os.OpenFile(name, flag, mode)
		return disk, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	ready := func() string {
		out := httptest.NewRecorder()
		r.serveAdmin(out, httptest.NewRequest(http.MethodGet, "/readyz", nil))
		return fmt.Sprint(out.Code, " ", out.Body)
	}
	if got := ready(); got != "200 ok\n" {
		t.Errorf("it is %s", got)
	}
	_ = disk.Close()
	if res := r.accept(t.Context(), r.routes["/hook"], []queue.Entry{{Key: "a", Data: []byte(`{}`)}}); res.status != 503 || res.Reason != "writing to the queue failed" || res.Accepted != 0 {
		t.Errorf("it was answered with %+v", res)
	}
	if got := ready(); got != "503 the queue is broken\n" {
		t.Errorf("it is %s", got)
	}
	if err := r.Run(t.Context()); !failure.Is(err, failure.Usage) || !strings.Contains(err.Error(), "writing to the queue") {
		t.Errorf("it ended with %v", err)
	}
	if got := ready(); got != "503 stopping\n" {
		t.Errorf("it is %s", got)
	}
	if r, err = Open(t.Context(), w.config, w.options()); err != nil {
		t.Fatalf("after its end the folder is not free: %v", err)
	}
	if err := release(r); err != nil {
		t.Error(err)
	}
}

func release(r *Relay) error {
	_ = r.listener.Close()
	return r.queue.Close()
}

// A failed Open leaves nothing open.
func TestAddressIsTaken(t *testing.T) {
	t.Parallel()
	w := begin(t, setup{})
	if err := w.end(); err != nil {
		t.Fatal(err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	free := freeAddress(t)
	for _, listen := range [][2]string{{taken.Addr().String(), ""}, {free, taken.Addr().String()}} {
		c := *w.config
		c.Listen, c.AdminListen = listen[0], listen[1]
		if _, err := Open(t.Context(), &c, w.options()); !failure.Is(err, failure.Usage) || !strings.Contains(err.Error(), "listening") {
			t.Errorf("%v", err)
		}
	}
	c := *w.config
	c.Listen = free
	r, err := Open(t.Context(), &c, w.options())
	if err != nil {
		t.Fatal(err)
	}
	if err := release(r); err != nil {
		t.Error(err)
	}
}
