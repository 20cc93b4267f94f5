package relay

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/olmgraft/graft/internal/relay/queue"
)

// metrics are the relay's counters. Labels are routes, statuses and words of this package, never text of a sender.
type metrics struct {
	registry      *prometheus.Registry
	requests      *prometheus.CounterVec
	announcements *prometheus.CounterVec
	sends         *prometheus.CounterVec
	took          prometheus.Histogram
}

func newMetrics() *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "graft_relay_" + name, Help: help}, labels)
	}
	m := &metrics{
		registry:      prometheus.NewRegistry(),
		requests:      counter("requests_total", "Requests by route and status.", "route", "code"),
		announcements: counter("announcements_total", "Announcements: accepted and duplicate by target, the others by image.", "route", "result"),
		sends:         counter("dispatches_total", "Attempts to dispatch.", "result"),
		took: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "graft_relay_dispatch_seconds", Help: "Time that attempts to dispatch took.", Buckets: []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 20},
		}),
	}
	m.registry.MustRegister(m.requests, m.announcements, m.sends, m.took,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, result := range []string{delivered, retried, limited, dead} {
		m.sends.WithLabelValues(result)
	}
	return m
}

// Results of announcements and of attempts to dispatch.
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

func (m *metrics) request(route string, code int) {
	m.requests.WithLabelValues(route, strconv.Itoa(code)).Inc()
}

func (m *metrics) announced(route, result string, n int) {
	if n > 0 {
		m.announcements.WithLabelValues(route, result).Add(float64(n))
	}
}

// result returns the word for the result of an attempt.
func (v outcome) result() string {
	switch {
	case v.delivered:
		return delivered
	case v.refused != "":
		return dead
	case v.limited:
		return limited
	}
	return retried
}

func (m *metrics) sent(v outcome, took time.Duration) {
	m.sends.WithLabelValues(v.result()).Inc()
	m.took.Observe(took.Seconds())
}

// handler serves the metrics and logs errors.
func (m *metrics) handler(log *slog.Logger) http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn), ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: 4,
	})
}

// stateWithin limits the wait for the state of the queue.
const stateWithin = 5 * time.Second

// gauges are computed when the metrics are read: the queue's usage and the accounts that wait for a rate limit.
type gauges struct {
	config *Config
	state  func(context.Context) queue.State
	held   func(now time.Time) (accounts int, longest time.Duration)
	now    func() time.Time
}

func gauge(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("graft_relay_"+name, help, nil, nil)
}

var (
	queueItems      = gauge("queue_items", "Deliveries that wait.")
	queueItemsLimit = gauge("queue_items_limit", "Deliveries that the queue has room for.")
	queueBytes      = gauge("queue_bytes", "Bytes of the deliveries that wait.")
	queueBytesLimit = gauge("queue_bytes_limit", "Bytes that the queue has room for.")
	queueOldest     = gauge("queue_oldest_seconds", "Age of the delivery that waits longest.")
	heldSeconds     = gauge("held_seconds", "How long GitHub's rate limits still hold, the longest of them.")
	heldAccounts    = gauge("held_accounts", "Installations that a rate limit holds; without installations, 1 while it holds.")
)

// Describe implements prometheus.Collector.
func (g gauges) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{queueItems, queueItemsLimit, queueBytes, queueBytesLimit, queueOldest, heldSeconds, heldAccounts} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (g gauges) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), stateWithin)
	defer cancel()
	s, now := g.state(ctx), g.now()
	accounts, longest := g.held(now)
	age := 0.0
	if !s.Oldest.IsZero() {
		age = max(now.Sub(s.Oldest).Seconds(), 0)
	}
	for d, value := range map[*prometheus.Desc]float64{
		queueItems: float64(s.Items), queueItemsLimit: float64(g.config.Queue.Items), queueBytes: float64(s.Bytes), queueBytesLimit: float64(g.config.Queue.Bytes),
		queueOldest: age, heldSeconds: longest.Seconds(), heldAccounts: float64(accounts),
	} {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value)
	}
}
