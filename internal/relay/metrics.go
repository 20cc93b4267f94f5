package relay

import (
	"cmp"
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

// metrics are the relay's counters. Labels are routes, statuses, words of this package and a bounded number of
// accounts with an installation, never text of a sender.
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
			Name: "graft_relay_dispatch_seconds", Help: "Duration of attempts to dispatch.", Buckets: []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 20},
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
	// waiting and limits are by account.
	waiting func() map[string]int
	limits  func(now time.Time) map[string]rateLimit
	now     func() time.Time
}

func gauge(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("graft_relay_"+name, help, labels, nil)
}

var (
	queueItems      = gauge("queue_items", "Waiting deliveries.")
	queueItemsLimit = gauge("queue_items_limit", "Maximum number of deliveries in the queue.")
	queueBytes      = gauge("queue_bytes", "Bytes of the waiting deliveries.")
	queueBytesLimit = gauge("queue_bytes_limit", "Maximum number of bytes in the queue.")
	queueOldest     = gauge("queue_oldest_seconds", "Age of the oldest waiting delivery.")
	heldSeconds     = gauge("held_seconds", "Remaining time of the longest rate limit of GitHub.")
	heldAccounts    = gauge("held_accounts", "Installations under a rate limit; without installations, 1 during a rate limit.")

	accountItems = gauge("account_items", "Waiting deliveries of this relay for an installation, by its account; empty without installations.", "account")
	accountLeft  = gauge("account_requests_left", "Requests left in the installation's rate limit, from GitHub's last answer.", "account")
	accountLimit = gauge("account_requests_limit", "Requests that the installation's rate limit allows.", "account")
)

// Describe implements prometheus.Collector.
func (g gauges) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{queueItems, queueItemsLimit, queueBytes, queueBytesLimit, queueOldest, heldSeconds, heldAccounts, accountItems, accountLeft, accountLimit} {
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
	g.collectAccounts(to, now)
}

func (g gauges) collectAccounts(to chan<- prometheus.Metric, now time.Time) {
	send := func(d *prometheus.Desc, value int, account string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(value), account)
	}
	waiting := g.waiting()
	if len(waiting) == 0 {
		waiting = map[string]int{"": 0} // so that the metric is always there
	}
	most, rest := named(waiting, func(a, b int) int { return cmp.Compare(b, a) })
	for _, account := range most {
		send(accountItems, waiting[account], account)
	}
	if len(rest) > 0 {
		sum := 0
		for _, account := range rest {
			sum += waiting[account]
		}
		send(accountItems, sum, restNamed)
	}
	limits := g.limits(now)
	least, _ := named(limits, func(a, b rateLimit) int { return cmp.Compare(a.left*b.most, b.left*a.most) })
	for _, account := range least {
		send(accountLeft, limits[account].left, account)
		send(accountLimit, limits[account].most, account)
	}
}
