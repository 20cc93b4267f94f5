//go:build linux

package relay

import (
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/olmgraft/graft/internal/testkit/child"
	"github.com/olmgraft/graft/internal/testkit/fakegithub"
)

// On a full disk the real program starts, sends the accepted deliveries, refuses new ones, and recovers once
// there is room.
func TestFullDisk(t *testing.T) {
	if !child.Is(t) {
		return
	}
	signal.Ignore(syscall.SIGXFSZ) // the program inherits this
	down := make(chan struct{})
	w := begin(t, setup{script: func(fakegithub.Request) *fakegithub.Fault {
		select {
		case <-down:
			return nil
		default:
			return fakegithub.ServerError(http.StatusServiceUnavailable, false)
		}
	}})
	for _, image := range []string{"quay.io/example/op:v1", "quay.io/example/op:v2"} {
		if status, said := w.hook(image); status != http.StatusAccepted {
			t.Fatal(status, said)
		}
	}
	if err := w.end(); err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	s := setup{config: map[string]string{"listen": `"` + address + `"`, "queue": "{dir: " + w.queue + "}"}}
	file := filepath.Join(t.TempDir(), "relay.yaml")
	if err := os.WriteFile(file, []byte(s.yaml(t, w.config.GitHub.APIURL)), 0o600); err != nil {
		t.Fatal(err)
	}
	full(t, os.Getpid(), true)
	p := launch(t, "http://"+address+"/healthz", []string{"SECRET=" + secret, "GITHUB_TOKEN=" + ghToken}, graftRelay(t), "--config", file)
	full(t, os.Getpid(), false)
	real := &fixture{t: t, url: "http://" + address, log: p.log}
	if status, said := real.hook("quay.io/example/op:v3"); status != http.StatusServiceUnavailable {
		t.Errorf("%d %s", status, said)
	}
	if status, said := real.request(http.MethodGet, "/readyz", nil); status != http.StatusServiceUnavailable {
		t.Errorf("/readyz: %d %s", status, said)
	}
	close(down)
	real.until("the accepted images are sent", func() bool { return len(w.hub.Dispatches()) == 2 })
	full(t, p.cmd.Process.Pid, false)
	real.until("there is room", func() bool {
		status, _ := real.request(http.MethodGet, "/readyz", nil)
		return status == http.StatusOK
	})
	if status, said := real.hook("quay.io/example/op:v3"); status != http.StatusAccepted {
		t.Errorf("%d %s", status, said)
	}
	real.settled()
	if n := len(w.hub.Dispatches()); n != 3 {
		t.Errorf("%d dispatches", n)
	}
	if state := p.signal(syscall.SIGTERM); !state.Success() {
		t.Errorf("it stopped with %v\n%s", state, p.log)
	}
}

// full makes the kernel refuse or allow that files of a process grow.
func full(t *testing.T, pid int, refuse bool) {
	t.Helper()
	var limit unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_FSIZE, nil, &limit); err != nil {
		t.Fatal(err)
	}
	if limit.Cur = limit.Max; refuse {
		limit.Cur = 0
	}
	if err := unix.Prlimit(pid, unix.RLIMIT_FSIZE, &limit, nil); err != nil {
		t.Fatal(err)
	}
}
