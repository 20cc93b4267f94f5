package nats_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/relay/queue"
	"github.com/olmgraft/graft/internal/relay/queue/file"
	"github.com/olmgraft/graft/internal/relay/queue/jetstream"
	"github.com/olmgraft/graft/internal/testkit/effort"
	"github.com/olmgraft/graft/internal/testkit/fakegithub"
)

const (
	// soon is the time within which 99 of 100 webhooks must be answered.
	soon = 50 * time.Millisecond
	// measured is how long each number of senders is measured.
	measured = 3 * time.Second
)

// BenchmarkAccept measures how many webhooks a second are answered with 202. It uses the number of senders with
// the highest rate and a p99 under 50 ms. No event is sent, because GitHub is down.
//
//	go test -run '^$' -bench Accept -benchtime 1x -timeout 30m .
func BenchmarkAccept(b *testing.B) {
	b.Run("bare", func(b *testing.B) { accept(b, []string{bare(b)}) })
	b.Run("file/relays=1", func(b *testing.B) {
		_, addresses := startSilent(b, 1, fmt.Sprintf("{dir: %q, items: 10000000, bytes: 1073741824}", b.TempDir()))
		accept(b, addresses)
	})
	shared := func(name string, servers, relays int, more string) {
		b.Run(name, func(b *testing.B) {
			c := startServers(b, servers, more)
			_, addresses := startSilent(b, relays, fmt.Sprintf("{url: %q, replicas: %d, items: 10000000, bytes: 1073741824}", c.url(), servers))
			accept(b, addresses)
		})
	}
	for _, servers := range []int{1, 3} {
		for _, relays := range []int{1, 2, 3} {
			shared(fmt.Sprintf("nats=%d/relays=%d", servers, relays), servers, relays, "")
		}
	}
	shared("nats=1-synced/relays=1", 1, 1, ", sync_interval: always")
}

// startSilent starts relays whose GitHub is down.
func startSilent(b *testing.B, n int, queue string) ([]*process, []string) {
	_, forge := startForge(b, func(fakegithub.Request) *fakegithub.Fault {
		return fakegithub.ServerError(http.StatusServiceUnavailable, false)
	})
	return startRelaysWith(b, n, queue, forge, "firstRetry: 1h, longestRetry: 1h")
}

// bare returns the address of a server that writes each body to a file, syncs it, and answers.
func bare(b *testing.B) string {
	f, err := os.Create(filepath.Join(b.TempDir(), "bodies"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = f.Close() })
	var mu sync.Mutex
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		if err == nil {
			_, err = f.Write(body)
		}
		if err == nil {
			err = f.Sync()
		}
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.WriteHeader(http.StatusAccepted)
	}))
	b.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

// accept doubles the number of senders while p99 is low enough.
func accept(b *testing.B, addresses []string) {
	for b.Loop() {
		best, at, tail := 0.0, 0, time.Duration(0)
		for senders := 1; senders <= 256; senders *= 2 {
			rate, p99 := load(b, addresses, senders)
			b.Logf("%d senders: %.0f/s, p99 %v", senders, rate, p99.Round(100*time.Microsecond))
			if p99 >= soon {
				break
			}
			if rate > best {
				best, at, tail = rate, senders, p99
			}
		}
		b.ReportMetric(best, "202s/s")
		b.ReportMetric(float64(at), "senders")
		b.ReportMetric(float64(tail.Microseconds())/1000, "p99-ms")
	}
	b.ReportMetric(0, "ns/op")
}

// load runs this many senders, each of which announces its next image when the last one was answered.
func load(b *testing.B, addresses []string, senders int) (rate float64, p99 time.Duration) {
	r := newRegistries(addresses)
	r.client.Transport = &http.Transport{MaxIdleConnsPerHost: senders}
	defer r.client.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(b.Context(), measured)
	defer cancel()
	var mu sync.Mutex
	var took []time.Duration
	var wg sync.WaitGroup
	for s := range senders {
		wg.Go(func() {
			var own []time.Duration
			for n := 0; ctx.Err() == nil; n++ {
				body := fmt.Sprintf(`{"image": "quay.io/t%d/op%d:v%d", "digest": "sha256:%064x"}`, s%catalogs, s, n, rand.Uint64())
				begun := time.Now()
				if status := r.post(addresses[(s+n)%len(addresses)], body); status != http.StatusAccepted {
					b.Errorf("answered with %d", status)
					return
				}
				own = append(own, time.Since(begun))
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, own...)
		})
	}
	wg.Wait()
	if len(took) == 0 {
		b.Fatal("nothing was answered")
	}
	slices.Sort(took)
	return float64(len(took)) / measured.Seconds(), took[len(took)*99/100]
}

// BenchmarkWaiting measures the cost of waiting deliveries: bytes on disk and in memory, and the time from a
// start to the first handed-out item.
//
//	GRAFT_TEST=whole go test -run '^$' -bench Waiting -benchtime 1x -timeout 60m .
func BenchmarkWaiting(b *testing.B) {
	n := effort.Of(b, 1000, 20_000, 1_000_000)
	b.Run("file", func(b *testing.B) {
		o := file.Options{Dir: b.TempDir(), MaxItems: n, MaxBytes: 4 << 30, Remember: time.Hour}
		wait(b, n, 1000, func() (queue.Queue, error) { return file.Open(o) }, []string{o.Dir}, nil)
	})
	for _, servers := range []int{1, 3} {
		b.Run(fmt.Sprintf("nats=%d", servers), func(b *testing.B) {
			c := startServers(b, servers, "")
			o := usual(b, c.url())
			o.MaxItems, o.MaxBytes, o.Replicas = n, 4<<30, servers
			wait(b, n, 1, func() (queue.Queue, error) { return jetstream.Open(b.Context(), o) }, c.dirs[:1], c.servers[0])
		})
	}
}

func wait(b *testing.B, n, at int, open func() (queue.Queue, error), dirs []string, server *process) {
	for b.Loop() {
		q, err := open()
		if err != nil {
			b.Fatal(err)
		}
		begun := time.Now()
		fill(b, q, n, at)
		b.ReportMetric(float64(n)/time.Since(begun).Seconds(), "puts/s")
		if err := q.Close(); err != nil {
			b.Fatal(err)
		}
		begun = time.Now()
		if q, err = open(); err != nil {
			b.Fatal(err)
		}
		if s := q.State(b.Context()); s.Items != n {
			b.Fatalf("%d wait", s.Items)
		}
		ctx, cancel := context.WithCancel(b.Context())
		var once sync.Once
		first, held := make(chan struct{}), []queue.Item(nil)
		var mu sync.Mutex
		var running sync.WaitGroup
		running.Go(func() {
			_ = q.Run(ctx, func(items ...queue.Item) { // the context ends it
				mu.Lock()
				defer mu.Unlock()
				held = append(held, items...)
				once.Do(func() { close(first) })
			})
		})
		<-first
		b.ReportMetric(time.Since(begun).Seconds(), "start-s")
		b.ReportMetric(float64(resident(b, os.Getpid()))/float64(1<<20), "relay-MB")
		mu.Lock()
		b.Logf("%d are in the relay's hands", len(held))
		mu.Unlock()
		size := int64(0)
		for _, dir := range dirs {
			size += sizeOf(b, dir)
		}
		b.ReportMetric(float64(size)/float64(1<<20), "disk-MB")
		if server != nil {
			b.ReportMetric(float64(resident(b, server.cmd.Process.Pid))/float64(1<<20), "server-MB")
		}
		cancel()
		running.Wait()
		if err := q.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(0, "ns/op")
}

// fill puts this many entries with several writers.
func fill(b *testing.B, q queue.Queue, n, at int) {
	const writers = 64
	numbers := make(chan int)
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for from := range numbers {
				var entries []queue.Entry
				for i := from; i < min(from+at, n); i++ {
					image := fmt.Sprintf("quay.io/t%d/op%d:v%d", i%catalogs, i%997, i)
					to := fmt.Sprint("octo/catalog", i%catalogs)
					payload := json.RawMessage(fmt.Sprintf(`{"image":%q,"digest":"sha256:%064x","source":"quay","id":"%032x"}`, image, i, i))
					data, err := json.Marshal(map[string]any{"to": to, "type": "bundle", "id": fmt.Sprintf("%032x", i), "image": image, "payload": payload})
					if err != nil {
						b.Error(err)
						return
					}
					repository, _, _ := strings.Cut(image, ":v")
					entries = append(entries, queue.Entry{Key: fmt.Sprintf("%032x", i), Within: time.Hour, To: to, From: repository, Data: data})
				}
				if taken, _, err := q.Put(b.Context(), entries...); err != nil || len(taken) != len(entries) {
					b.Errorf("%d taken, %v", len(taken), err)
				}
			}
		})
	}
	for from := 0; from < n; from += at {
		numbers <- from
	}
	close(numbers)
	wg.Wait()
	if b.Failed() {
		b.FailNow()
	}
}

// resident returns a process' memory in bytes.
func resident(b *testing.B, pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		b.Fatal(err)
	}
	var size, pages int64
	if _, err := fmt.Fscan(bytes.NewReader(text), &size, &pages); err != nil {
		b.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

func sizeOf(b *testing.B, dir string) (size int64) {
	err := filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if info, err := d.Info(); err == nil {
			size += info.Size()
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return size
}
