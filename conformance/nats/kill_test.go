package nats_test

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/testkit/effort"
	"github.com/olmgraft/graft/internal/testkit/fakegithub"
)

// killEvery is how long all servers run between two kills. NATS notices the loss of a leader within 4 to 9
// seconds and elects another.
const killEvery = 5 * time.Second

// TestKilled lets registries announce images to three relays on three NATS servers, while one server after the
// other is killed and restarted, and one relay too. GitHub fails every second call. All accepted images arrive,
// under one id each, in the order of their repository. GRAFT_TEST=whole has 100,000 images.
func TestKilled(t *testing.T) {
	images := effort.Of(t, 640, 2016, 100_000)
	servers := startCluster(t)
	var lost atomic.Int64
	hub, forge := startForge(t, failEverySecond(&lost))
	relays, addresses := startRelays(t, 3, servers.url(), forge)

	load := newRegistries(addresses)
	ended := make(chan struct{})
	begun := time.Now()
	go func() {
		defer close(ended)
		load.announce(images, 30*time.Second)
	}()
	var kills atomic.Int64
	restart := func(p *process) {
		kills.Add(1)
		p.kill()
		time.Sleep(time.Second)
		p.start()
	}
	silent := progress(t, func() {
		promised, took := load.count(), time.Since(begun)
		left := time.Duration(float64(took) * float64(images-promised) / float64(max(promised, 1)))
		t.Logf("%v: %d kills, %d of %d promised, %d events arrived; at this rate %v until all are promised",
			took.Round(time.Second), kills.Load(), promised, images, len(hub.Dispatches()), left.Round(time.Second))
	})
	restart(relays[0]) // at once, while it holds items
	for over := false; !over; {
		restart(servers.servers[int(kills.Load())%len(servers.servers)])
		for next := time.Now().Add(killEvery); !over && time.Now().Before(next); time.Sleep(100 * time.Millisecond) {
			select {
			case <-ended:
				over = waiting(t, servers.url()) == 0
			default:
			}
		}
	}
	silent()
	took := time.Since(begun)
	for i, relay := range relays {
		if !relay.stop() {
			t.Errorf("relay %d ended with %v\n%s", i, relay.cmd.ProcessState, relay.said())
		}
	}
	got := arrived(t, hub)
	got.hold(t, load.promised)
	repeated := 0
	for _, status := range load.promised {
		if status == http.StatusOK {
			repeated++
		}
	}
	t.Logf("%d kills in %v; %d images promised, %d of them when announced again; %d refusals that registries tried again; %d events arrived, %d of them again with the same id (GitHub took %d and answered 502); the longest time without a promise was %v",
		kills.Load(), took.Round(time.Second), len(load.promised), repeated, load.refused, got.all, got.all-len(got.ids), lost.Load(), load.longestSilence().Round(10*time.Millisecond))
}

// progress reports every ten seconds until stop is called.
func progress(t *testing.T, report func()) (stop func()) {
	ended := make(chan struct{})
	var reporting sync.WaitGroup
	reporting.Go(func() {
		tick := time.NewTicker(10 * time.Second)
		defer tick.Stop()
		for {
			select {
			case <-ended:
				return
			case <-tick.C:
				report()
			}
		}
	})
	stop = sync.OnceFunc(func() {
		close(ended)
		reporting.Wait()
	})
	t.Cleanup(stop)
	return stop
}

// failEverySecond alternates between failing before acting, failing after acting, and cutting the connection.
// lost counts the second kind.
func failEverySecond(lost *atomic.Int64) func(fakegithub.Request) *fakegithub.Fault {
	var n atomic.Int64
	return func(fakegithub.Request) *fakegithub.Fault {
		switch n.Add(1) % 6 {
		case 1:
			return fakegithub.ServerError(http.StatusServiceUnavailable, false)
		case 3:
			lost.Add(1)
			return fakegithub.ServerError(http.StatusBadGateway, true)
		case 5:
			return &fakegithub.Fault{Cut: true}
		}
		return nil
	}
}

// TestReceiverIsDown has two relays on one server, and a repository that does not answer. The repository
// receives its images once it answers again, and delays no other.
func TestReceiverIsDown(t *testing.T) {
	var up atomic.Bool
	hub, forge := startForge(t, func(r fakegithub.Request) *fakegithub.Fault {
		if !up.Load() && strings.Contains(r.Path, "/catalog0/") {
			return fakegithub.ServerError(http.StatusServiceUnavailable, false)
		}
		return nil
	})
	s := embedded(t, nil)
	relays, addresses := startRelays(t, 2, "{url: '"+s.ClientURL()+"', replicas: 1}", forge)
	load := newRegistries(addresses)
	const images = catalogs * repositories * 5
	load.announce(images, 0)
	until(t, "all others have heard", func() bool { return len(hub.Dispatches()) == images*(catalogs-1)/catalogs })
	up.Store(true)
	until(t, "it has heard, too", func() bool { return waiting(t, s.ClientURL()) == 0 })
	for _, relay := range relays {
		relay.stop()
	}
	got := arrived(t, hub)
	got.hold(t, load.promised)
	if got.all != images {
		t.Errorf("%d events arrived, want %d", got.all, images)
	}
}
