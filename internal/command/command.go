// Package command runs the command line of a program. Only this package converts errors to exit codes.
package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"regexp"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/outbound"
	"github.com/olmgraft/graft/internal/runner"
)

// IO holds the inputs and outputs of a run.
type IO struct {
	In       io.Reader
	Out, Err io.Writer
	Env      func(key string) (value string, ok bool)
	// Sleep waits between attempts of publish. nil uses the clock. The demo shortens the waits.
	Sleep func(context.Context, time.Duration) error
}

// Process returns the IO of this process.
func Process() IO { return IO{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.LookupEnv} }

// App is the state of one run.
type App struct {
	In io.Reader
	// Out and Err are the only access to standard output and standard error.
	Out, Err *runner.Log
	Env      func(key string) (value string, ok bool)
	Sleep    func(context.Context, time.Duration) error
	JSON     bool
	// Reported is set once standard output has its JSON report.
	Reported bool
	name     string
	quiet    bool
	verbose  bool
	grace    atomic.Int64
}

// New returns a run with this IO. On GitHub's runner, its output cannot command the runner.
func New(stdio IO) *App {
	onRunner := false
	if stdio.Env != nil {
		value, _ := stdio.Env("GITHUB_ACTIONS")
		onRunner = value == "true"
	}
	return &App{In: stdio.In, Out: runner.NewLog(stdio.Out, onRunner), Err: runner.NewLog(stdio.Err, onRunner), Env: stdio.Env, Sleep: stdio.Sleep}
}

// Colour reports whether standard output is a terminal and colours are not disabled.
func (a *App) Colour() bool {
	if _, off := a.Env("NO_COLOR"); off {
		return false
	}
	return a.Out.IsTerminal()
}

// Grace gives work in progress this long to stop in order after an interrupt.
func (a *App) Grace(d time.Duration) { a.grace.Store(int64(d)) }

// Printed marks an error whose text is already printed, so that only its exit code is left. Printed(nil) is nil.
func Printed(err error) error {
	if err == nil {
		return nil
	}
	return printed{err}
}

type printed struct{ error }

func (p printed) Unwrap() error { return p.error }

// Root sets up a program's root command with everything that all programs share.
func (a *App) Root(root *cobra.Command) *cobra.Command {
	a.name = root.Name()
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.Version = Version
	f := root.PersistentFlags()
	f.BoolVar(&a.JSON, "json", false, "print one JSON report on standard output")
	f.BoolVarP(&a.quiet, "quiet", "q", false, "print failures alone on standard error")
	f.BoolVarP(&a.verbose, "verbose", "v", false, "print each request to registries and forges on standard error")
	root.PersistentPreRun = func(cmd *cobra.Command, _ []string) {
		a.Err.Quiet(a.quiet)
		if a.verbose {
			cmd.SetContext(outbound.Watch(cmd.Context(), func(method, address string, status int, took time.Duration) {
				fmt.Fprintf(a.Err, "%s: %s %s %s %v\n", a.name, method, address, cmp.Or(http.StatusText(status), "no answer"), took.Round(time.Millisecond))
			}))
		}
	}
	return root
}

// Main runs a command line and returns its exit code. commands returns the root command.
func Main(ctx context.Context, args []string, stdio IO, commands func(*App) *cobra.Command) (code int) {
	a := New(stdio)
	root := commands(a)
	defer func() {
		if bug := recover(); bug != nil {
			fmt.Fprintf(a.Err, "%s: %v (internal, %d)\n       %s\n%s", a.name, bug, failure.Internal, failure.New(failure.Internal, "").Remedy, debug.Stack())
			code = int(failure.Internal)
		}
	}()
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	// Some verbs cannot be stopped in the middle. Files are only replaced as a whole, so exiting is safe at any
	// time.
	defer context.AfterFunc(ctx, func() {
		grace := 2*time.Second + time.Duration(a.grace.Load())
		time.Sleep(grace)
		a.exitInterrupted(grace)
	})()
	root.SetArgs(args)
	markBugs(root)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return int(failure.OK)
	}
	if ctx.Err() != nil {
		err = failure.New(failure.Interrupted, "running %s: %w", cmd.CommandPath(), context.Cause(ctx))
	}
	err = usage(cmd, err, args)
	a.Err.Quiet(false)
	if !errors.As(err, new(printed)) {
		a.PrintFailures(err)
	}
	if a.JSON {
		a.PrintReport(struct {
			SchemaVersion int              `json:"schemaVersion"`
			Result        string           `json:"result"`
			Failures      []*failure.Error `json:"failures,omitempty"`
		}{1, "failed", failure.All(err)})
	}
	return failure.ExitCode(err)
}

// exitInterrupted ends the program although a verb is at work. It does not wait for a reader of standard error that
// has stopped reading.
func (a *App) exitInterrupted(grace time.Duration) {
	said := make(chan struct{})
	go func() {
		a.Err.Quiet(false)
		a.PrintFailures(failure.New(failure.Interrupted, "running %s: it was interrupted, and did not stop within %v", a.name, grace))
		close(said)
	}()
	select {
	case <-said:
	case <-time.After(time.Second):
	}
	os.Exit(int(failure.Interrupted))
}

// errRun marks errors of a verb that are not typed failures, and so are bugs.
var errRun = errors.New("unexpected error")

// markBugs distinguishes the errors of verbs from cobra's.
func markBugs(cmd *cobra.Command) {
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			err := run(cmd, args)
			if err != nil && len(failure.All(err)) == 0 {
				return fmt.Errorf("%w: %w", errRun, err)
			}
			return err
		}
	}
	for _, sub := range cmd.Commands() {
		markBugs(sub)
	}
}

// wrongCount matches cobra's errors about the number of arguments.
var wrongCount = regexp.MustCompile(`arg\(s\), (?:only )?received (\d+)$`)

// usage converts cobra's errors about flags and arguments to usage failures. Only those errors contain no
// failure of Graft.
func usage(cmd *cobra.Command, err error, args []string) error {
	if len(failure.All(err)) > 0 {
		return err
	}
	if errors.Is(err, errRun) {
		return failure.New(failure.Internal, "running %s: %w", cmd.CommandPath(), err)
	}
	said := strings.ReplaceAll(err.Error(), "\n", " ")
	if m := wrongCount.FindStringSubmatch(said); m != nil { // cobra does not name the arguments
		said = fmt.Sprintf("the number of arguments is %s; the usage is %s", m[1], strings.TrimSuffix(cmd.CommandPath(), cmd.Name())+cmd.Use)
	}
	f := failure.New(failure.Usage, "reading the command line: %s", said)
	if m := meant(cmd, err, args); m != "" {
		return f.Fix("Did you mean %s? Run %s --help.", m, cmd.CommandPath())
	}
	return f.Fix("Run %s --help.", cmd.CommandPath())
}

// PrintFailures prints failures on standard error, each once with its places.
func (a *App) PrintFailures(err error) {
	for _, said := range failure.Distinct(failure.All(err)) {
		f := said.First
		place := f.Place()
		if place != "" {
			place += ": "
		}
		fmt.Fprintf(a.Err, "%s: %s%s (%s, %d)\n", a.name, place, f.Message, f.Class, f.Code)
		if also := said.Also(); also != "" {
			fmt.Fprintf(a.Err, "       %s\n", also)
		}
		if f.Remedy != "" {
			fmt.Fprintf(a.Err, "       %s\n", f.Remedy)
		}
	}
}

// PrintReport prints the run's JSON report unless it was printed.
func (a *App) PrintReport(v any) {
	if !a.Reported {
		a.Reported = true
		a.PrintJSON(v)
	}
}

// PrintJSON prints a value on standard output.
func (a *App) PrintJSON(v any) {
	enc := json.NewEncoder(a.Out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	_ = enc.Encode(v) // a closed pipe is the reader's choice
}
