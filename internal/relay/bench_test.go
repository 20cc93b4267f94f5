package relay

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkAccept measures announcements that are answered with 202, each written to disk by then: go test -run
// '^$' -bench Accept ./internal/relay
func BenchmarkAccept(b *testing.B) {
	for _, senders := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("senders-for-each-CPU=%d", senders), func(b *testing.B) { benchmarkAccept(b, senders) })
	}
}

func benchmarkAccept(b *testing.B, senders int) {
	dir := b.TempDir()
	url := silent(b, fmt.Sprintf("{dir: %s, items: %d, bytes: 1073741824}", dir, b.N+1))
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: senders}}
	defer client.CloseIdleConnections()
	var n atomic.Int64
	b.SetParallelism(senders)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			body := fmt.Sprintf(`{"image": "quay.io/example/op:v%d", "digest": "sha256:%064x"}`, n.Add(1), n.Load())
			req, err := http.NewRequest(http.MethodPost, url+"/hook", strings.NewReader(body))
			if err != nil {
				b.Error(err)
				return
			}
			req.Header.Set("Authorization", secret)
			resp, err := client.Do(req)
			if err != nil {
				b.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
			if resp.StatusCode != http.StatusAccepted {
				b.Errorf("%d", resp.StatusCode)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "202s/s")
	if info, err := os.Stat(filepath.Join(dir, "queue")); err == nil {
		b.ReportMetric(float64(info.Size())/float64(b.N), "B/delivery")
	}
}

// silent starts a relay whose GitHub is down.
func silent(b *testing.B, queue string) string {
	github := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }))
	b.Cleanup(github.Close)
	c, err := Parse("relay.yaml", fmt.Appendf(nil, `
listen: 127.0.0.1:0
queue: %s
github: {apiURL: %q, firstRetry: 1h, longestRetry: 1h}
routes: [{path: /hook, from: client_payload, secretEnv: SECRET}]
targets: [{images: ["quay.io/example/*"], repositories: [octo/catalog]}]
`, queue, github.URL))
	if err != nil {
		b.Fatal(err)
	}
	r, err := Open(b.Context(), c, Options{
		Env: func(string) (string, bool) { return secret, true }, Log: slog.New(slog.DiscardHandler), Grace: time.Second,
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	b.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			b.Error(err)
		}
	})
	return "http://" + r.Addr()
}

// BenchmarkAmongSlowClients measures announcements while 5,000 other clients never finish their headers: go
// test -run '^$' -bench AmongSlowClients ./internal/relay
func BenchmarkAmongSlowClients(b *testing.B) {
	url := silent(b, fmt.Sprintf("{dir: %s, items: 1000000, bytes: 1073741824}", b.TempDir()))
	defer slowClients(b.Context(), strings.TrimPrefix(url, "http://"), 5000)()
	var took []time.Duration
	for n := 0; b.Loop(); n++ {
		req, err := http.NewRequest(http.MethodPost, url+"/hook", strings.NewReader(fmt.Sprintf(`{"image": "quay.io/example/op:v%d"}`, n)))
		if err != nil {
			b.Fatal(err)
		}
		req.Header.Set("Authorization", secret)
		req.Close = true
		begun := time.Now()
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			b.Fatal(err)
		}
		_ = resp.Body.Close()
		took = append(took, time.Since(begun))
		if resp.StatusCode != http.StatusAccepted {
			b.Fatal(resp.Status)
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Milliseconds()), "p99-ms")
}
