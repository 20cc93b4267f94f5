package jetstream

import (
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/olmgraft/graft/internal/failure"
)

// Options configure a queue. Relays that share one have the same options except those of the connection.
type Options struct {
	// URL is one address or several, separated by commas: nats://HOST:4222, or tls://.
	URL string
	// Creds is a file with a JWT and its seed, NKey a file with a seed. At most one is set.
	Creds, NKey string
	TLS         TLS

	Stream   string
	Replicas int
	// Partitions is the number of items to one receiver that can be handed out at a time, in all relays.
	Partitions int
	MaxItems   int
	MaxBytes   int64
	// Remember is how long the keys of items are known after they were put.
	Remember time.Duration
	// AckWait is how long an item is reserved for a relay that sends no sign of life. 0 means the default.
	AckWait time.Duration
	Log     *slog.Logger
}

// TLS names the files for TLS with the server. Without CA the system's authorities apply.
type TLS struct {
	CA   string `yaml:"ca"`
	Cert string `yaml:"cert"`
	Key  string `yaml:"key"`
}

const (
	usualAckWait = 30 * time.Second
	connectWait  = 5 * time.Second
	// reconnectEvery is short, because a cluster has other servers.
	reconnectEvery = 200 * time.Millisecond
)

// connect returns a connection that reconnects for as long as the process lives. It calls gone if it gives up,
// because the server has refused the relay.
func connect(o Options, gone func()) (*nats.Conn, error) {
	opts := []nats.Option{
		nats.Name("graft-relay"), nats.Timeout(connectWait), nats.MaxReconnects(-1), nats.ReconnectWait(reconnectEvery),
		nats.PingInterval(connectWait), nats.MaxPingsOutstanding(2),
		nats.ReconnectBufSize(-1), // an unsent message must fail
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				o.Log.Warn("the connection to the queue is lost", "error", err.Error())
			}
		}),
		nats.ReconnectHandler(func(c *nats.Conn) { o.Log.Info("connected to the queue again", "server", c.ConnectedServerName()) }),
		nats.ClosedHandler(func(*nats.Conn) { gone() }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			o.Log.Warn("the queue's server reports an error", "error", err.Error())
		}),
	}
	if o.Creds != "" {
		opts = append(opts, nats.UserCredentials(o.Creds))
	}
	if o.NKey != "" {
		key, err := nats.NkeyOptionFromSeed(o.NKey)
		if err != nil {
			return nil, failure.New(failure.Usage, "connecting to the queue: %w", err).Fix("Give queue.nkey a file with the seed of a user.")
		}
		opts = append(opts, key)
	}
	if o.TLS.CA != "" {
		opts = append(opts, nats.RootCAs(o.TLS.CA))
	}
	if o.TLS.Cert != "" {
		opts = append(opts, nats.ClientCert(o.TLS.Cert, o.TLS.Key))
	}
	c, err := nats.Connect(o.URL, opts...)
	if err != nil {
		return nil, failure.New(failure.Usage, "connecting to the queue: %w", err).
			Fix("Check queue.url, queue.creds, queue.nkey and queue.tls, and that a NATS server with JetStream runs there.")
	}
	return c, nil
}
