package controller

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/testkit/cluster"
)

// contender is a process that works as soon as it leads.
type contender struct {
	works   atomic.Bool
	standby atomic.Bool
	result  error // the process ends with it at once, if set
	stop    context.CancelFunc
	ended   chan error
}

func (c *contender) Standby() { c.standby.Store(true) }

func (c *contender) Run(ctx context.Context) error {
	c.works.Store(true)
	defer c.works.Store(false)
	if c.result != nil {
		return c.result
	}
	<-ctx.Done()
	return nil
}

func contend(config *rest.Config, name string, result error) *contender {
	ctx, stop := context.WithCancel(context.Background())
	c := &contender{stop: stop, result: result, ended: make(chan error, 1)}
	go func() { c.ended <- lead(ctx, config, "ns", name, c) }()
	return c
}

// leases returns a server of leases in this process, with the test's clock. It fails on demand.
func leases() (*rest.Config, *atomic.Bool) {
	stand, down := cluster.New(), new(atomic.Bool)
	return &rest.Config{
		Host: "http://stand.example", QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json"},
		Transport: answering(func(w http.ResponseWriter, r *http.Request) {
			if down.Load() {
				http.Error(w, "down", http.StatusServiceUnavailable)
				return
			}
			stand.ServeHTTP(w, r)
		}),
	}, down
}

type answering http.HandlerFunc

func (f answering) RoundTrip(r *http.Request) (*http.Response, error) {
	out := httptest.NewRecorder()
	f(out, r)
	return out.Result(), nil
}

// One replica works at a time. When it stops, it releases the lease and the next one starts.
func TestLead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config, _ := leases()
		first := contend(config, "first", nil)
		time.Sleep(time.Second)
		second := contend(config, "second", nil)
		time.Sleep(time.Minute)
		if !first.works.Load() || second.works.Load() {
			t.Errorf("the first works: %v, the second: %v", first.works.Load(), second.works.Load())
		}
		if first.standby.Load() || !second.standby.Load() {
			t.Errorf("the first is on standby: %v, the second: %v", first.standby.Load(), second.standby.Load())
		}
		first.stop()
		if err := <-first.ended; err != nil {
			t.Errorf("the first ended with %v", err)
		}
		time.Sleep(5 * time.Second)
		if !second.works.Load() {
			t.Error("the second does not work")
		}
		second.stop()
		if err := <-second.ended; err != nil {
			t.Errorf("the second ended with %v", err)
		}
	})
}

// A replica that cannot renew its lease stops working before another could start, and returns a failure.
func TestLeaseIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config, down := leases()
		c := contend(config, "first", nil)
		time.Sleep(time.Minute)
		down.Store(true)
		time.Sleep(5 * time.Second)
		if !c.works.Load() {
			t.Error("it stops at the first failure")
		}
		time.Sleep(10 * time.Second)
		if c.works.Load() {
			t.Error("it still works")
		}
		if err := <-c.ended; !failure.Is(err, failure.ClusterUnavailable) || !strings.Contains(err.Error(), "ns/graft-controller: it was lost") {
			t.Errorf("it ended with %v", err)
		}
	})
}

// An error of the work ends the process and releases the lease.
func TestWorkFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config, _ := leases()
		broken := errors.New("broken")
		if err := <-contend(config, "first", broken).ended; !errors.Is(err, broken) {
			t.Errorf("it ended with %v", err)
		}
		next := contend(config, "second", nil)
		time.Sleep(5 * time.Second)
		if !next.works.Load() {
			t.Error("the next does not work")
		}
		next.stop()
		if err := <-next.ended; err != nil {
			t.Error(err)
		}
	})
}

// A replica that never leads ends without an error and has done nothing.
func TestNeverLeads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config, down := leases()
		down.Store(true)
		c := contend(config, "first", nil)
		time.Sleep(time.Minute)
		if c.works.Load() || c.standby.Load() {
			t.Errorf("without a lease it works: %v, is on standby: %v", c.works.Load(), c.standby.Load())
		}
		c.stop()
		if err := <-c.ended; err != nil {
			t.Errorf("it ended with %v", err)
		}
	})
}
