package cli

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/olmgraft/graft/internal/testkit/fakegithub"
	"github.com/olmgraft/graft/internal/testkit/gitremote"
	"github.com/olmgraft/graft/internal/testkit/registry"
)

// hows are the possible faults of a request. lost: the server executes it and does not answer; down: the server
// is down from then on.
var hows = []string{"reset", "500", "403", "truncated", "lost", "down"}

// refused is a request of a run with its fault.
type refused struct {
	server, what string
	nth          int // among those with that server and text, from 1
	how          string
}

// desk observes all requests of a world and makes one fail.
type desk struct {
	fails  refused
	mu     sync.Mutex
	seen   map[refused]int
	order  []refused
	failed bool
}

// how returns the fault of a request, or "".
func (d *desk) how(server, what string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := refused{server: server, what: what}
	if d.seen == nil {
		d.seen = map[refused]int{}
	}
	d.seen[at]++
	for _, how := range hows {
		d.order = append(d.order, refused{server, what, d.seen[at], how})
	}
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
			requests := slices.DeleteFunc(all.order, func(r refused) bool {
				return r.how == "403" && r.what == "GET /user" // this means that the token is an app's
			})
			stands, err := w.stands()
			if err := errors.Join(err, w.swept()); err != nil {
				t.Fatal(err)
			}
			want := ending{stands, w.told()}
			var mu sync.Mutex
			codes, missed := map[int]int{}, 0
			tries(t, 1, 4, requests, func(dir string, at refused) error {
				w, err := newFaultWorld(dir, i)
				if err != nil {
					return err
				}
				defer w.Close()
				cmd, out := w.command("1.2.0")
				d := &desk{fails: at}
				d.watch(w)
				err = cmd.Run()
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
			t.Logf("%d requests fail in %d ways; exit codes of the runs: %v; %d came to no such request", len(all.order)/len(hows), len(requests), codes, missed)
		})
	}
}
