// Command graft-controller keeps the images of CatalogSources to their templates.
package main

import (
	"context"
	"crypto/rand"
	"os"

	"github.com/olmgraft/graft/internal/controller"
)

func main() {
	hostname, _ := os.Hostname()
	identity := hostname + "_" + rand.Text() // two processes of one host do not share the lease
	os.Exit(controller.Main(context.Background(), os.Args[1:], identity, os.Stdin, os.Stdout, os.Stderr))
}
