// Command graft puts operator bundles on the upgrade graphs of OLM catalogs.
package main

import (
	"context"
	"os"

	"github.com/olmgraft/graft/internal/cli"
)

func main() {
	os.Exit(cli.Main(context.Background(), os.Args[1:], cli.IO{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.LookupEnv}))
}
