// Package alerts tests the alert rules of deploy with Prometheus itself.
package alerts

import (
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
	"k8s.io/client-go/rest"

	"github.com/olmgraft/graft/internal/controller"
)

// alerts returns the alerts of both programs by name.
func alerts(t *testing.T) map[string]rulefmt.Rule {
	t.Helper()
	files, err := filepath.Glob("../../deploy/*/monitoring/rules.yaml")
	if err != nil || len(files) != 2 {
		t.Fatalf("there are %v, %v", files, err)
	}
	all := map[string]rulefmt.Rule{}
	for _, file := range files {
		groups, errs := rulefmt.ParseFile(file, false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler))
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		for _, g := range groups.Groups {
			for _, r := range g.Rules {
				all[r.Alert] = r
			}
		}
	}
	return all
}

// firing returns the alerts that fire after the given minutes, for metrics with a value each minute.
func firing(t *testing.T, series string, minutes int) (names []string) {
	t.Helper()
	storage := promqltest.LoadedStorage(t, "load 1m"+series)
	query := rules.EngineQueryFunc(promqltest.NewTestEngine(t, false, 5*time.Minute, 1_000_000), storage)
	for name, r := range alerts(t) {
		expr, err := parser.NewParser(parser.Options{}).ParseExpr(r.Expr)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		rule := rules.NewAlertingRule(name, expr, time.Duration(r.For), time.Duration(r.KeepFiringFor), labels.FromMap(r.Labels), labels.FromMap(r.Annotations), labels.EmptyLabels(), "", true, slog.New(slog.DiscardHandler))
		for minute := range minutes {
			if _, err := rule.Eval(t.Context(), 0, time.Unix(int64(minute)*60, 0), query, nil, 0); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		for _, a := range rule.ActiveAlerts() {
			if a.State != rules.StateFiring {
				continue
			}
			names = append(names, name)
			if summary := a.Annotations.Get("summary"); summary == "" || strings.Contains(summary, "error expanding") {
				t.Errorf("%s says %q", name, summary)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// well has the metrics of both programs when nothing is wrong: with occasional errors, and a queue that fills
// and empties.
const well = `
  graft_leader{pod="a"} 1x120
  graft_leader{pod="b"} 0x120
  graft_catalogsources{resolved="true"} 7x120
  graft_catalogsources{resolved="false"} 0x50 1x5 0x65
  graft_errors_total 0+1x120
  graft_queue_items 0x20 40x10 0x90
  graft_relay_requests_total{route="/quay",code="202"} 0+10x120
  graft_relay_requests_total{route="/quay",code="503"} 0x60 1x60
  graft_relay_requests_total{route="/quay",code="401"} 0x60 3x60
  graft_relay_dispatches_total{result="delivered"} 0+10x120
  graft_relay_dispatches_total{result="dead"} 0x120
  graft_relay_queue_items 0x20 900x3 0x97
  graft_relay_queue_items_limit 1000x120
  graft_relay_queue_bytes 0x120
  graft_relay_queue_bytes_limit 1000x120
  graft_relay_queue_oldest_seconds 0x20 600x10 0x90
  graft_relay_held_seconds 0x20 600x10 0x90
  graft_relay_account_requests_left{account="octo"} 5000-80x59 5000-30x60
  graft_relay_account_requests_limit{account="octo"} 5000x120
`

// No alert fires while nothing is wrong.
func TestQuiet(t *testing.T) {
	for _, minutes := range []int{10, 25, 58, 70, 118} {
		if got := firing(t, well, minutes); len(got) > 0 {
			t.Errorf("after %d minutes there are %v", minutes, got)
		}
	}
}

// Each alert fires for its own fault, and no other alert does.
func TestFiring(t *testing.T) {
	seen := map[string]bool{}
	for _, bad := range []struct{ alert, was, series string }{
		{"GraftControllerNobodyLeads", `graft_leader{pod="a"} 1x120`, `graft_leader{pod="a"} 0x120`},
		{"GraftControllerUnresolved", `graft_catalogsources{resolved="false"} 0x50 1x5 0x65`, `graft_catalogsources{resolved="false"} 2x120`},
		{"GraftControllerErrors", `graft_errors_total 0+1x120`, `graft_errors_total 0+12x120`},
		{"GraftControllerBehind", `graft_queue_items 0x20 40x10 0x90`, `graft_queue_items 0x20 40x100`},
		{"GraftRelayRefuses", `graft_relay_requests_total{route="/quay",code="503"} 0x60 1x60`, `graft_relay_requests_total{route="/quay",code="503"} 0x20 0+1x100`},
		{"GraftRelayDeadLetters", `graft_relay_dispatches_total{result="dead"} 0x120`, `graft_relay_dispatches_total{result="dead"} 0x30 1x90`},
		{"GraftRelayQueueOld", `graft_relay_queue_oldest_seconds 0x20 600x10 0x90`, `graft_relay_queue_oldest_seconds 3000+60x120`},
		{"GraftRelayQueueFull", `graft_relay_queue_items 0x20 900x3 0x97`, `graft_relay_queue_items 900x120`},
		{"GraftRelayQueueFull", `graft_relay_queue_bytes 0x120`, `graft_relay_queue_bytes 900x120`},
		{"GraftRelayHeld", `graft_relay_held_seconds 0x20 600x10 0x90`, `graft_relay_held_seconds 600x120`},
		{"GraftRelayRequestsLeft", `requests_left{account="octo"} 5000-80x59 5000-30x60`, `requests_left{account="octo"} 400x120`},
		{"GraftRelayStrangers", `graft_relay_requests_total{route="/quay",code="401"} 0x60 3x60`, `graft_relay_requests_total{route="/quay",code="401"} 0+1x120`},
		{"GraftRelayAbsent", `graft_relay_`, `other_`},
	} {
		series := strings.ReplaceAll(well, bad.was, bad.series)
		if series == well {
			t.Fatalf("%s: there is no %s", bad.alert, bad.was)
		}
		if got := firing(t, series, 80); !slices.Equal(got, []string{bad.alert}) {
			t.Errorf("of %s there are %v, want %s", bad.series, got, bad.alert)
		}
		seen[bad.alert] = true
	}
	for name := range alerts(t) {
		if !seen[name] {
			t.Errorf("%s is never seen to fire", name)
		}
	}
}

// The programs have the metrics that the alerts use.
func TestMetricsAreServed(t *testing.T) {
	c, err := controller.New(controller.Options{Config: &rest.Config{Host: "http://stand.example"}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	answer := httptest.NewRecorder()
	c.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	source, err := os.ReadFile("../../internal/relay/metrics.go") // only a relay with a queue serves it
	if err != nil {
		t.Fatal(err)
	}
	asked := map[string]bool{}
	for name, r := range alerts(t) {
		expr, err := parser.NewParser(parser.Options{}).ParseExpr(r.Expr)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, selectors := range parser.ExtractSelectors(expr) {
			for _, m := range selectors {
				if m.Name == labels.MetricName {
					asked[m.Value] = true
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		if relay, ok := strings.CutPrefix(name, "graft_relay_"); ok {
			if !strings.Contains(string(source), fmt.Sprintf("%q", relay)) {
				t.Errorf("the relay has no %s", name)
			}
		} else if !strings.Contains(answer.Body.String(), "\n# TYPE "+name+" ") {
			t.Errorf("the controller has no %s", name)
		}
	}
}
