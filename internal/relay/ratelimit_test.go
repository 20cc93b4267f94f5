package relay

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/olmgraft/graft/internal/relay/queue"
)

// A limit from GitHub's answer applies until it starts again, by GitHub's clock. Unreadable headers and limits
// of other kinds are ignored.
func TestRateLimitIsNoted(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	there := now.Add(-10 * time.Minute)
	header := func(pairs ...string) http.Header {
		h := http.Header{}
		for name, value := range map[string]string{"Limit": "5000", "Remaining": "12", "Reset": strconv.FormatInt(there.Add(time.Minute).Unix(), 10), "Resource": "core"} {
			h.Set("X-RateLimit-"+name, value)
		}
		h.Set("Date", there.UTC().Format(http.TimeFormat))
		for i := 0; i < len(pairs); i += 2 {
			h.Set("X-RateLimit-"+pairs[i], pairs[i+1])
		}
		return h
	}
	r := rateLimits{of: map[string]rateLimit{}}
	r.note("octo", header(), now)
	for _, h := range []http.Header{{}, header("Remaining", "few"), header("Limit", "0"), header("Reset", ""), header("Resource", "search")} {
		r.note("other", h, now)
	}
	want := map[string]rateLimit{"octo": {12, 5000, now.Add(time.Minute)}}
	if got := r.now(now.Add(time.Minute - 1)); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := r.now(now.Add(time.Minute)); len(got) != 0 {
		t.Errorf("after the reset: %v", got)
	}
	for n := range mostLimits + 1 {
		r.note(strconv.Itoa(n), header(), now)
	}
	if got := r.now(now); len(got) != 1 {
		t.Errorf("%d accounts are kept", len(got))
	}
}

// The number of lines is limited for any number of accounts, and the most important accounts have one.
func TestAccountsAreBounded(t *testing.T) {
	waiting, limits := map[string]int{}, map[string]rateLimit{}
	for n := range 1000 {
		waiting[fmt.Sprintf("a%03d", n)], limits[fmt.Sprintf("a%03d", n)] = n, rateLimit{left: n, most: 1000}
	}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(gauges{
		config: &Config{}, now: time.Now, state: func(context.Context) queue.State { return queue.State{} }, held: func(time.Time) (int, time.Duration) { return 0, 0 },
		waiting: func() map[string]int { return waiting }, limits: func(time.Time) map[string]rateLimit { return limits },
	})
	for name, want := range map[string][]string{"items": {"_rest", "a900", "a999"}, "requests_left": {"a000", "a099"}, "requests_limit": {"a000", "a099"}} {
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		var accounts []string
		for _, f := range families {
			if f.GetName() != "graft_relay_account_"+name {
				continue
			}
			for _, m := range f.GetMetric() {
				accounts = append(accounts, m.GetLabel()[0].GetValue())
				if m.GetLabel()[0].GetValue() == restNamed && m.GetGauge().GetValue() != 899*900/2 {
					t.Errorf("%v wait for the rest", m.GetGauge().GetValue())
				}
			}
		}
		slices.Sort(accounts)
		for _, one := range want {
			if !slices.Contains(accounts, one) {
				t.Errorf("%s has no %s", name, one)
			}
		}
		if len(accounts) > mostNamed+1 {
			t.Errorf("%s has %d lines", name, len(accounts))
		}
	}
	if problems, err := testutil.GatherAndLint(registry); err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
}

// The metrics have the waiting deliveries and the remaining limit of each installation.
func TestAccountsAreCounted(t *testing.T) {
	t.Parallel()
	w := beginFleet(t, nil)
	w.post("/hook", `{"image": "quay.io/alpha/op:v1"}`, "Authorization", secret)
	w.settled()
	_, text := w.request(http.MethodGet, "/metrics", nil)
	if !strings.Contains(text, `graft_relay_account_requests_limit{account="alpha"} 5000`) || w.metric(`graft_relay_account_requests_left{account="alpha"}`) < 4000 {
		t.Errorf("the metrics are\n%s", text)
	}
}
