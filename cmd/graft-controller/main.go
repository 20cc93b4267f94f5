// Command graft-controller keeps the images of CatalogSources to their templates.
package main

import (
	"context"
	"os"

	"github.com/olmgraft/graft/internal/controller"
)

func main() {
	hostname, _ := os.Hostname() // without one the lease is not granted
	os.Exit(controller.Main(context.Background(), os.Args[1:], hostname, os.Stdin, os.Stdout, os.Stderr))
}
