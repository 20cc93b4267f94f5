//go:build !unix

package queue

import (
	"os"
	"runtime"

	"github.com/olmgraft/graft/internal/failure"
)

func acquire(string) (*os.File, error) {
	return nil, failure.New(failure.Usage, "opening the queue: there is no lock for it on %s", runtime.GOOS).Fix("Run the relay on Linux, or from the image.")
}
