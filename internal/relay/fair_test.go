package relay

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/olmgraft/graft/internal/testkit/fakegithub"
)

// fleet is a configuration in which each owner is an account.
var fleet = GitHub{App: &App{ID: "77"}, FirstRetry: 10 * time.Second, LongestRetry: time.Minute, GiveUpAfter: time.Hour}

// However many deliveries of one image wait, another image's is sent within a few attempts (counted, not
// timed): in the same repository, in another of the account, and in another account.
func TestNoisyImage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var flood []string
		for n := range 10_000 {
			flood = append(flood, fmt.Sprintf("noisy/r img:%d", n))
		}
		r := deliver(fleet, slowly, flood...)
		time.Sleep(10 * time.Second)
		quiet := []string{"noisy/r other:1", "noisy/s third:1", "calm/r fourth:1", "noisy/r other:2"}
		before := r.count()
		r.put(quiet...)
		r.after(20 * time.Second)
		for i, most := range []int{4, 4, 4, 8} {
			at := slices.IndexFunc(r.tried, func(one try) bool { return one.name == quiet[i] })
			if at < 0 || at-before > most {
				t.Errorf("%s came after %d attempts, want %d at most", quiet[i], at-before, most)
			}
		}
		last := -1
		for _, one := range r.tried {
			var n int
			if _, err := fmt.Sscanf(one.name, "noisy/r img:%d", &n); err != nil {
				continue
			}
			if n != last+1 {
				t.Fatalf("%d follows %d", n, last)
			}
			last = n
		}
	})
}

// count returns the number of attempts.
func (r *round) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.tried)
}

// Many repositories of one account do not delay another account, whose turn comes as often. No account has more
// deliveries in progress than it would have alone.
func TestNoisyAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all []string
		for n := range 300 {
			all = append(all, fmt.Sprintf("noisy/r%d img:1", n))
		}
		for n := range 8 {
			all = append(all, fmt.Sprintf("calm/r%d img:1", n))
		}
		r := deliver(fleet, slowly, all...)
		r.after(2500 * time.Millisecond)
		calm := 0
		for _, one := range r.tried[:16] {
			if strings.HasPrefix(one.name, "calm/") {
				calm++
			}
		}
		if calm != 8 || r.most != 2*concurrent {
			t.Errorf("%d of the first 16 are of the calm account, %d were under way: %+v", calm, r.most, r.tried)
		}
	})
}

// A limit delays only its own account, and the pace applies to each account.
func TestLimitIsTheAccounts(t *testing.T) {
	paced := fleet
	paced.Pace = 2 * time.Second
	synctest.Test(t, func(t *testing.T) {
		r := deliver(paced, func(_ context.Context, one try) outcome {
			if one.name == "noisy/r 1" && one.n == 1 {
				return outcome{limited: true, err: errors.New("limit"), again: at(30 * time.Second)}
			}
			return outcome{delivered: true}
		}, "noisy/r 1", "noisy/s 1", "calm/r 1", "calm/s 1")
		all := strings.Split(r.after(time.Minute), ", ")
		slices.Sort(all)
		if got := strings.Join(all, ", "); got != "calm/r 1 at 0s, calm/s 1 at 2s, noisy/r 1 at 0s, noisy/r 1 at 32s, noisy/s 1 at 30s" {
			t.Error(got)
		}
	})
}

// tags returns an announcement of Quay with this many tags of an image.
func tags(image string, from, n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`"v%d"`, from+i))
	}
	return `{"docker_url": "` + image + `", "updated_tags": [` + strings.Join(all, ", ") + `]}`
}

// beginFleet starts a relay for an App with installations in three accounts, each with a catalog.
func beginFleet(t *testing.T, script func(fakegithub.Request) *fakegithub.Fault) *fixture {
	t.Helper()
	file, key := appKey(t)
	return begin(t, setup{
		config: map[string]string{"targets": `[{images: ["quay.io/{org}/*"], repositories: ["{org}/catalog"]}]`},
		github: map[string]string{"app": `{id: "77", keyFile: ` + file + `}`},
		hub: func(h *fakegithub.Server) {
			for i, owner := range []string{"alpha", "beta", "gamma"} {
				h.AddApp(fakegithub.GitHubApp{ID: "77", Installation: int64(i), Account: owner, Key: key, Permissions: map[string]string{"contents": "write"}})
				if err := h.AddRepository(fakegithub.Repository{Owner: owner, Name: "catalog"}); err != nil {
					t.Fatal(err)
				}
			}
		},
		script: script,
	})
}

// The same with webhooks, queue and forge: an announcement after thousands of another image is among the next
// that GitHub receives, and the limit of one installation delays no other.
func TestFleetIsFair(t *testing.T) {
	t.Parallel()
	var limited atomic.Int32
	hold := make(chan struct{})
	w := beginFleet(t, func(r fakegithub.Request) *fakegithub.Fault {
		if r.Route != dispatches {
			return nil
		}
		<-hold
		if strings.Contains(r.Path, "/gamma/") {
			limited.Add(1)
			return fakegithub.SecondaryLimit(403, time.Hour)
		}
		return nil
	})
	post := func(body string) {
		t.Helper()
		if status, text := w.post("/quay/"+secret, body); status != 202 {
			t.Fatalf("%d %s", status, text)
		}
	}
	post(tags("quay.io/gamma/op", 0, 3))
	for n := range 5 {
		post(tags("quay.io/alpha/noisy", 1000*n, 1000))
	}
	post(tags("quay.io/alpha/calm", 0, 2))
	post(tags("quay.io/beta/op", 0, 2))
	close(hold)
	w.until("some are sent", func() bool { return len(w.hub.Dispatches()) >= 40 })
	first := map[string]int{}
	for i, d := range w.hub.Dispatches() {
		for _, image := range []string{"quay.io/alpha/calm:v1", "quay.io/beta/op:v1"} {
			if strings.Contains(string(d.Payload), `"`+image+`"`) {
				first[image] = i
			}
		}
	}
	for _, image := range []string{"quay.io/alpha/calm:v1", "quay.io/beta/op:v1"} {
		if at, sent := first[image]; !sent || at > 16 {
			t.Errorf("%s was sent: %t, as number %d", image, sent, at)
		}
	}
	if n := limited.Load(); n != 1 {
		t.Errorf("the installation that met a limit was asked %d times", n)
	}
}

// An endless sender is refused before the queue is full for others.
func TestNoisyImageLeavesRoom(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	w := begin(t, setup{
		config: map[string]string{"queue": "{dir: " + t.TempDir() + "/q, items: 200}"}, grace: time.Millisecond,
		script: func(fakegithub.Request) *fakegithub.Fault { <-hold; return nil },
	})
	t.Cleanup(func() { close(hold) })
	taken, refused := 0, ""
	for n := range 300 {
		status, body := w.hook(fmt.Sprintf("quay.io/example/noisy:v%d", n))
		if status == 202 {
			taken++
			w.until("it is handed out", func() bool { return w.dispatched("quay.io/example/noisy") == taken })
		} else {
			refused = body
		}
	}
	if taken != 178 || !strings.Contains(refused, "too many announcements of quay.io/example/noisy are waiting") {
		t.Errorf("%d of 300 were taken, and then %s", taken, refused)
	}
	for n := range 15 {
		if status, body := w.hook(fmt.Sprintf("quay.io/example/calm%d:v1", n)); status != 202 {
			t.Errorf("%d %s", status, body)
		}
	}
}

// dispatched returns how many deliveries of an image the dispatcher has.
func (w *fixture) dispatched(from string) int {
	w.dispatcher.mu.Lock()
	defer w.dispatcher.mu.Unlock()
	return w.dispatcher.waits[from]
}

// If more deliveries wait than can be in progress, the repositories of an account take turns, and so do
// accounts: at any time none has had many more attempts than another.
func TestTurnsAreEven(t *testing.T) {
	for name, tt := range map[string]struct {
		accounts, lanes, attempts, most int
		of                              func(name string) string
	}{
		"repositories": {1, 10, 35, 1, func(name string) string { return strings.Fields(name)[0] }},
		"accounts":     {20, 8, 64 * 3, concurrent, func(name string) string { return strings.Split(name, "/")[0] }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var all []string
				for account := range tt.accounts {
					for lane := range tt.lanes {
						for n := range 20 {
							all = append(all, fmt.Sprintf("a%d/r%d img:%d", account, lane, n))
						}
					}
				}
				r := deliver(fleet, slowly, all...)
				r.after(20 * time.Second)
				had := map[string]int{}
				for _, one := range r.tried[:tt.attempts] {
					had[tt.of(one.name)]++
				}
				counts := slices.Sorted(maps.Values(had))
				if len(counts) != max(tt.accounts, tt.lanes) || counts[len(counts)-1]-counts[0] > tt.most {
					t.Errorf("after %d attempts: %v", tt.attempts, had)
				}
				if r.most > mostConcurrent {
					t.Errorf("%d at a time", r.most)
				}
			})
		})
	}
}
