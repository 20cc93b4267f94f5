package relay

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/testkit/effort"
	"github.com/olmgraft/graft/internal/testkit/fakegithub"
)

// attackers is the number of concurrent attackers. The relay waits a quarter of a second for each slow one.
const attackers = 128

// TestHostile sends up to ten thousand hostile requests, a fifth of each kind: too long, too slow, wrongly
// signed, malformed, replayed. The relay accepts none, and afterwards has as many goroutines, as much heap and
// the same queue as before. Meanwhile it accepts a valid announcement.
func TestHostile(t *testing.T) {
	requests := effort.Of(t, 500, 1000, 10_000)
	w := begin(t, setup{
		config: map[string]string{
			"routes":  "[{path: /hook, from: client_payload, secretEnv: SECRET}, {path: /github, from: github, secretEnv: SECRET}]",
			"targets": everything, "limits": "{body: 65536, timeout: 250ms, connections: 256}",
		},
		script: func(fakegithub.Request) *fakegithub.Fault { return fakegithub.ServerError(503, false) },
		github: map[string]string{"firstRetry": "1h", "longestRetry": "1h"},
	})
	replayed := testdata(t, "package.json")
	signed := []string{"X-GitHub-Event", "package", "X-GitHub-Delivery", "d-1", "X-Hub-Signature-256", signature(replayed, secret)}
	if status, said := w.post("/github", replayed, signed...); status != 202 {
		t.Fatalf("%d %s", status, said)
	}
	w.until("it was tried", func() bool { return w.hub.Count(dispatches) == 1 })
	attack(t, w, attackers*5, replayed, signed) // the first requests leave buffers and pools
	before := measure(w, 0)
	answers := attack(t, w, requests, replayed, signed)
	after := measure(w, before.goroutines)
	t.Logf("%d hostile requests: %s", requests, answers)
	t.Logf("before %d goroutines and %d bytes of heap, after %d and %d", before.goroutines, before.heap, after.goroutines, after.heap)
	if after.items != before.items || after.file != before.file {
		t.Errorf("the queue changed")
	}
	if after.goroutines > before.goroutines {
		t.Errorf("%d goroutines more", after.goroutines-before.goroutines)
	}
	if grown := int64(after.heap) - int64(before.heap); grown > int64(max(1000, requests))*128 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
	if status, said := w.post("/github", strings.Replace(replayed, "v1.4.0", "v1.4.1", 1), signed...); status != 401 {
		t.Errorf("a signature of another body: %d %s", status, said)
	}
	if status, said := w.hook("quay.io/example/op:v9"); status != 202 {
		t.Errorf("after all of it: %d %s", status, said)
	}
}

// holding is a relay's use of resources.
type holding struct {
	goroutines, items int
	heap              uint64
	file              [sha256.Size]byte
}

// measure waits until there are at most this many goroutines, or until their number stops falling: connections
// end a moment after their clients have left.
func measure(w *fixture, goroutines int) holding {
	w.t.Helper()
	http.DefaultClient.CloseIdleConnections()
	least := runtime.NumGoroutine()
	for still := 0; still < 50 && least > goroutines; still++ {
		time.Sleep(10 * time.Millisecond)
		if n := runtime.NumGoroutine(); n < least {
			least, still = n, 0
		}
	}
	w.log.mu.Lock()
	w.log.buf = bytes.Buffer{} // the log belongs to the test
	w.log.mu.Unlock()
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	file, err := os.ReadFile(filepath.Join(w.queue, "queue"))
	if err != nil {
		w.t.Fatal(err)
	}
	u := w.Relay.queue.State(w.t.Context())
	return holding{goroutines: least, heap: m.HeapAlloc, items: u.Items, file: sha256.Sum256(file)}
}

// attack sends this many requests and returns how each kind was answered.
func attack(t *testing.T, w *fixture, requests int, replayed string, signed []string) string {
	t.Helper()
	long := strings.Repeat("x", 100_000)
	forged := append([]string(nil), signed...)
	forged[5] = signature(replayed, "another-secret-of-some-length")
	kinds := []struct {
		name string
		want string
		send func() string
	}{
		{"too long", "413", func() string { return status(w, "/hook", long, "Authorization", secret) }},
		{"too slow", cut, func() string { return slow(w) }},
		{"wrongly signed", "401", func() string { return status(w, "/github", replayed, forged...) }},
		{"malformed", "400", func() string {
			return status(w, "/hook", `{"image": ["`+strings.Repeat("[", 1000), "Authorization", secret)
		}},
		{"replayed", "200", func() string { return status(w, "/github", replayed, signed...) }},
	}
	counts, cuts := make([]atomic.Int64, len(kinds)), make([]atomic.Int64, len(kinds))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range attackers {
		wg.Go(func() {
			for n := next.Add(1); n <= int64(requests); n = next.Add(1) {
				i := int(n) % len(kinds)
				switch got := kinds[i].send(); got {
				case kinds[i].want:
					counts[i].Add(1)
				case cut: // on a busy machine any request can be too slow
					cuts[i].Add(1)
				default:
					t.Errorf("%s was answered with %s, want %s", kinds[i].name, got, kinds[i].want)
				}
			}
		})
	}
	wg.Wait()
	var said []string
	for i, k := range kinds {
		said = append(said, fmt.Sprintf("%d %s (%s)", counts[i].Load(), k.name, k.want))
		if n := cuts[i].Load(); n > 0 {
			said = append(said, fmt.Sprintf("%d %s (cut off)", n, k.name))
		}
		if counts[i].Load() == 0 {
			t.Errorf("no request of the kind %s was answered with %s", k.name, k.want)
		}
	}
	return strings.Join(said, ", ")
}

// cut means that the relay closed the connection without an answer.
const cut = "cut"

func status(w *fixture, path, body string, head ...string) string {
	req, err := http.NewRequest(http.MethodPost, w.url+path, strings.NewReader(body))
	if err != nil {
		return err.Error()
	}
	for i := 0; i+1 < len(head); i += 2 {
		req.Header.Set(head[i], head[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return cut
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return fmt.Sprint(resp.StatusCode)
}

// slow starts a request with the right secret and never finishes it.
func slow(w *fixture) string {
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		return err.Error()
	}
	defer conn.Close()
	_, _ = fmt.Fprintf(conn, "POST /hook HTTP/1.1\r\nHost: x\r\nAuthorization: %s\r\nContent-Length: 50\r\n\r\n{", secret)
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	answer, err := io.ReadAll(conn)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return "nothing in ten seconds"
	}
	if strings.Contains(string(answer), " 202 ") || strings.Contains(string(answer), " 200 ") {
		return string(answer)
	}
	return cut
}
