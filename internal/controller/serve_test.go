package controller

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/client-go/rest"

	"github.com/olmgraft/graft/internal/failure"
)

// Names, units and help of the metrics follow Prometheus' rules.
func TestMetrics(t *testing.T) {
	c, err := New(Options{Config: &rest.Config{Host: "http://stand.example"}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	problems, err := testutil.GatherAndLint(c.registry())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	c.note("a/b", true)
	c.note("a/c", false)
	c.note("a/d", false)
	c.unnote("a/d")
	const want = `# HELP graft_catalogsources CatalogSources whose template the controller resolves.
# TYPE graft_catalogsources gauge
graft_catalogsources{resolved="false"} 1
graft_catalogsources{resolved="true"} 1
`
	if err := testutil.GatherAndCompare(c.registry(), strings.NewReader(want), "graft_catalogsources"); err != nil {
		t.Error(err)
	}
}

// A server that can no longer answer ends the work with its error.
func TestServerEndsEarly(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
	c := command{options: Options{Log: slog.New(slog.NewTextHandler(io.Discard, nil))}}
	ctx, end := context.WithCancelCause(t.Context())
	defer end(nil)
	c.serveOn(ctx, end, listener, http.NotFoundHandler())
	<-ctx.Done()
	c.serving.Wait()
	if cause := context.Cause(ctx); !failure.Is(cause, failure.Internal) {
		t.Errorf("it ended with %v", cause)
	}
}
