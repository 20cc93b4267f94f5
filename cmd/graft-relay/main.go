// Command graft-relay receives webhooks of registries and sends repository_dispatch events.
package main

import (
	"context"
	"os"

	"github.com/olmgraft/graft/internal/command"
	relay "github.com/olmgraft/graft/internal/relay/command"
)

func main() { os.Exit(relay.Main(context.Background(), os.Args[1:], command.Process())) }
