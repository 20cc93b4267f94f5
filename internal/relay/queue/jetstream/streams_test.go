package jetstream

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/olmgraft/graft/internal/failure"
)

// A receiver is one part of a subject, and different receivers have different parts.
func TestTokens(t *testing.T) {
	seen := map[string]string{}
	for _, text := range []string{"", "=", "octo/catalog", "octo/cata.log", "octo/cata_log", "octo/cata-log", "octo.catalog", "a*", "a>", "a b", "ä", "=2F", "/", "%2F"} {
		got := token(text)
		if got == "" || strings.ContainsAny(got, ". *>\t/\\") {
			t.Errorf("%q becomes %q, which is not one part of a subject", text, got)
		}
		if other, ok := seen[got]; ok {
			t.Errorf("%q and %q both become %q", text, other, got)
		}
		seen[got] = text
	}
	if got := token("octo/catalog"); got != "octo=2Fcatalog" {
		t.Errorf("%s is unreadable", got)
	}
}

// One source has one lane for each receiver, and receivers share no lane.
func TestLanes(t *testing.T) {
	o := Options{Stream: "S", Partitions: 4}
	lanes, subjects := map[string]bool{}, map[string]bool{}
	for _, from := range []string{"quay.io/a/a", "quay.io/a/b", "quay.io/a/c", "quay.io/a/d", "quay.io/a/e", "quay.io/a/f", "quay.io/a/g", "quay.io/a/h"} {
		lane := o.lane("octo/catalog", from)
		if lane != o.lane("octo/catalog", from) || !strings.HasPrefix(lane, "S.queue.octo=2Fcatalog.") || lane == o.lane("octo/other", from) {
			t.Errorf("%s has the lane %s", from, lane)
		}
		subject := o.subject("octo/catalog", from)
		if laneOf(subject) != lane || subjects[subject] {
			t.Errorf("%s has the subject %s", from, subject)
		}
		subjects[subject] = true
		lanes[lane] = true
	}
	if len(lanes) < 2 || len(lanes) > 4 {
		t.Errorf("%d lanes for 8 sources: %v", len(lanes), lanes)
	}
	if a, b := o.consumer("S.queue.a.1"), o.consumer("S.queue.a.2"); a.Name == b.Name || a.Name != a.Durable {
		t.Errorf("consumers are called %s and %s", a.Name, b.Name)
	}
}

// Each difference is reported with the stream's value and the wanted one.
func TestDiffers(t *testing.T) {
	o := Options{Stream: "S", Replicas: 3, Partitions: 16, MaxItems: 10, MaxBytes: 1000, Remember: time.Hour}
	for _, want := range []jetstream.StreamConfig{o.waiting(), o.keys(), o.dead()} {
		same := want
		same.MaxMsgs, same.MaxBytes, same.MaxMsgsPerSubject = unlimited(want.MaxMsgs), unlimited(want.MaxBytes), unlimited(want.MaxMsgsPerSubject)
		same.Metadata = map[string]string{"_nats.ver": "2.15.2", partitionsKey: want.Metadata[partitionsKey]}
		same.Description, same.MaxConsumers = "other words", -1
		if err := differs(same, want); err != nil {
			t.Errorf("%s differs from itself: %v", want.Name, err)
		}
	}
	is := o.waiting()
	is.MaxMsgsPerSubject = -1
	is.Replicas, is.Retention, is.Metadata = 1, jetstream.LimitsPolicy, map[string]string{partitionsKey: "4"}
	all := failure.All(differs(is, o.waiting()))
	if len(all) != 3 {
		t.Fatalf("%d differences: %v", len(all), all)
	}
	for i, want := range []string{"its retention is Limits, and the configuration has WorkQueue", "its number of partitions is 4, and the configuration has 16", "its number of replicas is 1, and the configuration has 3"} {
		if !strings.Contains(all[i].Message, "opening the stream S: "+want) || all[i].Remedy == "" {
			t.Errorf("%s (%s), want %s", all[i].Message, all[i].Remedy, want)
		}
	}
	if want := "Change it with nats stream edit S, or set the value of the stream in the configuration."; all[2].Remedy != want {
		t.Errorf("the remedy is %s", all[2].Remedy)
	}
}
