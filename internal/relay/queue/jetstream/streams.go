package jetstream

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/relay/queue"
)

// retryWindow is how long a registry repeats an unanswered request. Within it the server detects duplicates by
// message id; later ones are detected by the stream of keys.
const retryWindow = 2 * time.Hour

const (
	deadBytes = 64 << 20
	// timesRemembered is the number of known keys for each item that may wait.
	timesRemembered = 10
	partitionsKey   = "graft-partitions"
)

// waiting is the stream of waiting items. Its subjects are STREAM.queue.RECEIVER.PARTITION.SOURCE.
func (o Options) waiting() jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: o.Stream, Description: "Accepted deliveries of graft-relay that wait", Subjects: []string{o.Stream + ".queue.*.*.*"},
		Retention: jetstream.WorkQueuePolicy, Storage: jetstream.FileStorage, Replicas: o.Replicas,
		Discard: jetstream.DiscardNew, MaxMsgs: int64(o.MaxItems), MaxBytes: o.MaxBytes,
		Duplicates: min(retryWindow, o.Remember), AllowDirect: true,
		Metadata: map[string]string{partitionsKey: strconv.Itoa(o.Partitions)},
	}
}

// keys is the stream of known keys, each with the number of its newest item.
func (o Options) keys() jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: o.Stream + "_KEYS", Description: "Keys of announcements that graft-relay recognises as duplicates", Subjects: []string{o.Stream + ".key.*"},
		Storage: jetstream.FileStorage, Replicas: o.Replicas, Discard: jetstream.DiscardOld,
		MaxMsgs: timesRemembered * int64(o.MaxItems), MaxMsgsPerSubject: 1, MaxAge: o.Remember,
		Duplicates: min(time.Minute, o.Remember), AllowDirect: true,
	}
}

// dead is the stream of dead letters. Its subjects are STREAM.dead.RECEIVER.
func (o Options) dead() jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: o.Stream + "_DEAD", Description: "Dead letters of graft-relay", Subjects: []string{o.Stream + ".dead.*"},
		Storage: jetstream.FileStorage, Replicas: o.Replicas, Discard: jetstream.DiscardOld, MaxBytes: deadBytes,
		Duplicates: retryWindow, AllowDirect: true,
	}
}

// stream returns a stream with the wanted configuration. It creates a missing one. A different one is a failure
// and stays unchanged, because it may hold another program's data.
func stream(ctx context.Context, js jetstream.JetStream, want jetstream.StreamConfig) (jetstream.Stream, error) {
	var s jetstream.Stream
	err := again(ctx, func(ctx context.Context) (err error) {
		if s, err = js.Stream(ctx, want.Name); errors.Is(err, jetstream.ErrStreamNotFound) {
			s, err = js.CreateStream(ctx, want)
		}
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // another relay was faster
			s, err = js.Stream(ctx, want.Name)
		}
		return err
	})
	if err != nil {
		return nil, failure.New(failure.Usage, "opening the stream %s: %w", want.Name, err).
			Fix("Enable JetStream on at least queue.replicas servers, and let the relay use $JS.API.> and %s.>.", want.Name)
	}
	return s, differs(s.CachedInfo().Config, want)
}

// differs returns all differences from the wanted configuration.
func differs(is, want jetstream.StreamConfig) error {
	const (
		edit  = "Change it with nats stream edit %[1]s, or set the value of the stream in the configuration."
		other = "Give queue.stream another name. The relay does not change the existing stream."
	)
	var errs []error
	for _, one := range []struct {
		what     string
		is, want any
		fix      string
	}{
		{"retention", is.Retention, want.Retention, other},
		{"storage", is.Storage, want.Storage, other},
		{"subjects", is.Subjects, want.Subjects, other},
		{"number of partitions", is.Metadata[partitionsKey], want.Metadata[partitionsKey], "Set queue.partitions to the number of the stream, or give queue.stream another name."},
		{"origin", is.Mirror != nil || len(is.Sources) > 0, false, other},
		{"being sealed", is.Sealed, false, other},
		{"refusal to acknowledge", is.NoAck, false, edit},
		{"refusal to delete", is.DenyDelete, false, other},
		{"number of replicas", is.Replicas, want.Replicas, edit},
		{"number of messages", is.MaxMsgs, unlimited(want.MaxMsgs), edit},
		{"number of bytes", is.MaxBytes, unlimited(want.MaxBytes), edit},
		{"number of messages of a subject", is.MaxMsgsPerSubject, unlimited(want.MaxMsgsPerSubject), edit},
		{"age", is.MaxAge, want.MaxAge, edit},
		{"way to discard", is.Discard, want.Discard, edit},
		{"window for duplicates", is.Duplicates, want.Duplicates, edit},
		{"direct reading", is.AllowDirect, want.AllowDirect, edit},
	} {
		if !reflect.DeepEqual(one.is, one.want) {
			errs = append(errs, failure.New(failure.Usage, "opening the stream %s: its %s is %v, and the configuration has %v", want.Name, one.what, one.is, one.want).
				Fix("%s", strings.ReplaceAll(one.fix, "%[1]s", want.Name)))
		}
	}
	return errors.Join(errs...)
}

// unlimited returns the server's value for no limit.
func unlimited(n int64) int64 {
	if n == 0 {
		return -1
	}
	return n
}

// consumer configures the consumer of a lane. It hands out one item at a time, to the first relay that asks, and
// the next item after that one is over.
func (o Options) consumer(lane string) jetstream.ConsumerConfig {
	return jetstream.ConsumerConfig{
		// Names of receivers may be too long for names of consumers.
		Name: fmt.Sprintf("lane-%x", sum(lane)), Durable: fmt.Sprintf("lane-%x", sum(lane)),
		Description: lane, FilterSubject: lane + ".*", DeliverPolicy: jetstream.DeliverAllPolicy,
		AckPolicy: jetstream.AckExplicitPolicy, AckWait: o.AckWait, MaxDeliver: maxDeliver, MaxAckPending: 1,
		InactiveThreshold: inactive,
	}
}

const (
	// maxDeliver is how many times the server hands an item out. The dispatcher gives it up before.
	maxDeliver = queue.MostHanded + 10
	// inactive is when the server forgets a consumer that no relay polls.
	inactive = 10 * time.Minute
)

func sum(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // a hash never fails
	return h.Sum64()
}

// subject returns the subject of an entry: its lane and the hash of its source, whose name may be long.
func (o Options) subject(to, from string) string {
	return fmt.Sprintf("%s.%016x", o.lane(to, from), sum(from))
}

// lane returns the first parts of the subject, for one partition of one receiver.
func (o Options) lane(to, from string) string {
	return fmt.Sprintf("%s.queue.%s.%d", o.Stream, token(to), sum(from)%uint64(o.Partitions))
}

func (o Options) keySubject(key string) string { return o.Stream + ".key." + token(key) }

// token converts a text to one part of a subject. Harmless characters stay.
func token(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "=%02X", c)
		}
	}
	if b.Len() == 0 {
		return "="
	}
	return b.String()
}
