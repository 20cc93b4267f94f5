package relay_test

import (
	"context"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/olmgraft/graft/internal/cli"
)

// The program is this one, by the name of graft: it is found in $PATH.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"graft": func() {
			os.Exit(cli.Main(context.Background(), os.Args[1:], cli.IO{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.LookupEnv}))
		},
	})
}
