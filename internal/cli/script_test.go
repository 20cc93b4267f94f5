package cli

import (
	"context"
	"flag"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite what the scripts and generated pages expect")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"graft": func() {
			os.Exit(Main(context.Background(), os.Args[1:], IO{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.LookupEnv}))
		},
	})
}

// TestScripts runs what a person types.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "../../testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exitcode": exitCode},
	})
}

// exitCode runs a command and holds its exit code: exitcode 31 graft insert ...
func exitCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exitcode CODE COMMAND [ARG...]")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if e, ok := err.(interface{ ExitCode() int }); ok {
		got = itoa(e.ExitCode())
	} else if err != nil {
		ts.Fatalf("running %v: %v", args[1:], err)
	}
	if got != args[0] {
		ts.Fatalf("%v exited with %s, want %s", args[1:], got, args[0])
	}
}
