package relay

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/olmgraft/graft/internal/relay/queue"
)

// metrics are counted here, and written in the text format of Prometheus. Labels are routes,
// statuses and words of this package: nothing that a stranger sends becomes one.
type metrics struct {
	mu            sync.Mutex
	requests      map[string]uint64 // by labels
	announcements map[string]uint64
	sends         map[string]uint64
	seconds       float64
	held          time.Time
}

func newMetrics() *metrics {
	m := &metrics{requests: map[string]uint64{}, announcements: map[string]uint64{}, sends: map[string]uint64{}}
	for _, result := range []string{delivered, retried, limited, dead} {
		m.sends[labels("result", result)] = 0
	}
	return m
}

// What becomes of announcements and of attempts to dispatch.
const (
	accepted  = "accepted"
	duplicate = "duplicate"
	unmapped  = "unmapped"
	skipped   = "skipped"
	stale     = "stale"

	delivered = "delivered"
	retried   = "retried"
	limited   = "limited"
	dead      = "dead"
)

func labels(pairs ...string) string {
	var out []string
	for i := 0; i+1 < len(pairs); i += 2 {
		out = append(out, pairs[i]+"="+strconv.Quote(pairs[i+1]))
	}
	return "{" + strings.Join(out, ",") + "}"
}

func (m *metrics) request(route string, code int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests[labels("route", route, "code", strconv.Itoa(code))]++
}

func (m *metrics) announced(route, result string, n int) {
	if n == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.announcements[labels("route", route, "result", result)] += uint64(n)
}

func (m *metrics) sent(v outcome, took time.Duration) {
	result := retried
	switch {
	case v.delivered:
		result = delivered
	case v.refused != "":
		result = dead
	case v.limited:
		result = limited
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sends[labels("result", result)]++
	m.seconds += took.Seconds()
}

func (m *metrics) heldUntil(at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at.After(m.held) {
		m.held = at
	}
}

// write writes all, with what the queue says of itself.
func (m *metrics) write(w io.Writer, u queue.State, c *Config, now time.Time) {
	m.mu.Lock()
	requests, announcements, sends := maps.Clone(m.requests), maps.Clone(m.announcements), maps.Clone(m.sends)
	seconds, held := m.seconds, m.held
	m.mu.Unlock()
	family(w, "graft_relay_requests_total", "counter", "Requests by route and status.", requests)
	family(w, "graft_relay_announcements_total", "counter", "Announcements: accepted and duplicate by target, the others by image.", announcements)
	family(w, "graft_relay_dispatches_total", "counter", "Attempts to dispatch.", sends)
	var attempts uint64
	for _, n := range sends {
		attempts += n
	}
	const took = "graft_relay_dispatch_seconds"
	fmt.Fprintf(w, "# HELP %s Time that attempts to dispatch took.\n# TYPE %s summary\n%s_sum %g\n%s_count %d\n", took, took, took, seconds, took, attempts)
	age := 0.0
	if !u.Oldest.IsZero() {
		age = now.Sub(u.Oldest).Seconds()
	}
	gauge(w, "graft_relay_queue_items", "Deliveries that wait.", float64(u.Items))
	gauge(w, "graft_relay_queue_items_limit", "Deliveries that the queue has room for.", float64(c.Queue.Items))
	gauge(w, "graft_relay_queue_bytes", "Bytes of the deliveries that wait.", float64(u.Bytes))
	gauge(w, "graft_relay_queue_bytes_limit", "Bytes that the queue has room for.", float64(c.Queue.Bytes))
	gauge(w, "graft_relay_queue_oldest_seconds", "Age of the delivery that waits longest.", age)
	gauge(w, "graft_relay_held_seconds", "How long GitHub's rate limit still holds.", max(held.Sub(now).Seconds(), 0))
}

func family(w io.Writer, name, kind, help string, values map[string]uint64) {
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
	for _, key := range slices.SortedFunc(maps.Keys(values), cmp.Compare[string]) {
		fmt.Fprintf(w, "%s%s %d\n", name, key, values[key])
	}
}

func gauge(w io.Writer, name, help string, value float64) {
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s gauge\n%s %g\n", name, help, name, name, value)
}
