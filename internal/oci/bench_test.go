package oci

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/testkit/registry"
)

// sizedBundle returns a bundle whose manifests have about this size and compress about as well as real ones.
func sizedBundle(n, size int) registry.Bundle {
	b := sampleBundle()
	random := rand.New(rand.NewPCG(uint64(n), 1))
	for part := range 4 {
		var text strings.Builder
		for text.Len() < size/4 {
			fmt.Fprintf(&text, "              field%04d:\n                description: %x\n                type: string\n", random.IntN(10_000), random.Uint32())
		}
		b.Files[fmt.Sprintf("manifests/crd-%d.yaml", part)] = []byte(text.String())
	}
	b.Labels["version"] = fmt.Sprint(n)
	return b
}

func BenchmarkPull(b *testing.B) {
	for _, size := range []int{60 << 10, 500 << 10} {
		for _, latency := range []time.Duration{0, 20 * time.Millisecond} {
			b.Run(fmt.Sprintf("%dKiB/%v", size>>10, latency), func(b *testing.B) {
				s := startServer(b)
				push(b, s, "acme/operator:v1", sizedBundle(1, size), registry.Form{})
				s.SetLatency(latency)
				b.ReportAllocs()
				var requests int
				for b.Loop() {
					c, _ := newClient(b, s, nil)
					s.Reset()
					if _, err := c.Pull(context.Background(), testRepo+":v1"); err != nil {
						b.Fatal(err)
					}
					requests = s.Count()
				}
				b.ReportMetric(float64(requests), "requests/op")
			})
		}
	}
}

// The benchmark pulls with a pool of workers on one client, as a render does.
func BenchmarkPull100(b *testing.B) {
	const n = 100
	for _, latency := range []time.Duration{0, 20 * time.Millisecond} {
		b.Run(latency.String(), func(b *testing.B) {
			s := startServer(b)
			for i := range n {
				push(b, s, fmt.Sprintf("acme/operator:v%d", i), sizedBundle(i, 60<<10), registry.Form{})
			}
			s.SetLatency(latency)
			b.ReportAllocs()
			var requests int
			for b.Loop() {
				c, _ := newClient(b, s, nil)
				s.Reset()
				work := make(chan int)
				done := make(chan error)
				for range 8 {
					go func() {
						var err error
						for i := range work {
							if _, perr := c.Pull(context.Background(), fmt.Sprintf("%s:v%d", testRepo, i)); perr != nil {
								err = perr
							}
						}
						done <- err
					}()
				}
				for i := range n {
					work <- i
				}
				close(work)
				for range 8 {
					if err := <-done; err != nil {
						b.Fatal(err)
					}
				}
				requests = s.Count()
			}
			b.ReportMetric(float64(requests)/n, "requests/bundle")
		})
	}
}

func BenchmarkUnpack(b *testing.B) {
	bundle := sizedBundle(1, 500<<10)
	var entries []registry.Entry
	for name, data := range bundle.Files {
		entries = append(entries, registry.Entry{Name: name, Data: data})
	}
	for _, compression := range []registry.Compression{registry.Gzip, registry.Zstd, registry.Plain} {
		b.Run(string(compression), func(b *testing.B) {
			blob := packed(b, compression, entries...).Blob
			b.ReportAllocs()
			b.SetBytes(500 << 10)
			for b.Loop() {
				if _, err := unpack(b.Context(), [][]byte{blob}, usual, defaultLimits); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
