package controller

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"

	"github.com/olmgraft/graft/internal/failure"
)

// Limits of requests to the server, per second and at once. A thousand CatalogSources follow a new version in
// ten seconds, with two writes each.
const (
	QPS   = 200
	Burst = 400
)

type command struct {
	kubeconfig string
	once       bool
	answer     bool
	in         io.Reader
	out        io.Writer
	listen     string
	webhook    string // address; "" means none
	cert       string // directory
	lease      string // NAMESPACE of the lease; "" means no election
	identity   string
	format     string // of the log
	options    Options
	keeping    keeping
	serving    sync.WaitGroup
}

// Main runs the command line and returns its exit code.
func Main(ctx context.Context, args []string, identity string, in io.Reader, out, errs io.Writer) int {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	c := command{identity: identity, in: in, out: out}
	f := pflag.NewFlagSet("graft-controller", pflag.ContinueOnError)
	f.SetOutput(out)
	f.StringVar(&c.kubeconfig, "kubeconfig", "", "kubeconfig of the cluster. Defaults to $KUBECONFIG, or the pod's own cluster")
	f.StringSliceVar(&c.options.Namespaces, "namespace", nil, "namespaces to watch. Defaults to all")
	f.BoolVar(&c.once, "once", false, "resolve all CatalogSources and exit, with 80 if one does not resolve")
	f.BoolVar(&c.answer, "answer", false, "answer lookups of graft catalogsource resolve --kubeconfig, and change nothing")
	f.DurationVar(&c.options.Poll, "poll", 30*time.Second, "time between checks of the server's version")
	f.StringVar(&c.options.OLM, "olm", OLMAuto, "whether OLM also resolves templates in this cluster: auto, present or absent")
	f.IntVar(&c.options.Workers, "workers", 4, "number of CatalogSources to resolve at a time")
	f.StringVar(&c.listen, "listen", ":8080", "address of /metrics, /healthz and /readyz")
	f.StringVar(&c.webhook, "webhook-listen", "", "HTTPS address of the webhook that converts versions. Defaults to no webhook")
	f.StringVar(&c.cert, "webhook-cert", "/etc/graft-controller/tls", "directory with the webhook's tls.crt and tls.key")
	f.StringVar(&c.format, "log-format", logText, "format of the log on standard error: text or json")
	f.StringVar(&c.lease, "leader-elect", "", "namespace of the lease that elects one of several replicas. Defaults to no election")
	c.keeping.flags(f)
	err := f.Parse(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return 0
	case err == nil && (f.NArg() > 0 || c.options.Poll <= 0 || c.keeping.poll <= 0):
		err = errors.New("it takes no arguments, and --poll and --operands-poll must be positive")
	case err == nil && !slices.Contains([]string{OLMAuto, OLMPresent, OLMAbsent}, c.options.OLM):
		err = fmt.Errorf("--olm is %q, want auto, present or absent", c.options.OLM)
	case err == nil && c.format != logText && c.format != logJSON:
		err = fmt.Errorf("--log-format is %q, want text or json", c.format)
	}
	c.options.Log = c.logger(errs)
	if err != nil {
		err = failure.New(failure.Usage, "reading the command line: %w", err).Fix("Run graft-controller --help.")
	} else {
		err = c.run(klog.NewContext(ctx, logr.FromSlogHandler(c.options.Log.Handler()))) // client-go's messages go there too
	}
	c.tell(errs, err)
	return failure.ExitCode(err)
}

// The formats of the log.
const (
	logText = "text"
	logJSON = "json"
)

func (c *command) logger(errs io.Writer) *slog.Logger {
	if c.format == logJSON {
		return slog.New(slog.NewJSONHandler(errs, nil))
	}
	return slog.New(slog.NewTextHandler(errs, nil))
}

// tell prints the result as text, or as log lines.
func (c *command) tell(errs io.Writer, err error) {
	for _, f := range failure.All(err) {
		if c.format == logJSON {
			c.options.Log.Error(f.Message, "class", f.Class, "code", int(f.Code), "remedy", f.Remedy)
			continue
		}
		fmt.Fprintf(errs, "graft-controller: %s (%s, %d)\n       %s\n", f.Message, f.Class, f.Code, f.Remedy)
	}
}

func (c *command) run(ctx context.Context) error {
	if c.answer {
		return c.answerLookups(ctx)
	}
	work, err := c.controller()
	if err != nil {
		return err
	}
	config := c.options.Config
	if c.once {
		if work.Events, err = poster(config, c.options.Log); err != nil {
			return err
		}
		return c.keeping.once(ctx, work)
	}
	events, stop, err := recorder(ctx, config)
	if err != nil {
		return err
	}
	defer stop()
	work.Events = events
	run, err := c.keeping.run(work)
	if err != nil {
		return err
	}
	defer c.serving.Wait()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	if err := c.serve(ctx, end, c.listen, work.Handler(), nil); err != nil {
		return err
	}
	if c.webhook != "" { // each replica answers, even without leading
		secure, err := certificate(c.cert)
		if err != nil {
			return err
		}
		if err := c.serve(ctx, end, c.webhook, Webhook(), secure); err != nil {
			return err
		}
	}
	if c.lease == "" {
		err = run(ctx)
	} else {
		err = lead(ctx, config, c.lease, c.identity, leading{work, run})
	}
	if cause := context.Cause(ctx); len(failure.All(cause)) > 0 {
		err = errors.Join(cause, err)
	}
	return err
}

// controller returns a controller for the kubeconfig.
func (c *command) controller() (*Controller, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = c.kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return nil, failure.New(failure.Usage, "reading the kubeconfig: %w", err).Fix("Give --kubeconfig with a file that names a cluster.")
	}
	config.QPS, config.Burst, config.UserAgent = QPS, Burst, component
	config.ContentType = runtime.ContentTypeJSON // for all requests: every server accepts JSON
	c.options.Config = config
	return New(c.options)
}

// serve answers until ctx ends, over HTTPS if there is a certificate.
func (c *command) serve(ctx context.Context, end context.CancelCauseFunc, address string, handler http.Handler, secure *tls.Config) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return failure.New(failure.Usage, "listening: %w", err).Fix("Give --listen and --webhook-listen with free addresses.")
	}
	if secure != nil {
		listener = tls.NewListener(listener, secure)
	}
	c.serveOn(ctx, end, listener, handler)
	return nil
}

// serveOn ends ctx if it can no longer answer.
func (c *command) serveOn(ctx context.Context, end context.CancelCauseFunc, listener net.Listener, handler http.Handler) {
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute,
		ErrorLog: slog.NewLogLogger(c.options.Log.Handler(), slog.LevelWarn),
	}
	c.serving.Go(func() {
		<-ctx.Done()
		last, stop := context.WithTimeout(context.Background(), 5*time.Second) // for answers in progress
		defer stop()
		_ = server.Shutdown(last)
	})
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			end(failure.New(failure.Internal, "serving on %s: %w", listener.Addr(), err))
		}
	}()
}

// led is the work of the leading replica.
type led interface {
	Run(ctx context.Context) error
	Standby() // another replica leads
}

// leading is the controller with everything that it does while it leads.
type leading struct {
	*Controller
	run func(context.Context) error
}

// Run implements led.
func (l leading) Run(ctx context.Context) error { return l.run(ctx) }

// lead runs work while it holds the lease, and returns when work has returned. A lost lease ends the process,
// which its supervisor starts again: two working replicas would conflict, but do no harm.
func lead(ctx context.Context, config *rest.Config, namespace, identity string, work led) error {
	client, err := coordination.NewForConfig(config)
	if err != nil {
		return unavailable("setting up the client", err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var mu sync.Mutex
	var begun, ended bool
	done := make(chan error, 1)
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: namespace, Name: "graft-controller"},
			Client:     client,
			LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
		},
		LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second, ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				mu.Lock()
				late := ended
				begun = !late
				mu.Unlock()
				if late {
					return
				}
				err := work.Run(ctx)
				if ctx.Err() == nil { // work ended by itself: release the lease
					stop()
				}
				done <- err
			},
			OnStoppedLeading: func() {},
			OnNewLeader: func(leader string) {
				if leader != identity {
					work.Standby()
				}
			},
		},
	})
	if err != nil {
		return failure.New(failure.Usage, "asking for the lease: %w", err)
	}
	elector.Run(ctx)
	lost := ctx.Err() == nil
	mu.Lock()
	ended = true
	worked := begun
	mu.Unlock()
	if worked {
		err = <-done
	}
	if lost && err == nil {
		err = failure.New(failure.ClusterUnavailable, "holding the lease %s/graft-controller: it was lost", namespace)
	}
	return err
}
