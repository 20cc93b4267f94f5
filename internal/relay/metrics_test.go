package relay

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/olmgraft/graft/internal/relay/queue"
	"github.com/olmgraft/graft/internal/relay/queue/file"
)

// The text has all metrics with their labels.
func TestMetrics(t *testing.T) {
	dir, now := t.TempDir(), time.Unix(1_763_650_000, 0)
	o := file.Options{Dir: dir, MaxItems: 9, MaxBytes: 1 << 20, Remember: time.Hour, Now: func() time.Time { return now.Add(-90 * time.Second) }}
	q, err := file.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"a", "b"} {
		if _, _, err := q.Put(t.Context(), queue.Entry{Key: key, Data: []byte(`"0123456789"`)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "queue")
	stored, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, append(stored, "torn"...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if q, err = file.Open(o); err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	m := newMetrics()
	m.request("/quay", 202)
	m.request("/quay", 202)
	m.request("", 404)
	m.announced("/quay", accepted, 3)
	m.announced("/quay", accepted, 2)
	m.announced("/quay", duplicate, 0)
	m.announced("/hook", skipped, 1)
	for one, took := range map[*outcome]time.Duration{
		{delivered: true}: time.Second, {refused: "no", err: errors.New("no")}: 2 * time.Second,
		{limited: true, err: errors.New("limit")}: 4 * time.Second, {err: errors.New("down")}: 8 * time.Second, {err: errors.New("cut")}: 16 * time.Second,
	} {
		m.sent(*one, took)
	}
	c := &Config{}
	c.Queue.Items, c.Queue.Bytes = 10, 65536
	m.registry.MustRegister(gauges{config: c, state: q.State, now: func() time.Time { return now }, held: func(time.Time) (int, time.Duration) { return 2, 25 * time.Second },
		waiting: func() map[string]int { return map[string]int{"octo": 7} },
		limits:  func(time.Time) map[string]rateLimit { return map[string]rateLimit{"octo": {left: 60, most: 5000}} },
	})
	text := read(t, m)
	for _, want := range []string{
		`graft_relay_requests_total{code="404",route=""} 1`, `graft_relay_requests_total{code="202",route="/quay"} 2`,
		`graft_relay_announcements_total{result="accepted",route="/quay"} 5`, `graft_relay_announcements_total{result="skipped",route="/hook"} 1`,
		`graft_relay_dispatches_total{result="delivered"} 1`, `graft_relay_dispatches_total{result="dead"} 1`,
		`graft_relay_dispatches_total{result="limited"} 1`, `graft_relay_dispatches_total{result="retried"} 2`,
		"graft_relay_dispatch_seconds_sum 31", "graft_relay_dispatch_seconds_count 5", `graft_relay_dispatch_seconds_bucket{le="1"} 1`,
		"graft_relay_queue_items 2", "graft_relay_queue_items_limit 10", fmt.Sprint("graft_relay_queue_bytes ", q.State(t.Context()).Bytes), "graft_relay_queue_bytes_limit 65536",
		"graft_relay_queue_oldest_seconds 90", "graft_relay_held_seconds 25", "graft_relay_held_accounts 2",
		`graft_relay_account_items{account="octo"} 7`, `graft_relay_account_requests_left{account="octo"} 60`, `graft_relay_account_requests_limit{account="octo"} 5000`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("there is no %s", want)
		}
	}
	if strings.Contains(text, `result="duplicate"`) {
		t.Error("an event that never happened is counted")
	}
	text = read(t, newMetrics())
	for _, result := range []string{delivered, retried, limited, dead} {
		if want := `graft_relay_dispatches_total{result="` + result + `"} 0`; !strings.Contains(text, want) {
			t.Errorf("before anything was sent there is no %s", want)
		}
	}
	for _, name := range []string{"go_goroutines", "process_start_time_seconds"} {
		if !strings.Contains(text, "\n"+name+" ") {
			t.Errorf("there is no %s", name)
		}
	}
	problems, err := testutil.GatherAndLint(m.registry)
	if err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
}

// read returns the text that Prometheus reads.
func read(t *testing.T, m *metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.handler(slog.New(slog.DiscardHandler)).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
	if w.Code != http.StatusOK {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// The page has exactly the relay's metrics.
func TestPageHasTheMetrics(t *testing.T) {
	page, err := os.ReadFile("../../docs/relay-reference.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "## Metrics")
	table, _, _ = strings.Cut(table, "\n## ")
	w := begin(t, setup{})
	_, text := w.request(http.MethodGet, "/metrics", nil)
	w.request(http.MethodGet, "/else", nil)
	w.hook("quay.io/example/op:v1")
	w.settled()
	_, after := w.request(http.MethodGet, "/metrics", nil)
	is := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (graft_relay_[a-z_]+) `).FindAllStringSubmatch(text+after, -1) {
		is[m[1]] = true
		if !strings.Contains(table, "`"+m[1]+"`") && !strings.Contains(table, "`"+m[1]+"{") {
			t.Errorf("docs/relay-reference.md has no %s", m[1])
		}
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `(graft_relay_[a-z_]+)").FindAllStringSubmatch(table, -1) {
		if !is[m[1]] {
			t.Errorf("docs/relay-reference.md has %s, which the relay lacks", m[1])
		}
	}
}
