package relay

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/olmgraft/graft/internal/event"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/relay/queue"
)

// Options are the settings from the process rather than the configuration.
type Options struct {
	Env func(key string) (value string, ok bool)
	Log *slog.Logger
	// Traces receives the spans. nil drops them.
	Traces    trace.TracerProvider
	UserAgent string
	// Resolve asks a registry for the digest of a reference. nil if the configuration does not ask for that.
	Resolve func(ctx context.Context, ref string) (string, error)
	// Transport is the HTTP transport for GitHub and Google, for tests.
	Transport http.RoundTripper
	// Grace is how long a stop waits for requests and dispatches in progress.
	Grace time.Duration
}

func (o Options) transport() http.RoundTripper {
	if o.Transport != nil {
		return o.Transport
	}
	return newTransport()
}

func (o Options) client() *http.Client { return &http.Client{Transport: o.transport()} }

// Relay is a server with its queue.
type Relay struct {
	config     *Config
	options    Options
	queue      queue.Queue
	routes     map[string]*route
	dispatcher *dispatcher
	metrics    *metrics
	traces     traces
	log        *slog.Logger
	slots      *slots
	proxies    []netip.Prefix // whose X-Forwarded-For is trusted

	listener *connections
	admin    net.Listener
	stopping atomic.Bool
}

// route is a Route with its senders' secrets.
type route struct {
	Route
	forms   []event.Form // of its sender
	secrets *secrets
	google  *google
}

// Check reads everything that the configuration names: secrets, token, key.
func Check(c *Config, o Options) error {
	_, _, err := parts(c, o)
	return err
}

func parts(c *Config, o Options) (map[string]*route, tokens, error) {
	var errs []error
	routes := map[string]*route{}
	for _, r := range c.Routes {
		one := &route{Route: r, forms: event.FormsOf(r.From)}
		if r.Proof == event.ByGoogle {
			keys := r.KeysURL
			if keys == "" {
				keys = googleKeys
			}
			one.google = &google{audience: r.Audience, account: r.Account, keysURL: keys, http: o.client()}
		} else {
			var err error
			if one.secrets, err = openSecrets(r, o.Env, time.Now()); err != nil {
				errs = append(errs, failure.New(failure.Usage, "reading the secrets: %w", err).
					Fix("Give a secret of at least %d characters, such as openssl rand -hex 32 makes.", shortestSecret))
			}
		}
		routes[r.Path] = one
	}
	tokens, err := openTokens(c.GitHub, o, o.client(), time.Now)
	return routes, tokens, errors.Join(append(errs, err, c.Queue.readable())...)
}

// Open reads everything that the configuration names, and opens the queue and the addresses. Run serves.
func Open(ctx context.Context, c *Config, o Options) (*Relay, error) {
	routes, tokens, err := parts(c, o)
	if err != nil {
		return nil, err
	}
	r := &Relay{
		config: c, options: o, routes: routes, metrics: newMetrics(), traces: newTraces(o.Traces), log: o.Log,
		slots: newSlots(c.Limits.Requests, c.Limits.PerAddress), proxies: c.Limits.proxies(),
	}
	if r.queue, err = c.openQueue(ctx, o.Log); err != nil {
		return nil, err
	}
	if err := r.listen(ctx); err != nil {
		return nil, errors.Join(err, r.queue.Close())
	}
	d := newSender(c.GitHub, tokens, o.UserAgent, o.transport())
	r.dispatcher = &dispatcher{
		config: c, send: d.send, queue: r.queue, metrics: r.metrics, traces: r.traces, log: o.Log,
		accounts: map[string]*account{}, waits: map[string]int{}, wake: make(chan struct{}, 1),
	}
	r.metrics.registry.MustRegister(gauges{config: c, state: r.queue.State, held: r.dispatcher.holds, waiting: r.dispatcher.waiting, limits: d.limits.now, now: time.Now})
	return r, nil
}

func (r *Relay) listen(ctx context.Context) error {
	open := func(address string) (net.Listener, error) {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
		if err != nil {
			return nil, failure.New(failure.Usage, "listening: %w", err).Fix("Give a free address.")
		}
		return l, nil
	}
	hooks, err := open(r.config.Listen)
	if err != nil {
		return err
	}
	r.listener = listenWithin(hooks, r.config.Limits.Connections)
	if r.config.AdminListen != "" {
		if r.admin, err = open(r.config.AdminListen); err != nil {
			return errors.Join(err, r.listener.Close())
		}
	}
	return nil
}

// Addr returns the relay's address.
func (r *Relay) Addr() string { return r.listener.Addr().String() }

// Run serves until the context ends or the queue breaks, and then stops in order: it accepts no new request,
// answers those in progress, waits for dispatches in progress, and closes the queue.
func (r *Relay) Run(ctx context.Context) error {
	r.log.Info("listening", "address", r.Addr(), "waiting", r.queue.State(ctx).Items, "routes", len(r.routes))
	stop, end := context.WithCancel(context.WithoutCancel(ctx))
	abort, kill := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	defer kill()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.dispatcher.run(stop, abort)
	}()
	var handing sync.WaitGroup
	broken := make(chan error, 1)
	handing.Go(func() { broken <- r.queue.Run(stop, r.dispatcher.add) })
	servers := r.servers()
	failed := make(chan error, len(servers))
	for listener, server := range servers {
		go func() { failed <- server.Serve(listener) }()
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-broken:
	case err = <-failed:
		err = failure.New(failure.Internal, "serving: %w", err)
	}
	r.stopping.Store(true)
	r.log.Info("stopping")
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.options.Grace)
	defer cancel()
	end()
	handing.Wait()
	for _, server := range servers {
		if server.Shutdown(grace) != nil {
			_ = server.Close()
		}
	}
	select {
	case <-ended:
	case <-grace.Done():
		kill()
		<-ended
	}
	r.log.Info("stopped", "waiting", r.queue.State(grace).Items)
	return errors.Join(err, r.queue.Close())
}
