// Package nats_test tests the queue that relays share on real NATS servers.
package nats_test

import (
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/olmgraft/graft/internal/relay/queue"
	"github.com/olmgraft/graft/internal/relay/queue/jetstream"
	"github.com/olmgraft/graft/internal/relay/queue/suite"
	"github.com/olmgraft/graft/internal/testkit/effort"
)

// embedded starts a server in this process. change sets the differences from the usual options.
func embedded(t testing.TB, change func(*server.Options)) *server.Server {
	t.Helper()
	o := &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true}
	if change != nil {
		change(o)
	}
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	go s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(20 * time.Second) {
		t.Fatal("the server does not start")
	}
	return s
}

// usual returns options of a queue on servers.
func usual(t testing.TB, url string) jetstream.Options {
	return jetstream.Options{
		URL: url, Stream: "GRAFT", Replicas: 1, Partitions: 4, MaxItems: 1000, MaxBytes: 1 << 20, Remember: time.Hour,
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
}

// asked returns a queue's options with those that a test requires.
func asked(all jetstream.Options, o suite.Options) jetstream.Options {
	all.MaxItems, all.MaxBytes, all.Remember = o.MaxItems, o.MaxBytes, o.Remember
	if o.Partitions > 0 {
		all.Partitions = o.Partitions
	}
	return all
}

// The queue on one server passes the same tests as the queue in a file.
func TestSuite(t *testing.T) {
	suite.Test(t, suite.Engine{Shared: true, Many: effort.Of(t, 1000, 10_000, 10_000), Prepare: func(t *testing.T, o suite.Options) suite.Open {
		s := embedded(t, nil)
		return func() (queue.Queue, error) {
			return jetstream.Open(t.Context(), asked(usual(t, s.ClientURL()), o))
		}
	}})
}

// So does the queue on three servers, with its own streams for each test.
func TestSuiteOnThreeServers(t *testing.T) {
	c := startCluster(t)
	var n atomic.Int64
	suite.Test(t, suite.Engine{Shared: true, Many: effort.Of(t, 1000, 10_000, 10_000), Prepare: func(t *testing.T, o suite.Options) suite.Open {
		all := asked(usual(t, c.url()), o)
		all.Stream, all.Replicas = fmt.Sprint("GRAFT", n.Add(1)), 3
		return func() (queue.Queue, error) { return jetstream.Open(t.Context(), all) }
	}})
}
