package relay_test

import (
	"context"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/olmgraft/graft/internal/command"
	relay "github.com/olmgraft/graft/internal/relay/command"
)

// helpers are programs of tests.
var helpers = map[string]func(){}

// The test binary is in $PATH as graft-relay.
func TestMain(m *testing.M) {
	helpers["graft-relay"] = func() { os.Exit(relay.Main(context.Background(), os.Args[1:], command.Process())) }
	testscript.Main(m, helpers)
}
