package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/relay"
)

// explained is the report of check.
type explained struct {
	SchemaVersion int                 `json:"schemaVersion"`
	Result        string              `json:"result"`
	Images        []relay.Explanation `json:"images"`
	Failures      []*failure.Error    `json:"failures,omitempty"`
}

// checkCommand explains how the relay handles images.
func checkCommand(a *command.App) *cobra.Command {
	var file, output string
	var online bool
	cmd := &cobra.Command{
		Use:   "check --config FILE IMAGE...",
		Short: "Show which events an image would cause, and why others would not be sent",
		Long: "Check shows, for each image, which routes announce it, and which repositories receive which event, by which\n" +
			"pattern and with which credential. It also shows which targets do not match, and why. It needs no secret.\n" +
			"With --online it asks GitHub whether each repository accepts events; it sends none.",
		Example: "  graft-relay check --config relay.yaml quay.io/example/op-bundle:v1.2.3\n" +
			"  graft-relay check --config relay.yaml --online -o json quay.io/example/op-bundle:v1.2.3",
		Args: cobra.MinimumNArgs(1),
	}
	f := cmd.Flags()
	f.StringVar(&file, "config", "", "configuration file")
	f.StringVarP(&output, "output", "o", "text", "text or json")
	f.BoolVar(&online, "online", false, "ask GitHub whether it would accept the events, and send none")
	cmd.RunE = func(cmd *cobra.Command, images []string) error {
		if output != "text" && output != "json" {
			return failure.New(failure.Usage, "reading the command line: --output: invalid value %q", output).Fix("Give --output with text or json.")
		}
		a.JSON = a.JSON || output == "json"
		c, err := read(file)
		if err != nil {
			return err
		}
		all, err := explain(cmd.Context(), a, c, images, online)
		if len(all) == 0 {
			return err
		}
		if a.JSON {
			rep := explained{SchemaVersion: 1, Result: "ok", Images: all, Failures: failure.All(err)}
			if err != nil {
				rep.Result = "failed"
			}
			a.PrintReport(rep)
			return err
		}
		for _, e := range all {
			tell(a.Out, e)
		}
		return err
	}
	return cmd
}

func explain(ctx context.Context, a *command.App, c *relay.Config, images []string, online bool) (all []relay.Explanation, err error) {
	ask := func(*relay.Explanation) error { return nil }
	if online {
		o, err := options(a, c, "")
		if err != nil {
			return nil, err
		}
		if ask, err = relay.Online(ctx, c, o); err != nil {
			return nil, err
		}
	}
	var errs []error
	for _, image := range images {
		e, err := relay.Explain(c, image)
		errs = append(errs, err)
		if e.Image == "" {
			continue
		}
		if err == nil {
			errs = append(errs, ask(&e))
		}
		all = append(all, e)
	}
	return all, errors.Join(errs...)
}

// mostMisses limits the printed targets that do not receive an image.
const mostMisses = 5

// tell prints an explanation.
func tell(out io.Writer, e relay.Explanation) {
	line := func(word, format string, args ...any) {
		fmt.Fprintf(out, "  %-13s %s\n", word, fmt.Sprintf(format, args...))
	}
	fmt.Fprintln(out, e.Image)
	var routes []string
	for _, r := range e.Routes {
		routes = append(routes, r.Path+" ("+r.From+")")
	}
	if len(routes) == 0 {
		routes = []string{"no route"}
	}
	line("announced at", "%s", strings.Join(routes, ", "))
	if e.Skipped != "" {
		line("skipped", "%s", e.Skipped)
	}
	for _, s := range e.Sends {
		line("sent to", "%s as %s: %s is %s", s.Repository, s.EventType, s.By, s.Pattern)
		line("", "with %s", s.Credential)
		if s.GitHub != "" {
			line("", "GitHub: %s", s.GitHub)
		}
	}
	for i, m := range e.Misses {
		if i == mostMisses {
			line("", "nor by %d more", len(e.Misses)-i)
			break
		}
		line("not by", "%s: %s", m.Target, m.Reason)
	}
}
