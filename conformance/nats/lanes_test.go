package nats_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/olmgraft/graft/internal/relay/queue"
	"github.com/olmgraft/graft/internal/relay/queue/jetstream"
)

// first runs a queue until it hands out an item, and returns that item to the queue.
func first(t *testing.T, o jetstream.Options, entries ...queue.Entry) queue.Item {
	t.Helper()
	q, err := jetstream.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	if _, _, err := q.Put(t.Context(), entries...); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var got queue.Item
	err = q.Run(ctx, func(items ...queue.Item) {
		got = items[0]
		cancel()
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// Once the server has handed out an item as often as it may, it stops. The relay notices and gets the item again.
func TestWornOut(t *testing.T) {
	o := usual(t, embedded(t, nil).ClientURL())
	put := queue.Entry{Key: "a", Within: time.Hour, To: "octo/catalog", From: "quay.io/a/b", Data: []byte(`{}`)}
	if got := first(t, o, put); got.Key != "a" || got.Handed != 0 {
		t.Fatalf("%+v was handed out", got)
	}
	if got := first(t, o); got.Key != "a" || got.Handed != 1 {
		t.Fatalf("after one relay, %+v was handed out", got)
	}
	s := stream(t, o.URL, o.Stream)
	names := s.ConsumerNames(t.Context())
	name := <-names.Name()
	consumer, err := s.Consumer(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	handed := 0
	for ; ; handed++ {
		batch, err := consumer.Fetch(1, natsjs.FetchMaxWait(time.Second))
		if err != nil {
			t.Fatal(err)
		}
		msg := <-batch.Messages()
		if msg == nil {
			break
		}
		if err := msg.Nak(); err != nil {
			t.Fatal(err)
		}
	}
	if handed < queue.MostHanded {
		t.Fatalf("the server handed it out %d times more", handed)
	}
	if got := first(t, o); got.Key != "a" || got.Handed != 0 {
		t.Errorf("a restarted lane handed out %+v", got)
	}
}

// An item whose end is recorded while its lane's consumer has no leader does not hold the lane until AckWait has passed.
func TestLeaderOfLaneIsLost(t *testing.T) {
	c := startCluster(t)
	o := usual(t, c.url())
	o.Replicas = 3
	q, err := jetstream.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	for _, key := range []string{"a", "b"} {
		if _, _, err := q.Put(t.Context(), queue.Entry{Key: key, Within: time.Hour, To: "octo/catalog", From: "quay.io/a/b", Data: []byte(`{}`)}); err != nil {
			t.Fatal(err)
		}
	}
	items := make(chan queue.Item, 10)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- q.Run(ctx, func(all ...queue.Item) {
			for _, item := range all {
				items <- item
			}
		})
	}()
	a := <-items
	s := stream(t, o.URL, o.Stream)
	name := <-s.ConsumerNames(t.Context()).Name()
	consumer, err := s.Consumer(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	var leader int
	if _, err := fmt.Sscanf(consumer.CachedInfo().Cluster.Leader, "n%d", &leader); err != nil {
		t.Fatal(err)
	}
	c.servers[leader].kill()
	begun := time.Now()
	persist(t.Context(), func() error { return q.Done(t.Context(), a) })
	told := time.Since(begun)
	b := <-items
	took := time.Since(begun)
	t.Logf("the end was recorded after %v, and the next item came after %v", told.Round(time.Millisecond), took.Round(time.Millisecond))
	if b.Key != "b" || took > 25*time.Second {
		t.Errorf("%s came after %v", b.Key, took)
	}
	persist(t.Context(), func() error { return q.Done(t.Context(), b) })
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
