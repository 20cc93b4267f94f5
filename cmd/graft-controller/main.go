// Command graft-controller updates the images of CatalogSources from their templates.
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
	identity := hostname + "_" + rand.Text() // two processes of one host have different identities
	run := command.New(command.Process())
	os.Exit(controller.Main(context.Background(), os.Args[1:], identity, run.In, run.Out, run.Err))
}
