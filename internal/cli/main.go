// Package cli is the command line: one file a verb. It is the only place where errors
// become exit codes.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/failure"
)

// IO is what a run reads from and writes to.
type IO struct {
	In       io.Reader
	Out, Err io.Writer
	Env      func(key string) (value string, ok bool)
	// Sleep waits before another try of publish; nil for the clock's. The demo hurries.
	Sleep func(context.Context, time.Duration) error
}

// Main runs the command line and returns its exit code.
func Main(ctx context.Context, args []string, stdio IO) (code int) {
	defer func() {
		if bug := recover(); bug != nil {
			fmt.Fprintf(stdio.Err, "graft: %v (internal, %d)\n       %s\n%s", bug, failure.Internal, failure.New(failure.Internal, "").Remedy, debug.Stack())
			code = int(failure.Internal)
		}
	}()
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	a := &app{IO: stdio}
	// Not every verb can be stopped in the middle. Files are only ever replaced whole, so
	// that leaving is safe at any moment.
	defer context.AfterFunc(ctx, func() {
		time.Sleep(2*time.Second + time.Duration(a.grace.Load()))
		os.Exit(int(failure.Interrupted))
	})()
	root := a.root()
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return int(failure.OK)
	}
	if ctx.Err() != nil {
		err = failure.New(failure.Interrupted, "running %s: %w", cmd.CommandPath(), context.Cause(ctx))
	}
	err = a.usage(cmd, err)
	if !errors.As(err, new(told)) {
		a.printFailures(err)
	}
	if a.json {
		a.printReport(report{Result: "failed", Failures: failure.All(err)})
	}
	return failure.ExitCode(err)
}

// app is the state of one run.
type app struct {
	IO
	json     bool
	reported bool
	// grace is the time, as a time.Duration, that a verb needs to stop in order.
	grace atomic.Int64
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "graft",
		Short:         "Put operator bundles on the upgrade graphs of OLM catalogs",
		Long:          "Graft puts a newly published operator bundle on the upgrade graph of an OLM catalog,\nand touches no byte that the bundle does not need.",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print one JSON report on standard output")
	root.AddCommand(
		a.insertCommand(), a.renderCommand(), a.verifyCommand(), a.publishCommand(), a.initCommand(), a.demoCommand(),
		a.detectCommand(), a.diffCommand(), a.graphCommand(), a.convertCommand(),
		a.imageCommand(), a.catalogSourceCommand(), a.operandCommand(), a.pinCommand(), a.relayCommand(),
		a.explainCommand(), a.formularyCommand(), a.manCommand(), a.versionCommand(),
	)
	return root
}

// usage turns what cobra says about flags and arguments into a usage failure: those
// errors, and only those, carry no failure of ours.
func (a *app) usage(cmd *cobra.Command, err error) error {
	if len(failure.All(err)) > 0 {
		return err
	}
	if errors.Is(err, errRun) {
		return failure.New(failure.Internal, "running %s: %w", cmd.CommandPath(), err)
	}
	return failure.New(failure.Usage, "reading the command line: %s", strings.ReplaceAll(err.Error(), "\n", " ")).
		Fix("Run %s --help.", cmd.CommandPath())
}

// errRun marks errors of a verb that are no typed failure, and so a bug.
var errRun = errors.New("unexpected error")

// run wraps a verb so that its errors are told from cobra's.
func run(f func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		err := f(cmd, args)
		if err != nil && len(failure.All(err)) == 0 {
			return fmt.Errorf("%w: %w", errRun, err)
		}
		return err
	}
}

func (a *app) printFailures(err error) {
	for _, f := range failure.All(err) {
		place := f.Place()
		if place != "" {
			place += ": "
		}
		fmt.Fprintf(a.Err, "graft: %s%s (%s, %d)\n", place, f.Message, f.Class, f.Code)
		if f.Remedy != "" {
			fmt.Fprintf(a.Err, "       %s\n", f.Remedy)
		}
	}
}
