package relay

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/relay/queue/file"
	"github.com/olmgraft/graft/internal/testkit/fakegithub"
)

const dispatches = "POST /repos/{owner}/{repo}/dispatches"

// twoTargets sends one image repository to octo/catalog and another to octo/other.
const twoTargets = `[{images: [quay.io/example/op], repositories: [octo/catalog]}, {images: [quay.io/example/bad], repositories: [octo/other]}]`

func toOther(r fakegithub.Request) bool {
	return r.Route == dispatches && strings.Contains(r.Path, "/octo/other/")
}

// A delivery that GitHub refuses permanently becomes a dead letter, which can be sent again once the cause is
// fixed. No other delivery waits for it.
func TestDeadLetters(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]*fakegithub.Fault{
		"not found":     {Status: 404, Message: "Not Found"},
		"not permitted": {Status: 403, Message: "Resource not accessible by integration"},
		"not valid":     {Status: 422, Message: "Invalid request."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mended atomic.Bool
			w := begin(t, setup{config: map[string]string{"targets": twoTargets}, script: func(r fakegithub.Request) *fakegithub.Fault {
				if toOther(r) && !mended.Load() {
					return fault
				}
				return nil
			}})
			w.hook("quay.io/example/bad:v1")
			w.hook("quay.io/example/op:v1")
			w.settled()
			if got := w.hub.Dispatches(); len(got) != 1 || got[0].Repo != "catalog" {
				t.Fatalf("%+v", got)
			}
			if w.metric(`graft_relay_dispatches_total{result="dead"}`) != 1 {
				t.Error("no metric counts it")
			}
			letters := filepath.Join(w.queue, file.DeadName)
			text, err := os.ReadFile(letters)
			if err != nil || strings.Count(string(text), "\n") != 1 || !strings.Contains(string(text), fault.Message) || !strings.Contains(string(text), "--replay") {
				t.Fatalf("%s %v", text, err)
			}
			var out bytes.Buffer
			if err := Replay(t.Context(), w.config, w.options(), letters, &out); err == nil {
				t.Error("it was sent although GitHub refuses it")
			}
			mended.Store(true)
			if err := Replay(t.Context(), w.config, w.options(), letters, &out); err != nil {
				t.Fatal(err)
			}
			got := w.hub.Dispatches()
			if len(got) != 2 || got[1].Repo != "other" || !strings.Contains(out.String(), "sent to octo/other") {
				t.Errorf("%+v\n%s", got, out.String())
			}
		})
	}
}

// The relay repeats after temporary faults: server errors, lost answers, a token that is being replaced.
func TestTriedAgain(t *testing.T) {
	t.Parallel()
	var n atomic.Int32
	w := begin(t, setup{script: func(r fakegithub.Request) *fakegithub.Fault {
		switch n.Add(1) {
		case 1:
			return fakegithub.ServerError(502, false)
		case 2:
			return &fakegithub.Fault{Cut: true}
		case 3:
			return &fakegithub.Fault{Status: 401, Message: "Bad credentials"}
		case 4:
			return fakegithub.ServerError(500, true)
		}
		return nil
	}})
	w.hook("quay.io/example/op:v1")
	w.settled()
	got := w.hub.Dispatches()
	if len(got) != 2 || !bytes.Equal(got[0].Payload, got[1].Payload) {
		t.Errorf("%+v: only a lost answer leads to a duplicate, with the same id", got)
	}
	if w.metric(`graft_relay_dispatches_total{result="retried"}`) != 4 {
		t.Error("four attempts failed")
	}
	if got := w.agent.Load(); got != "graft/test" {
		t.Errorf("GitHub was asked by %q", got)
	}
}

// A failing target and a silent one delay no other.
func TestOneBadTarget(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	w := begin(t, setup{config: map[string]string{"targets": twoTargets}, script: func(r fakegithub.Request) *fakegithub.Fault {
		if toOther(r) {
			<-hold
		}
		return nil
	}})
	for _, tag := range []string{"v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8"} {
		w.hook("quay.io/example/bad:" + tag)
	}
	for _, tag := range []string{"v1", "v2", "v3"} {
		w.hook("quay.io/example/op:" + tag)
	}
	w.until("the good ones are delivered", func() bool { return len(w.hub.Dispatches()) == 3 })
	close(hold)
	w.settled()
	if n := len(w.hub.Dispatches()); n != 11 {
		t.Errorf("%d events", n)
	}
}

// A rate limit delays all deliveries until GitHub's time, and does not count as a failed attempt.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	var n atomic.Int32
	var limitedAt, next time.Time
	w := begin(t, setup{config: map[string]string{"targets": twoTargets}, script: func(r fakegithub.Request) *fakegithub.Fault {
		switch n.Add(1) {
		case 1:
			limitedAt = time.Now()
			return fakegithub.SecondaryLimit(429, time.Second)
		case 2:
			next = time.Now()
		}
		return nil
	}})
	w.hook("quay.io/example/op:v1")
	w.until("the limit was met", func() bool { return n.Load() == 1 && w.metric(`graft_relay_dispatches_total{result="limited"}`) == 1 })
	w.hook("quay.io/example/bad:v1")
	w.settled()
	if waited := next.Sub(limitedAt); waited < 900*time.Millisecond {
		t.Errorf("the next request came after %v", waited)
	}
	if n.Load() != 3 {
		t.Errorf("%d requests for two events and a limit", n.Load())
	}
}

func TestGivenUp(t *testing.T) {
	t.Parallel()
	w := begin(t, setup{
		github: map[string]string{"giveUpAfter": "50ms"},
		script: func(fakegithub.Request) *fakegithub.Fault { return fakegithub.ServerError(503, false) },
	})
	w.hook("quay.io/example/op:v1")
	w.settled()
	text, err := os.ReadFile(filepath.Join(w.queue, file.DeadName))
	if err != nil || !strings.Contains(string(text), "given up after 50ms") {
		t.Errorf("%s %v", text, err)
	}
}

// The next relay sends the deliveries that waited at the stop.
func TestStopAndStart(t *testing.T) {
	t.Parallel()
	var up atomic.Bool
	w := begin(t, setup{script: func(fakegithub.Request) *fakegithub.Fault {
		if up.Load() {
			return nil
		}
		return fakegithub.ServerError(503, false)
	}})
	w.hook("quay.io/example/op:v1")
	w.hook("quay.io/example/op:v2")
	w.until("it was tried", func() bool { return w.hub.Count(dispatches) > 2 })
	if err := w.end(); err != nil {
		t.Fatal(err)
	}
	if len(w.hub.Dispatches()) != 0 {
		t.Fatal("it was sent")
	}
	up.Store(true)
	w.serve(w.config)
	w.settled()
	if n := len(w.hub.Dispatches()); n != 2 {
		t.Errorf("%d events", n)
	}
}

// A stop does not wait forever for a silent GitHub. The next relay sends the interrupted delivery.
func TestStopDoesNotWaitForEver(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	w := begin(t, setup{grace: 50 * time.Millisecond, script: func(fakegithub.Request) *fakegithub.Fault { <-hold; return nil }})
	t.Cleanup(func() { close(hold) })
	w.hook("quay.io/example/op:v1")
	w.until("it is under way", func() bool { return w.agent.Load() != nil })
	ended := make(chan error, 1)
	go func() { ended <- w.end() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the relay does not end")
	}
	if !strings.Contains(w.log.String(), `"msg":"stopped","waiting":1`) {
		t.Errorf("%s", w.log)
	}
}

// A stop waits for a dispatch in progress, so that it is not sent twice.
func TestStopWaits(t *testing.T) {
	t.Parallel()
	begun, answer := make(chan struct{}), make(chan struct{})
	w := begin(t, setup{script: func(fakegithub.Request) *fakegithub.Fault {
		close(begun)
		<-answer
		return nil
	}})
	w.hook("quay.io/example/op:v1")
	<-begun
	ended := make(chan error)
	go func() { ended <- w.end() }()
	w.until("it is stopping", func() bool { return strings.Contains(w.log.String(), `"stopping"`) })
	close(answer)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(w.log.String(), `"msg":"stopped","waiting":0`) {
		t.Errorf("%s", w.log)
	}
}

// A second relay cannot use the same folder.
func TestOneRelay(t *testing.T) {
	w := begin(t, setup{})
	if _, err := Open(t.Context(), w.config, w.options()); !failure.Is(err, failure.Usage) || !strings.Contains(err.Error(), "another relay") {
		t.Errorf("%v", err)
	}
}

func TestGitHubApp(t *testing.T) {
	t.Parallel()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		block *pem.Block
		life  time.Duration
		asked int
	}{
		"for an hour":     {&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}, time.Hour, 1},
		"renewed in time": {&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}, renewBefore - time.Second, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "key.pem")
			if err := os.WriteFile(file, pem.EncodeToMemory(tt.block), 0o600); err != nil {
				t.Fatal(err)
			}
			w := begin(t, setup{
				github: map[string]string{"app": `{id: "77", installation: "4711", keyFile: ` + file + `}`},
				hub: func(h *fakegithub.Server) {
					h.AddApp(fakegithub.GitHubApp{ID: "77", Installation: 4711, Key: &key.PublicKey, TokenLife: tt.life, Permissions: map[string]string{"contents": "write"}})
				},
			})
			w.hook("quay.io/example/op:v1")
			w.settled()
			w.hook("quay.io/example/op:v2")
			w.settled()
			got := w.hub.Dispatches()
			if len(got) != 2 || got[0].Sender != "app-77[bot]" {
				t.Errorf("%+v", got)
			}
			if n := w.hub.Count("POST /app/installations/{id}/access_tokens"); n != tt.asked {
				t.Errorf("%d tokens were asked for, want %d", n, tt.asked)
			}
			if strings.Contains(w.log.String(), "ghs_") {
				t.Error("a token is in the log")
			}
		})
	}
}
