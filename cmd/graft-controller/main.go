// Command graft-controller keeps the images of CatalogSources to their templates.
package main

import (
	"context"
	"crypto/rand"
	"os"

	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/controller"
)

func main() {
	hostname, _ := os.Hostname()
	identity := hostname + "_" + rand.Text() // two processes of one host do not share the lease
	run := command.New(command.Process())
	os.Exit(controller.Main(context.Background(), os.Args[1:], identity, run.In, run.Out, run.Err))
}
