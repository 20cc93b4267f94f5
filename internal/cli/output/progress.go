package output

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/olmgraft/graft/internal/runner"
)

// Progress shows a count on standard error if that is a terminal, and nothing otherwise.
type Progress struct {
	out   io.Writer
	verb  string
	on    bool
	mu    sync.Mutex
	shown time.Time
}

// NewProgress returns a Progress for a writer.
func NewProgress(out *runner.Log, verb string) *Progress {
	return &Progress{out: out, verb: verb, on: out.IsTerminal()}
}

// Step shows progress, at most some times a second.
func (p *Progress) Step(done, total int, current string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.on || time.Since(p.shown) < 100*time.Millisecond && done < total {
		return
	}
	p.shown = time.Now()
	fmt.Fprintf(p.out, "\r\033[K%s: %d of %d bundles, %s", p.verb, done, total, current)
}

// End clears the line.
func (p *Progress) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.shown.IsZero() {
		fmt.Fprint(p.out, "\r\033[K")
	}
}
