// Command graft-demo shows all of graft publish on one machine.
package main

import (
	"context"
	"os"

	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/demo"
)

func main() { os.Exit(demo.Main(context.Background(), os.Args[1:], command.Process())) }
