package output

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"github.com/olmgraft/graft/internal/runner"
)

// Bundles are processed concurrently, and the last one is shown.
func TestProgress(t *testing.T) {
	var out bytes.Buffer
	p := NewProgress(runner.NewLog(&out, false), "rendering")
	p.Step(1, 2, "a")
	p.End()
	if out.Len() > 0 {
		t.Errorf("no terminal is shown %q", out.String())
	}
	p.on = true
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() { p.Step(i+1, 8, "b") })
	}
	all.Wait()
	p.End()
	if !strings.Contains(out.String(), "rendering: 8 of 8 bundles, b") || !strings.HasSuffix(out.String(), "\r\033[K") {
		t.Errorf("shown is %q", out.String())
	}
}
