package relay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/olmgraft/graft/internal/relay/queue"
)

// round is a dispatcher with its own clock, input and results. It is also the dispatcher's queue.
type round struct {
	*dispatcher
	queue.Queue
	begun time.Time
	log   *logBuffer
	stop  context.CancelFunc
	abort context.CancelFunc
	ended chan struct{}

	mu         sync.Mutex
	tried      []try
	now        int // in progress
	most       int // the most at one time
	finished   []string
	aside      []string
	asideFails int    // attempts to set aside that still fail
	lost       int    // ends that the queue still refuses
	deaf       string // prefix of the repositories whose ends the queue never records
	seq        uint64
}

// try is an attempt: the delivery, the time, and the number of the delivery's attempt.
type try struct {
	name string
	at   time.Duration
	n    int
}

// deliver returns a started round.
func deliver(g GitHub, answer func(context.Context, try) outcome, deliveries ...string) *round {
	return newRound(g, answer, deliveries...).start()
}

// newRound returns a dispatcher with deliveries, each with a repository and a name such as "a 1". answer
// returns the result of an attempt; it may sleep.
func newRound(g GitHub, answer func(context.Context, try) outcome, deliveries ...string) *round {
	r := &round{begun: time.Now(), log: &logBuffer{}, ended: make(chan struct{})}
	r.dispatcher = &dispatcher{
		config: &Config{GitHub: g}, metrics: newMetrics(), traces: newTraces(nil), log: slog.New(slog.NewJSONHandler(r.log, nil)), accounts: map[string]*account{}, waits: map[string]int{}, wake: make(chan struct{}, 1),
		send: func(ctx context.Context, l delivery) outcome {
			defer func() {
				r.mu.Lock()
				defer r.mu.Unlock()
				r.now--
			}()
			return answer(ctx, r.begin(l))
		},
		queue: r,
	}
	r.put(deliveries...)
	return r
}

func (r *round) start() *round {
	stop, cancel := context.WithCancel(context.Background())
	abort, kill := context.WithCancel(context.Background())
	r.stop, r.abort = cancel, kill
	go func() {
		defer close(r.ended)
		r.run(stop, abort)
	}()
	return r
}

func (r *round) put(deliveries ...string) {
	var items []queue.Item
	for _, text := range deliveries {
		to, _, _ := strings.Cut(text, " ")
		r.seq++
		data, _ := json.Marshal(delivery{To: to, Image: text, ID: text})
		if to == "?" {
			data = []byte("{")
		}
		item := queue.Item{Seq: r.seq, Key: text, At: time.Now(), Data: data}
		if strings.HasSuffix(text, "fatal") {
			item.Handed = queue.MostHanded
		}
		items = append(items, item)
	}
	r.add(items...)
}

func (r *round) begin(l delivery) try {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := try{l.Image, time.Since(r.begun), 1}
	for _, before := range r.tried {
		if before.name == l.Image {
			one.n++
		}
	}
	r.tried = append(r.tried, one)
	r.now++
	r.most = max(r.most, r.now)
	return one
}

func (r *round) Bury(_ context.Context, item queue.Item, text json.RawMessage) error {
	var letter deadLetter
	if err := json.Unmarshal(text, &letter); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asideFails > 0 {
		r.asideFails--
		return errors.New("the disk is full")
	}
	r.aside = append(r.aside, item.Key+": "+letter.Reason)
	return nil
}

func (r *round) Done(ctx context.Context, item queue.Item) error {
	if r.deaf != "" && strings.HasPrefix(item.Key, r.deaf) {
		<-ctx.Done()
		return ctx.Err()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lost > 0 {
		r.lost--
		return errors.New("the disk is full")
	}
	r.finished = append(r.finished, fmt.Sprint(item.Seq))
	return nil
}

// after waits, ends the dispatcher and returns the attempts with their times.
func (r *round) after(d time.Duration) string {
	time.Sleep(d)
	synctest.Wait()
	r.stop()
	<-r.ended
	r.abort()
	var all []string
	for _, one := range r.tried {
		all = append(all, fmt.Sprintf("%s at %v", one.name, one.at))
	}
	return strings.Join(all, ", ")
}

// steady is a configuration whose pauses are long compared with an attempt.
var steady = GitHub{FirstRetry: 10 * time.Second, LongestRetry: time.Minute, GiveUpAfter: time.Hour}

func slowly(context.Context, try) outcome {
	time.Sleep(time.Second)
	return outcome{delivered: true}
}

func TestCourierKeepsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := deliver(steady, slowly, "a 1", "a 2", "a 3", "b 1")
		synctest.Wait()
		r.put("a 4")
		all := r.after(time.Minute)
		for _, want := range []string{"a 1 at 0s", "a 2 at 1s", "a 3 at 2s", "a 4 at 3s", "b 1 at 0s"} {
			if !strings.Contains(all, want) {
				t.Errorf("%s, want %s", all, want)
			}
		}
		if slices.Sort(r.finished); strings.Join(r.finished, " ") != "1 2 3 4 5" {
			t.Errorf("the finished items are %v", r.finished)
		}
	})
}

// While the queue cannot record the end of deliveries, it delays their repositories and no others.
func TestDeafQueueHoldsUpItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all []string
		for n := range 2 * concurrent {
			all = append(all, fmt.Sprintf("deaf%d 1", n), fmt.Sprintf("deaf%d 2", n))
		}
		r := newRound(steady, slowly, append(all, "a 1", "a 2")...)
		r.deaf = "deaf"
		r.start()
		time.Sleep(time.Minute)
		synctest.Wait()
		r.stop()
		r.abort()
		<-r.ended
		if got := strings.Join(r.finished, " "); got != "17 18" || len(r.tried) != 2*concurrent+2 {
			t.Errorf("the queue was told of %s, after %v", got, r.tried)
		}
	})
}

func TestCourierKeepsPace(t *testing.T) {
	deliveries := []string{"a 1", "b 1", "c 1", "d 1", "e 1", "f 1"}
	times := func(g GitHub) (at []time.Duration, most int) {
		synctest.Test(t, func(*testing.T) {
			r := deliver(g, slowly, deliveries...)
			r.after(time.Minute)
			for _, one := range r.tried {
				at = append(at, one.at)
			}
			most = r.most
		})
		return at, most
	}
	if at, most := times(steady); fmt.Sprint(at) != "[0s 0s 0s 0s 1s 1s]" || most != concurrent {
		t.Errorf("%v, %d at a time, want %d", at, most, concurrent)
	}
	paced := steady
	paced.Pace = 3 * time.Second
	if at, _ := times(paced); fmt.Sprint(at) != "[0s 3s 6s 9s 12s 15s]" {
		t.Errorf("with a pace of 3s: %v", at)
	}
}

// Pauses double up to the longest, and half of each is random. Each delivery starts with the shortest pause,
// and a failing lane delays no other.
func TestCourierBacksOff(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			var r *round
			r = newRound(steady, func(_ context.Context, one try) outcome {
				switch {
				case one.name == "b 1":
					return outcome{delivered: true}
				case one.name == "a 1" && one.n == 6:
					r.put("a 2")
					return outcome{delivered: true}
				}
				return outcome{err: errors.New("down")}
			}, "a 1", "b 1")
			all := r.start().after(10 * time.Minute)
			r.tried = slices.DeleteFunc(r.tried, func(one try) bool { return one.name == "b 1" && one.at == 0 })
			if len(r.tried) < 8 {
				t.Fatalf("tried %s", all)
			}
			for i, most := range []time.Duration{10, 20, 40, 60, 60, 0, 10} {
				gap := r.tried[i+1].at - r.tried[i].at
				if most *= time.Second; most > 0 && (gap < most/2 || gap > most) {
					t.Errorf("the pause %d is %v, want %v to %v: %s", i+1, gap, most/2, most, all)
				}
			}
		})
	}
}

// Pauses vary.
func TestCourierPausesByChance(t *testing.T) {
	c, seen := dispatcher{config: &Config{GitHub: steady}}, map[time.Duration]bool{}
	for range 10 {
		seen[c.backoff(1)] = true
	}
	if len(seen) < 2 {
		t.Errorf("every pause is %v", seen)
	}
}

// A rate limit delays all deliveries for as long as GitHub says, up to an hour. It does not count as a failure,
// and the delivery goes first afterwards. Another answer delays only its own lane.
func TestCourierIsHeld(t *testing.T) {
	patient := steady
	patient.LongestRetry = 2 * time.Hour
	patient.GiveUpAfter = 100 * time.Hour
	for name, tt := range map[string]struct {
		config GitHub
		first  outcome
		want   string
	}{
		"a limit":                {steady, outcome{limited: true, err: errors.New("limit"), again: at(30 * time.Second)}, "a 1 at 0s, a 1 at 30s, a 2 at 30s, b 1 at 30s"},
		"a limit for days":       {patient, outcome{limited: true, err: errors.New("limit"), again: at(48 * time.Hour)}, "a 1 at 0s, a 1 at 2h0m0s, a 2 at 2h0m0s, b 1 at 2h0m0s"},
		"503 with a time":        {steady, outcome{err: errors.New("503"), again: at(40 * time.Second)}, "a 1 at 0s, a 1 at 40s, a 2 at 40s, b 1 at 5s"},
		"503 with a time, later": {steady, outcome{err: errors.New("503"), again: at(48 * time.Hour)}, "a 1 at 0s, a 1 at 1h0m0s, a 2 at 1h0m0s, b 1 at 5s"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := deliver(tt.config, func(_ context.Context, one try) outcome {
					if one.name == "a 1" && one.n == 1 {
						return tt.first
					}
					return outcome{delivered: true}
				}, "a 1", "a 2")
				time.Sleep(5 * time.Second)
				r.put("b 1")
				if accounts, held := r.holds(time.Now()); (accounts == 1) != tt.first.limited || (held > 0) != tt.first.limited || held > max(longestHold, tt.config.LongestRetry) {
					t.Errorf("%d accounts are held for %v", accounts, held)
				}
				all := strings.Split(r.after(50*time.Hour), ", ")
				if slices.Sort(all); strings.Join(all, ", ") != tt.want {
					t.Errorf("%v, want %s", all, tt.want)
				}
				first := slices.IndexFunc(r.tried, func(one try) bool { return one.name == "a 1" && one.n == 2 })
				second := slices.IndexFunc(r.tried, func(one try) bool { return one.name == "a 2" })
				if (first < second) != tt.first.limited {
					t.Errorf("tried %+v", r.tried)
				}
			})
		})
	}
}

// at returns a time of the test's clock.
func at(d time.Duration) time.Time {
	return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(d)
}

// Refused, expired and unreadable deliveries are set aside, each once, and only then reported to the queue as
// over. While the queue cannot be told, nothing is sent again.
func TestSetsAside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		brief := steady
		brief.GiveUpAfter = 2 * time.Minute
		r := newRound(brief, func(_ context.Context, one try) outcome {
			switch one.name {
			case "a 1":
				return outcome{refused: "not found", err: errors.New("not found")}
			case "b 1":
				return outcome{err: errors.New("down")}
			case "c 2": // late, but accepted
				time.Sleep(2 * brief.GiveUpAfter)
			}
			return outcome{delivered: true}
		}, "? 1", "a 1", "a 2", "b 1", "b 2", "c 2", "d fatal")
		r.asideFails, r.lost = 3, 3
		r.start().after(10 * time.Minute)
		slices.Sort(r.aside)
		if got := strings.Join(r.aside, ", "); got != "? 1: the stored delivery is malformed, a 1: not found, b 1: given up after 2m0s: down, d fatal: 100 relays ended while they handled it" {
			t.Errorf("aside %s", got)
		}
		if slices.Sort(r.finished); strings.Join(r.finished, " ") != "1 2 3 4 5 6 7" {
			t.Errorf("the finished items are %v", r.finished)
		}
		sent := 0
		for _, one := range r.tried {
			if strings.HasSuffix(one.name, "2") {
				sent++
			}
		}
		if sent != 3 {
			t.Errorf("three deliveries were sent %d times: %+v", sent, r.tried)
		}
		if last := r.tried[len(r.tried)-1]; last.name == "b 1" && last.at <= brief.GiveUpAfter {
			t.Errorf("given up after %v", last.at)
		}
		for _, want := range []string{"writing a dead letter failed", "removing a finished delivery from the queue failed", `"reason":"not found"`, `"error":"down"`} {
			if !strings.Contains(r.log.String(), want) {
				t.Errorf("the log has no %s", want)
			}
		}
	})
}

// A stop starts no new delivery and waits for those in progress. abort ends these, and undelivered ones stay in
// the queue.
func TestCourierStops(t *testing.T) {
	for name, tt := range map[string]struct {
		aborted  outcome
		abort    bool
		finished int
	}{
		"in time":              {outcome{}, false, 1},
		"not in time":          {outcome{err: context.Canceled}, true, 0},
		"refused at the end":   {outcome{refused: "x", err: context.Canceled}, true, 0},
		"delivered at the end": {outcome{delivered: true}, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := deliver(steady, func(ctx context.Context, _ try) outcome {
					select {
					case <-ctx.Done():
						return tt.aborted
					case <-time.After(time.Minute):
						return outcome{delivered: true}
					}
				}, "a 1", "a 2")
				time.Sleep(time.Second)
				r.stop()
				time.Sleep(time.Second)
				select {
				case <-r.ended:
					t.Error("it does not wait")
				default:
				}
				if tt.abort {
					r.abort()
				}
				<-r.ended
				if r.abort(); len(r.tried) != 1 || len(r.finished) != tt.finished || len(r.aside) != 0 {
					t.Errorf("tried %v, the finished items are %v, aside %v", r.tried, r.finished, r.aside)
				}
			})
		})
	}
}
