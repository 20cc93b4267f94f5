package file

import (
	"testing"

	"github.com/olmgraft/graft/internal/relay/queue"
	"github.com/olmgraft/graft/internal/relay/queue/suite"
)

func TestSuite(t *testing.T) {
	suite.Test(t, suite.Engine{Many: 10_000, Prepare: func(t *testing.T, o suite.Options) suite.Open {
		dir := t.TempDir()
		return func() (queue.Queue, error) {
			return Open(Options{Dir: dir, MaxItems: o.MaxItems, MaxBytes: o.MaxBytes, Remember: o.Remember})
		}
	}})
}
