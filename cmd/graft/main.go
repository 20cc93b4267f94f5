// Command graft puts operator bundles on the upgrade graphs of OLM catalogs.
package main

import (
	"context"
	"os"

	"github.com/olmgraft/graft/internal/cli"
	"github.com/olmgraft/graft/internal/command"
)

func main() { os.Exit(cli.Main(context.Background(), os.Args[1:], command.Process())) }
