package controller

import (
	"fmt"
	"net/http"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics count events since the start.
type Metrics struct {
	Reconciles, Images, Statuses, Conflicts, Errors atomic.Int64
}

// newReconcileSeconds has buckets from a reconcile without work to an API server that hangs.
func newReconcileSeconds() prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "graft_reconcile_duration_seconds", Help: "Duration of the reconcile of a CatalogSource, with its writes.",
		Buckets: prometheus.ExponentialBuckets(0.0005, 4, 9),
	})
}

// registry holds everything that /metrics serves.
func (c *Controller) registry() *prometheus.Registry {
	all := prometheus.NewRegistry()
	all.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), collectors.NewBuildInfoCollector(), c.seconds)
	for _, m := range []struct {
		name, help string
		value      *atomic.Int64
	}{
		{"graft_reconciles_total", "Reconciles of CatalogSources.", &c.Metrics.Reconciles},
		{"graft_image_writes_total", "Writes of images.", &c.Metrics.Images},
		{"graft_status_writes_total", "Writes of conditions.", &c.Metrics.Statuses},
		{"graft_conflicts_total", "Writes that conflicted with a newer version.", &c.Metrics.Conflicts},
		{"graft_errors_total", "Requests that failed for other reasons.", &c.Metrics.Errors},
	} {
		all.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: m.name, Help: m.help}, func() float64 { return float64(m.value.Load()) }))
	}
	gauge := func(name, help string, labels prometheus.Labels, value func() int) {
		all.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels}, func() float64 { return float64(value()) }))
	}
	gauge("graft_leader", "1 for the leader, 0 for a replica that waits for the lease.", nil, c.leads)
	gauge("graft_queue_items", "CatalogSources that wait for a reconcile.", nil, c.queue.Len)
	for resolved, name := range map[bool]string{true: "true", false: "false"} {
		gauge("graft_catalogsources", "CatalogSources whose template the controller resolves.", prometheus.Labels{"resolved": name}, func() int { return c.count(resolved) })
	}
	return all
}

// leads returns 1 while the controller works.
func (c *Controller) leads() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.working {
		return 1
	}
	return 0
}

// count returns how many CatalogSources resolve, or do not.
func (c *Controller) count(resolved bool) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, is := range c.resolved {
		if is == resolved {
			n++
		}
	}
	return n
}

// note records whether a CatalogSource resolves, for the metrics.
func (c *Controller) note(key string, resolved bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.resolved[key] = resolved
}

func (c *Controller) unnote(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.resolved, key)
}

// Handler serves /metrics in the text format of Prometheus, /healthz and /readyz.
func (c *Controller) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !c.Ready() {
			http.Error(w, "the CatalogSources are not loaded yet, and no other replica leads", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	mux.Handle("GET /metrics", promhttp.HandlerFor(c.registry(), promhttp.HandlerOpts{}))
	return mux
}
