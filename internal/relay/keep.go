package relay

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/relay/queue"
	"github.com/olmgraft/graft/internal/relay/queue/file"
	"github.com/olmgraft/graft/internal/relay/queue/jetstream"
)

// Queue configures where accepted announcements are kept, and how many: in a folder, or with a URL in streams
// of NATS, which relays share.
type Queue struct {
	Dir        string        `yaml:"dir"`
	Items      int           `yaml:"items"`
	Bytes      int64         `yaml:"bytes"`
	URL        string        `yaml:"url"`
	Stream     string        `yaml:"stream"`
	Replicas   int           `yaml:"replicas"`
	Partitions int           `yaml:"partitions"`
	Creds      string        `yaml:"creds"`
	NKey       string        `yaml:"nkey"`
	TLS        jetstream.TLS `yaml:"tls"`
}

// UnmarshalYAML accepts an address in place of a mapping.
func (q *Queue) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode && node.Tag == "!!str" {
		q.URL = node.Value
		return nil
	}
	type plain Queue
	return node.Decode((*plain)(q))
}

// Use sets the place from the command line, an address or a folder, in place of the configuration's.
func (q *Queue) Use(place string) {
	switch {
	case strings.Contains(place, "://"):
		q.URL = place
	case place != "":
		q.Dir, q.URL = place, ""
	}
}

var streamGrammar = regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`)

func (q *Queue) check(fault faulty, d document) {
	at := func(key string) []any { return []any{"queue", key} }
	if q.Items < 1 || q.Bytes < 64<<10 || q.Bytes > 1<<30 {
		fault("Set items to at least 1, and bytes to a size between 64 KiB and 1 GiB.", []any{"queue"}, "%d items and %d bytes are out of range", q.Items, q.Bytes)
	}
	if q.URL == "" {
		if q.Creds+q.NKey != "" || q.TLS != (jetstream.TLS{}) {
			fault("Add url, or remove creds, nkey and tls.", []any{"queue"}, "creds, nkey and tls need url")
		}
		return
	}
	if d.root.Get("queue").Get("dir") != nil {
		fault("Keep one of the two.", at("dir"), "url is set too")
	}
	for one := range strings.SplitSeq(q.URL, ",") {
		u, err := url.Parse(one)
		if err != nil || u.Host == "" || u.Path != "" || u.Scheme != "nats" && u.Scheme != "tls" {
			fault("Write nats://HOST:4222 or tls://HOST:4222, or several, separated by commas.", []any{"queue"}, "it is not an address of NATS")
		} else if u.User != nil {
			fault("Give creds or nkey, which name a file.", []any{"queue"}, "the address has a secret")
		}
	}
	if !streamGrammar.MatchString(q.Stream) {
		fault("Write at most 32 letters, digits, - and _.", at("stream"), "%q is not the name of a stream", q.Stream)
	}
	if q.Replicas < 1 || q.Replicas > 5 {
		fault("Write 3, or 1 for a single server.", at("replicas"), "%d is not a number of replicas", q.Replicas)
	}
	if q.Partitions < 1 || q.Partitions > 256 {
		fault("Write a number from 1 to 256.", at("partitions"), "%d is not a number of partitions", q.Partitions)
	}
	if q.Creds != "" && q.NKey != "" {
		fault("Keep one of the two.", at("nkey"), "creds is set too")
	}
	if (q.TLS.Cert == "") != (q.TLS.Key == "") {
		fault("Set both, or neither.", at("tls"), "cert and key need each other")
	}
}

// readable checks that the files which the queue names can be read.
func (q *Queue) readable() error {
	var errs []error
	for _, path := range []string{q.Creds, q.NKey, q.TLS.CA, q.TLS.Cert, q.TLS.Key} {
		if path == "" || q.URL == "" {
			continue
		}
		f, err := os.Open(path)
		if err != nil {
			errs = append(errs, failure.New(failure.Usage, "reading the credentials of the queue: %w", err).Fix("Give files that exist."))
			continue
		}
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

func (c *Config) openQueue(ctx context.Context, log *slog.Logger) (queue.Queue, error) {
	if c.Queue.URL != "" {
		return jetstream.Open(ctx, c.shared(log))
	}
	return file.Open(file.Options{Dir: c.Queue.Dir, MaxItems: c.Queue.Items, MaxBytes: c.Queue.Bytes, Remember: c.ReplayWindow})
}

func (c *Config) shared(log *slog.Logger) jetstream.Options {
	q := c.Queue
	return jetstream.Options{
		URL: q.URL, Creds: q.Creds, NKey: q.NKey, TLS: q.TLS, Stream: q.Stream, Replicas: q.Replicas, Partitions: q.Partitions,
		MaxItems: q.Items, MaxBytes: q.Bytes, Remember: c.ReplayWindow, Log: log,
	}
}

// Letters writes the dead letters of the queue, one per line and the oldest first. Relays may run meanwhile.
func Letters(ctx context.Context, c *Config, o Options, to io.Writer) error {
	if c.Queue.URL != "" {
		return jetstream.Letters(ctx, c.shared(o.Log), to)
	}
	return file.Letters(c.Queue.Dir, to)
}

// replay returns the command that sends the dead letters of the queue again.
func (q *Queue) replay() string {
	if q.URL != "" {
		return "graft-relay --config FILE --dead >dead.jsonl && graft-relay --config FILE --replay dead.jsonl"
	}
	return "graft-relay --config FILE --replay " + filepath.Join(q.Dir, file.DeadName)
}
