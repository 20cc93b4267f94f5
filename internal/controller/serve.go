package controller

import (
	"fmt"
	"net/http"
	"sync/atomic"
)

// Metrics count what was done since the beginning.
type Metrics struct {
	Reconciles, Images, Statuses, Conflicts, Errors atomic.Int64
}

// Handler serves /metrics in the text format of Prometheus, /healthz and /readyz.
func (c *Controller) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !c.Ready() {
			http.Error(w, "CatalogSources are not known yet", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		for _, m := range []struct {
			name, help string
			value      *atomic.Int64
		}{
			{"graft_reconciles_total", "CatalogSources looked at.", &c.Metrics.Reconciles},
			{"graft_image_writes_total", "Images set.", &c.Metrics.Images},
			{"graft_status_writes_total", "Conditions written.", &c.Metrics.Statuses},
			{"graft_conflicts_total", "Writes that met a newer version.", &c.Metrics.Conflicts},
			{"graft_errors_total", "Requests that failed otherwise.", &c.Metrics.Errors},
		} {
			fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s counter\n%s %d\n", m.name, m.help, m.name, m.name, m.value.Load())
		}
	})
	return mux
}
