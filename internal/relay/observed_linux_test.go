package relay_test

import (
	"fmt"
	"os"

	"github.com/olmgraft/graft/internal/testkit/syscalls"
)

// observed runs a program whose system calls are observed.
func init() {
	helpers["observed"] = func() {
		fmt.Fprintln(os.Stderr, syscalls.Main(os.Args[1:]))
		os.Exit(1)
	}
}
