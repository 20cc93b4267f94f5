package cli

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/testkit/fakegithub"
	"github.com/olmgraft/graft/internal/testkit/gitremote"
	"github.com/olmgraft/graft/internal/testkit/registry"
)

// hows are the possible faults of a request. lost: the server executes it and does not answer; down: the server
// is down from then on.
var hows = []string{"reset", "500", "403", "truncated", "lost", "down"}

// stops are the possible ends of a run during a request, which the server never executes. interrupt: the system
// stops the program, as when a workflow is cancelled; timeout: the server does not answer until --timeout ends the
// run.
var stops = []string{"interrupt", "timeout"}

// refused is a request of a run with its fault.
type refused struct {
	server, what string
	nth          int // among those with that server and text, from 1
	how          string
}

// desk observes all requests of a world and makes one fail.
type desk struct {
	fails  refused
	end    func(how string) // makes the run end in one of the ways of stops, and waits for it
	mu     sync.Mutex
	seen   map[refused]int
	order  []refused
	failed bool
}

// how returns the fault of a request, or "".
func (d *desk) how(server, what string) string {
	how := d.choose(server, what)
	if slices.Contains(stops, how) {
		d.end(how)
		return "reset"
	}
	return how
}

func (d *desk) choose(server, what string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := refused{server: server, what: what}
	if d.seen == nil {
		d.seen = map[refused]int{}
	}
	d.seen[at]++
	d.order = append(d.order, refused{server: server, what: what, nth: d.seen[at]})
	if d.failed && d.fails.how == "down" && d.fails.server == server {
		return "reset"
	}
	if d.failed || server != d.fails.server || what != d.fails.what || d.seen[at] != d.fails.nth {
		return ""
	}
	d.failed = true
	if d.fails.how == "down" {
		return "reset"
	}
	return d.fails.how
}

const few = 20 // bytes of a truncated answer

// watch makes the servers of a world ask desk for the fault of each request.
func (d *desk) watch(w *faultWorld) {
	statuses := map[string]int{"500": http.StatusInternalServerError, "403": http.StatusForbidden}
	w.Registry.SetScript(func(r registry.Request) (f registry.Fault) {
		how := d.how("registry", r.Method+" "+r.Repository+" "+r.Reference)
		f.Status, f.Reset = statuses[how], how == "reset" || how == "lost"
		if how == "truncated" {
			f.Truncate = few
		}
		return f
	})
	w.Git.SetScript(func(r gitremote.Request) (f gitremote.Fault) {
		how := d.how("git", string(r.Kind)+" "+r.Repository)
		f.Status, f.Reset, f.Lose = statuses[how], how == "reset", how == "lost"
		if how == "truncated" {
			f.Truncate = few
		}
		return f
	})
	w.Forge.SetScript(func(r fakegithub.Request) *fakegithub.Fault {
		how := d.how("forge", r.Method+" "+commitName.ReplaceAllString(r.Path, "COMMIT"))
		f := fakegithub.Fault{Status: statuses[how], Cut: how == "reset" || how == "lost", Acted: how == "lost"}
		if how == "truncated" {
			f.Truncate = few
		}
		return &f
	})
}

// Each request of publish fails once, in each way.
func TestPublishWhereEachRequestFails(t *testing.T) {
	t.Parallel()
	eachRequest(t, hows, 4, func(w *faultWorld, d *desk) (*exec.Cmd, *bytes.Buffer, error) {
		cmd, out := w.command("1.2.0")
		d.watch(w)
		return cmd, out, cmd.Run()
	})
}

// At each request, publish is interrupted once, and once its time ends.
func TestPublishFailsWhereEachRequestIsItsLast(t *testing.T) {
	t.Parallel()
	eachRequest(t, stops, 5, func(w *faultWorld, d *desk) (*exec.Cmd, *bytes.Buffer, error) {
		cmd, out := w.command("1.2.0")
		if d.fails.how == "timeout" {
			cmd.Args = append(cmd.Args, "--timeout", "5s")
		}
		started, ended := make(chan struct{}), make(chan struct{})
		d.end = func(how string) {
			<-started
			if how == "interrupt" {
				_ = cmd.Process.Signal(syscall.SIGTERM) // it runs, because its request is not answered
			}
			<-ended
		}
		d.watch(w)
		if err := cmd.Start(); err != nil {
			return nil, nil, err
		}
		close(started)
		hangs := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
		err := cmd.Wait()
		hangs.Stop()
		close(ended)
		d.mu.Lock()
		defer d.mu.Unlock()
		if err == nil && d.failed {
			err = errors.New("it does not report that it was stopped")
		}
		return cmd, out, err
	})
}

// eachRequest runs publish in each pipeline with one fault for each request and way. Each run ends well or with a
// typed failure, and the next run completes the work.
func eachRequest(t *testing.T, hows []string, usual int, run func(*faultWorld, *desk) (*exec.Cmd, *bytes.Buffer, error)) {
	t.Helper()
	for i, p := range pipelines {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			w, err := newFaultWorld(t.TempDir(), i)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			cmd, out := w.command("1.2.0")
			all := &desk{}
			all.watch(w)
			if err := cmd.Run(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			var requests []refused
			for _, r := range all.order {
				for _, r.how = range hows {
					if r.how != "403" || r.what != "GET /user" { // this means that the token is an app's
						requests = append(requests, r)
					}
				}
			}
			stands, err := w.stands()
			if err := errors.Join(err, w.swept()); err != nil {
				t.Fatal(err)
			}
			want := ending{stands, w.told()}
			var mu sync.Mutex
			codes, missed := map[int]int{}, 0
			tries(t, 1, usual, requests, func(dir string, at refused) error {
				w, err := newFaultWorld(dir, i)
				if err != nil {
					return err
				}
				defer w.Close()
				d := &desk{fails: at}
				cmd, out, err := run(w, d)
				(&desk{}).watch(w)
				if err != nil && !errors.As(err, new(interface{ ExitCode() int })) {
					return fmt.Errorf("running it: %w", err)
				}
				code, err := w.holds(cmd, out.String(), want)
				mu.Lock()
				defer mu.Unlock()
				if codes[code]++; !d.failed {
					missed++
				}
				return err
			})
			t.Logf("%d requests fail in %d ways; exit codes of the runs: %v; %d came to no such request", len(all.order), len(requests), codes, missed)
		})
	}
}
