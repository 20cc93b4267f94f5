package output

import (
	"fmt"
	"sync"
	"time"

	"github.com/olmgraft/graft/internal/command"
)

// Progress shows on standard error what a run does, how much of it is done, and how long the run
// takes so far: one line of a terminal, rewritten. Where standard error is no terminal or a dumb one,
// and in a workflow, it shows nothing, as a nil Progress does.
type Progress struct {
	app         *command.App
	mu          sync.Mutex
	seen        bool      // by a person
	begun       time.Time // of the first thing that was shown
	shown       time.Time
	what, count string
	stop        chan struct{} // nil while nothing is shown
}

// NewProgress is the progress of a run.
func NewProgress(a *command.App) *Progress { return &Progress{app: a} }

// Begin shows what is done now.
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

// Of shows what is done now, the nth of several.
func (p *Progress) Of(what string, n, total int) {
	if total == 1 {
		p.Begin("%s", what)
		return
	}
	p.Begin("%s (%d of %d)", what, n, total)
}

// Step shows how many bundles of what is done now are done, not more than some times a second.
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

// End takes the line away.
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

// tick has the time go on while nothing else changes.
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
	p.app.Err.Status(Printable(fmt.Sprintf("%4v  %s%s", time.Since(p.begun).Round(time.Second), p.what, p.count)))
}
