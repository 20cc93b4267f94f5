package output

import (
	"bytes"
	"io"
	"sync"
	"testing"

	"github.com/olmgraft/graft/internal/command"
)

// Without a terminal nothing is shown.
func TestProgressOfAPipe(t *testing.T) {
	var out bytes.Buffer
	p := NewProgress(command.New(command.IO{Out: io.Discard, Err: &out, Env: func(string) (string, bool) { return "", false }}))
	p.Begin("rendering %s", "a")
	p.Of("verifying", 1, 2)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() { p.Step(i+1, 8, "b") })
	}
	all.Wait()
	p.End()
	if out.Len() > 0 {
		t.Errorf("a pipe is shown %q", out.String())
	}
}
