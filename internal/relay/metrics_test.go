package relay

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/relay/queue"
	"github.com/olmgraft/graft/internal/relay/queue/file"
)

// Everything that is counted stands in the text, under its labels.
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
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, append(text, "torn"...), 0o600)
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
	m.heldUntil(now.Add(25 * time.Second))
	c := &Config{}
	c.Queue.Items, c.Queue.Bytes = 10, 65536
	var out strings.Builder
	m.write(&out, q.State(t.Context()), c, now)
	for _, want := range []string{
		`graft_relay_requests_total{route="",code="404"} 1`, `graft_relay_requests_total{route="/quay",code="202"} 2`,
		`graft_relay_announcements_total{route="/quay",result="accepted"} 5`, `graft_relay_announcements_total{route="/hook",result="skipped"} 1`,
		`graft_relay_dispatches_total{result="delivered"} 1`, `graft_relay_dispatches_total{result="dead"} 1`,
		`graft_relay_dispatches_total{result="limited"} 1`, `graft_relay_dispatches_total{result="retried"} 2`,
		"graft_relay_dispatch_seconds_sum 31", "graft_relay_dispatch_seconds_count 5",
		"graft_relay_queue_items 2", "graft_relay_queue_items_limit 10", fmt.Sprint("graft_relay_queue_bytes ", q.State(t.Context()).Bytes), "graft_relay_queue_bytes_limit 65536",
	} {
		if !strings.Contains(out.String(), want+"\n") {
			t.Errorf("there is no %s", want)
		}
	}
	if strings.Contains(out.String(), `result="duplicate"`) {
		t.Error("what never was is counted")
	}
	out.Reset()
	newMetrics().write(&out, q.State(t.Context()), c, now)
	for _, result := range []string{delivered, retried, limited, dead} {
		if want := `graft_relay_dispatches_total{result="` + result + `"} 0`; !strings.Contains(out.String(), want) {
			t.Errorf("before anything was sent there is no %s", want)
		}
	}
	if !strings.Contains(out.String(), "graft_relay_held_seconds 0\n") {
		t.Errorf("nothing holds, and the metrics are %s", out.String())
	}
}
