package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// progress shows a count on standard error where that is a terminal, and nothing
// where it is not.
type progress struct {
	app   *app
	verb  string
	on    bool
	mu    sync.Mutex
	shown time.Time
}

func (a *app) progress(verb string) *progress {
	return &progress{app: a, verb: verb, on: isTerminal(a.Err)}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// step shows what is done, not more than some times a second.
func (p *progress) step(done, total int, current string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.on || time.Since(p.shown) < 100*time.Millisecond && done < total {
		return
	}
	p.shown = time.Now()
	fmt.Fprintf(p.app.Err, "\r\033[K%s: %d of %d bundles, %s", p.verb, done, total, current)
}

// end clears the line.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.shown.IsZero() {
		fmt.Fprint(p.app.Err, "\r\033[K")
	}
}
