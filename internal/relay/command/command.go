// Package command is the command line of graft-relay.
package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/oci"
	"github.com/olmgraft/graft/internal/relay"
)

// grace is how long a stop waits for requests and dispatches in progress. Kubernetes allows thirty seconds.
const grace = 20 * time.Second

// Main runs the command line and returns its exit code.
func Main(ctx context.Context, args []string, stdio command.IO) (code int) {
	return command.Main(ctx, args, stdio, root)
}

func root(a *command.App) *cobra.Command {
	var file, listen, queue, replay, format string
	var check, dead bool
	cmd := a.Root(&cobra.Command{
		Use:   "graft-relay --config FILE",
		Short: "Serve registry webhooks, and send repository_dispatch events",
		Long: "Graft-relay receives the webhooks of registries and sends repository_dispatch events to the repositories that\n" +
			"its configuration maps the images to. It answers 202 once the announcement is in its queue, on disk or in\n" +
			"NATS, where it stays until GitHub accepts it. docs/relay-reference.md describes the configuration.\n\n" +
			"Environment: GITHUB_TOKEN, if the configuration names neither a token file nor an App;\n" +
			"OTEL_EXPORTER_OTLP_ENDPOINT for traces, and the other variables of OpenTelemetry.",
		Example: "  graft-relay --config relay.yaml\n" +
			"  graft-relay --config relay.yaml --check\n" +
			"  graft-relay check --config relay.yaml quay.io/example/op-bundle:v1.2.3\n" +
			"  graft-relay --config relay.yaml --replay /var/lib/graft/dead.jsonl",
		Args:    cobra.NoArgs,
		Version: command.Version,
	})
	f := cmd.Flags()
	f.StringVar(&file, "config", "", "configuration file")
	f.StringVar(&listen, "listen", "", "address to listen on. Defaults to the configuration's")
	f.StringVar(&queue, "queue", "", "folder of the queue, or its address, nats://HOST:4222. Defaults to the configuration's")
	f.StringVar(&format, "log", "json", "format of the log: json or text")
	f.BoolVar(&check, "check", false, "check the configuration and the files that it names, and exit")
	f.BoolVar(&dead, "dead", false, "print the dead letters of the queue, one a line, and exit")
	f.StringVar(&replay, "replay", "", "send the dead letters in this file again, and exit")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := read(file)
		if err != nil {
			return err
		}
		c.Listen = cmp.Or(listen, c.Listen)
		c.Queue.Use(queue)
		o, err := options(a, c, format)
		if err != nil {
			return err
		}
		switch {
		case check:
			_, err := collector(c, a.Env)
			if err := errors.Join(relay.Check(c, o), err); err != nil {
				return err
			}
			fmt.Fprintf(a.Out, "%s: %d routes, %d targets, nothing is wrong\n", file, len(c.Routes), len(c.Targets))
			return nil
		case dead:
			return relay.Letters(cmd.Context(), c, o, a.Out)
		case replay != "":
			return relay.Replay(cmd.Context(), c, o, replay, a.Out)
		}
		return serve(cmd.Context(), a, c, o)
	}
	cmd.AddCommand(checkCommand(a))
	return cmd
}

func serve(ctx context.Context, a *command.App, c *relay.Config, o relay.Options) error {
	traces, err := openTraces(ctx, a, c, o.Log)
	if err != nil {
		return err
	}
	if traces != nil {
		o.Traces = traces
		defer closeTraces(ctx, traces, o.Log)
	}
	r, err := relay.Open(ctx, c, o)
	if err != nil {
		return err
	}
	a.Grace(grace + flushWithin)
	return r.Run(ctx)
}

func read(file string) (*relay.Config, error) {
	if file == "" {
		return nil, failure.New(failure.Usage, "reading the command line: --config is missing").Fix("Give --config FILE; docs/relay.md has an example.")
	}
	return relay.Read(file)
}

func options(a *command.App, c *relay.Config, format string) (relay.Options, error) {
	log, err := newLog(a, format)
	if err != nil {
		return relay.Options{}, err
	}
	o := relay.Options{Env: a.Env, Log: log, UserAgent: "graft/" + command.Version, Grace: grace}
	if c.ResolveDigests {
		client, err := oci.New(oci.Options{Jobs: 8, UserAgent: o.UserAgent})
		if err != nil {
			return o, err
		}
		o.Resolve = client.Resolve
	}
	return o, nil
}
