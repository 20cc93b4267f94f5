package relay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/relay/queue/file"
	"github.com/olmgraft/graft/internal/testkit/effort"
	"github.com/olmgraft/graft/internal/testkit/fakegithub"
)

const (
	announcers = 4
	targets    = 8
)

// TestKilledUnderLoad kills the real program repeatedly while senders announce images and GitHub fails every
// second call. Every image that was answered with 202 is dispatched in the end: once, or several times with the
// same id if GitHub's answer or its record was lost.
func TestKilledUnderLoad(t *testing.T) {
	t.Parallel()
	kills := effort.Of(t, 5, 20, 200)
	var lost atomic.Int64
	hub := fakegithub.New(fakegithub.Options{Script: failEverySecond(&lost)})
	for i := range targets {
		if err := hub.AddRepository(fakegithub.Repository{Owner: "octo", Name: fmt.Sprint("catalog", i), Files: map[string]string{"a": "b"}}); err != nil {
			t.Fatal(err)
		}
	}
	api := httptest.NewServer(hub)
	defer api.Close()
	var mapped []string
	for i := range targets {
		mapped = append(mapped, fmt.Sprintf("{images: [quay.io/t%d/*], repositories: [octo/catalog%d]}", i, i))
	}
	address := freeAddress(t)
	s := setup{config: map[string]string{"listen": `"` + address + `"`, "targets": "[" + strings.Join(mapped, ", ") + "]"}}
	queue := filepath.Join(t.TempDir(), "queue")
	s.config["queue"] = "{dir: " + queue + "}"
	config := filepath.Join(t.TempDir(), "relay.yaml")
	if err := os.WriteFile(config, []byte(s.yaml(t, api.URL)), 0o600); err != nil {
		t.Fatal(err)
	}
	start := func() *process {
		return launch(t, "http://"+address+"/healthz", []string{"SECRET=" + secret, "GITHUB_TOKEN=" + ghToken}, graftRelay(t), "--config", config)
	}
	p := start()
	load := announceUntilStopped(address)
	begun := time.Now()
	for i := range kills {
		if i%2 == 1 { // the other kills may come while it starts
			load.promises(t, i)
		}
		time.Sleep(rand.N(40 * time.Millisecond))
		p.signal(syscall.SIGKILL)
		p = start()
	}
	took := time.Since(begun)
	promised, sent := load.stop()
	w := &fixture{t: t, url: "http://" + address, log: p.log}
	w.settled()
	if state := p.signal(syscall.SIGTERM); !state.Success() {
		t.Errorf("it stopped with %v\n%s", state, p.log)
	}
	ids := map[string]map[string]int{}
	arrived := 0
	for _, d := range hub.Dispatches() {
		var said struct{ Image, ID string }
		if err := json.Unmarshal(d.Payload, &said); err != nil {
			t.Fatal(err)
		}
		if ids[said.Image] == nil {
			ids[said.Image] = map[string]int{}
		}
		ids[said.Image][said.ID]++
		arrived++
	}
	accepted := 0
	for image, status := range promised {
		if len(ids[image]) != 1 {
			t.Errorf("%s was answered with %d and dispatched under %d ids", image, status, len(ids[image]))
		}
		if status == http.StatusAccepted {
			accepted++
		}
	}
	for image, of := range ids {
		if len(of) != 1 || !sent[image] {
			t.Errorf("%s was dispatched under %d ids; was it announced: %v", image, len(of), sent[image])
		}
	}
	if dead, err := os.ReadFile(filepath.Join(queue, file.DeadName)); err == nil {
		t.Errorf("dead letters: %s", dead)
	}
	t.Logf("%d kills in %v; %d announced, %d answered with 202 and %d when sent again with 200, all of them dispatched; %d events arrived, %d of them again with the same id (GitHub took %d and answered 502)",
		kills, took.Round(time.Second), len(sent), accepted, len(promised)-accepted, arrived, arrived-len(ids), lost.Load())
}

// failEverySecond alternates between failing before acting, failing after acting, and cutting the connection.
// lost counts the second kind.
func failEverySecond(lost *atomic.Int64) func(fakegithub.Request) *fakegithub.Fault {
	var n atomic.Int64
	return func(fakegithub.Request) *fakegithub.Fault {
		switch n.Add(1) % 6 {
		case 1:
			return fakegithub.ServerError(http.StatusServiceUnavailable, false)
		case 3:
			lost.Add(1)
			return fakegithub.ServerError(http.StatusBadGateway, true)
		case 5:
			return &fakegithub.Fault{Cut: true}
		}
		return nil
	}
}

// load is a set of senders that announce images by digest, each a different one.
type load struct {
	ended atomic.Bool
	wg    sync.WaitGroup
	mu    sync.Mutex
	// promised are those answered with 202, or with 200 when sent again. sent are all announced ones.
	promised map[string]int
	sent     map[string]bool
}

func announceUntilStopped(address string) *load {
	l := &load{promised: map[string]int{}, sent: map[string]bool{}}
	client := &http.Client{Timeout: 5 * time.Second}
	for s := range announcers {
		l.wg.Go(func() {
			for n := 0; !l.ended.Load(); n++ {
				l.announce(client, address, fmt.Sprintf("quay.io/t%d/op:v%d.%d.0", n%targets, s, n))
			}
		})
	}
	return l
}

func (l *load) announce(client *http.Client, address, image string) {
	l.mu.Lock()
	l.sent[image] = true
	l.mu.Unlock()
	digest := fmt.Sprintf("sha256:%064x", rand.Uint64())
	body := fmt.Sprintf(`{"image": %q, "digest": %q}`, image, digest)
	// Like a registry, the sender repeats the same announcement until it gets an answer.
	for !l.ended.Load() {
		req, err := http.NewRequest(http.MethodPost, "http://"+address+"/hook", bytes.NewReader([]byte(body)))
		if err != nil {
			return
		}
		req.Header.Set("Authorization", secret)
		resp, err := client.Do(req)
		if err != nil {
			time.Sleep(2 * time.Millisecond)
			continue
		}
		_ = resp.Body.Close()
		switch resp.StatusCode {
		case http.StatusAccepted, http.StatusOK: // 200: it was accepted, and the first answer was lost
			l.mu.Lock()
			l.promised[image] = resp.StatusCode
			l.mu.Unlock()
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// promises waits until more than n announcements are promised.
func (l *load) promises(t *testing.T, n int) {
	t.Helper()
	for patience := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		l.mu.Lock()
		promised := len(l.promised)
		l.mu.Unlock()
		if promised > n {
			return
		}
		if time.Now().After(patience) {
			t.Fatalf("%d announcements are promised, and no more within a minute", promised)
		}
	}
}

func (l *load) stop() (promised map[string]int, sent map[string]bool) {
	l.ended.Store(true)
	l.wg.Wait()
	return l.promised, l.sent
}
