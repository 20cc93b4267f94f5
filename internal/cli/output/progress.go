package output

import (
	"fmt"
	"sync"
	"time"

	"github.com/olmgraft/graft/internal/command"
)

// Progress shows on standard error what a run does, how much is done, and the elapsed time: one line of a
// terminal, rewritten. If standard error is not a terminal or a dumb one, and in a workflow, it shows nothing,
// like a nil Progress.
type Progress struct {
	app         *command.App
	mu          sync.Mutex
	seen        bool      // by a person
	begun       time.Time // of the first shown thing
	shown       time.Time
	what, count string
	stop        chan struct{} // nil while nothing is shown
}

// NewProgress returns the progress of a run.
func NewProgress(a *command.App) *Progress { return &Progress{app: a} }

// Begin shows the present action.
func (p *Progress) Begin(format string, args ...any) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.begun.IsZero() {
		terminal, _ := p.app.Env("TERM")
		workflow, _ := p.app.Env("GITHUB_ACTIONS")
		p.begun, p.seen = time.Now(), terminal != "dumb" && workflow != "true" && p.app.Err.IsTerminal()
	}
	if !p.seen {
		return
	}
	p.what, p.count = fmt.Sprintf(format, args...), ""
	if p.stop == nil {
		p.stop = make(chan struct{})
		go p.tick(p.stop)
	}
	p.show()
}

// Of shows the present action, the nth of several.
func (p *Progress) Of(what string, n, total int) {
	if total == 1 {
		p.Begin("%s", what)
		return
	}
	p.Begin("%s (%d of %d)", what, n, total)
}

// Step shows how many bundles of the present action are done, at most some times a second.
func (p *Progress) Step(done, total int, current string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count = fmt.Sprintf(", %d of %d bundles, %s", done, total, current)
	if p.stop != nil && (done == total || time.Since(p.shown) >= 100*time.Millisecond) {
		p.show()
	}
}

// End removes the line.
func (p *Progress) End() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stop != nil {
		close(p.stop)
		p.stop = nil
		p.app.Err.Status("")
	}
}

// tick updates the elapsed time while nothing else changes.
func (p *Progress) tick(stop <-chan struct{}) {
	each := time.NewTicker(time.Second)
	defer each.Stop()
	for {
		select {
		case <-stop:
			return
		case <-each.C:
		}
		p.mu.Lock()
		if p.stop == stop {
			p.show()
		}
		p.mu.Unlock()
	}
}

func (p *Progress) show() {
	p.shown = time.Now()
	p.app.Err.Status(fmt.Sprintf("%4v  %s%s", time.Since(p.begun).Round(time.Second), p.what, p.count))
}
