package relay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/testkit/effort"
	"github.com/olmgraft/graft/internal/testkit/fakegithub"
	"github.com/olmgraft/graft/internal/testkit/syscalls"
)

// broken names a system call of the relay that changes a file, and its fault.
type broken struct {
	call  string
	nth   int
	errno unix.Errno // 0 means a short write, after which the disk is full
}

// disk counts the calls and makes one fail.
type disk struct {
	dir    string
	fails  broken
	mu     sync.Mutex
	seen   map[string]int
	order  []broken
	failed bool
	full   string
}

func (d *disk) decide(c syscalls.Call) syscalls.Fault {
	d.mu.Lock()
	defer d.mu.Unlock()
	rel, below := strings.CutPrefix(c.Path, d.dir)
	if !below {
		return syscalls.Fault{}
	}
	call := c.Name + " " + rel
	d.seen[call]++
	d.order = append(d.order, broken{call, d.seen[call], unix.ENOSPC}, broken{call, d.seen[call], unix.EIO})
	if c.Name == "write" && c.Size > 1 {
		d.order = append(d.order, broken{call, d.seen[call], 0})
	}
	if d.full == c.Path && c.Name == "write" {
		d.full = ""
		return syscalls.Fault{Errno: unix.ENOSPC}
	}
	if d.failed || call != d.fails.call || d.seen[call] != d.fails.nth {
		return syscalls.Fault{}
	}
	if d.failed = true; d.fails.errno == 0 {
		d.full = c.Path
		return syscalls.Fault{Short: true}
	}
	return syscalls.Fault{Errno: d.fails.errno}
}

// service is the real program, which is started again whenever it ends.
type service struct {
	dir, address string
	hub          *fakegithub.Server
	running      *exec.Cmd
	log          *logBuffer
	ended        chan error
	codes        []int
}

// begin starts the program, observed by the disk if there is one.
func (s *service) begin(d *disk) error {
	relay, err := exec.LookPath("graft-relay")
	helper, missing := exec.LookPath("observed")
	if err := errors.Join(err, missing); err != nil {
		return err
	}
	s.log, s.ended = &logBuffer{}, make(chan error, 1)
	s.running = exec.Command(relay, "--config", filepath.Join(s.dir, "relay.yaml"))
	s.running.Env = append(os.Environ(), "SECRET="+secret, "GITHUB_TOKEN="+ghToken)
	s.running.Stdout, s.running.Stderr = s.log, s.log
	ended, wait := s.ended, s.running.Wait
	if d == nil {
		err = s.running.Start()
	} else {
		wait, err = syscalls.Start(helper, s.running, d.decide)
	}
	if err != nil {
		return err
	}
	go func() { ended <- wait() }()
	return nil
}

// end waits for the program to end and checks that it succeeded or failed with a typed failure.
func (s *service) end(err error) error {
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return err
	}
	code := s.running.ProcessState.ExitCode()
	s.codes = append(s.codes, code)
	e, known := failure.Lookup(strconv.Itoa(code))
	if code != 0 && (!known || code == int(failure.Internal) || !strings.Contains(s.log.String(), fmt.Sprintf("(%s, %d)", e.Class, code))) {
		return fmt.Errorf("it ends with %d, and says\n%s", code, s.log)
	}
	return nil
}

// announce sends an announcement of an image until it is accepted. It restarts a program that ended.
func (s *service) announce(image string) error {
	body := fmt.Sprintf(`{"image": %q, "digest": "sha256:%064x"}`, image, len(image))
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		select {
		case err := <-s.ended:
			if err := errors.Join(s.end(err), s.begin(nil)); err != nil {
				return err
			}
		default:
		}
		req, err := http.NewRequest(http.MethodPost, "http://"+s.address+"/hook", bytes.NewReader([]byte(body)))
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", secret)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			continue
		}
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusAccepted || resp.StatusCode == http.StatusOK {
			return nil
		}
	}
	return fmt.Errorf("%s is never kept:\n%s", image, s.log)
}

// stop ends the program with SIGTERM, as a system does.
func (s *service) stop() error {
	_ = s.running.Process.Signal(syscall.SIGTERM) // the program may have ended
	select {
	case err := <-s.ended:
		return s.end(err)
	case <-time.After(time.Minute):
		return errors.Join(s.running.Process.Kill(), fmt.Errorf("it does not end:\n%s", s.log))
	}
}

var relayed = []string{"quay.io/example/op:v1", "quay.io/example/operand:v22"}

// serve lets a relay accept and dispatch images with the faulty disk, and then lets another run dispatch the rest.
func serve(t *testing.T, dir string, d *disk) (codes []int, err error) {
	hub := fakegithub.New(fakegithub.Options{})
	if err := hub.AddRepository(fakegithub.Repository{Owner: "octo", Name: "catalog", Files: map[string]string{"a": "b"}}); err != nil {
		return nil, err
	}
	api := httptest.NewServer(hub)
	defer api.Close()
	s := &service{dir: dir, hub: hub, address: freeAddress(t)}
	config := setup{config: map[string]string{"listen": `"` + s.address + `"`, "queue": "{dir: " + filepath.Join(dir, "queue") + "}"}}
	d.dir, d.seen = filepath.Join(dir, "queue"), map[string]int{}
	if err := os.WriteFile(filepath.Join(dir, "relay.yaml"), []byte(config.yaml(t, api.URL)), 0o600); err != nil {
		return nil, err
	}
	if err := s.begin(d); err != nil {
		return nil, err
	}
	for _, image := range relayed {
		if err := s.announce(image); err != nil {
			return s.codes, errors.Join(err, s.stop())
		}
	}
	// A run without faults dispatches the rest.
	if err := errors.Join(s.stop(), s.begin(nil), s.announce(relayed[0])); err != nil {
		return s.codes, err
	}
	sent := map[string]map[string]bool{}
	for deadline := time.Now().Add(time.Minute); len(sent) < len(relayed) && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		for _, one := range hub.Dispatches() {
			var said struct{ Image, ID string }
			if err := json.Unmarshal(one.Payload, &said); err != nil {
				return s.codes, err
			}
			if sent[said.Image] == nil {
				sent[said.Image] = map[string]bool{}
			}
			sent[said.Image][said.ID] = true
		}
	}
	err = s.stop()
	for _, image := range relayed {
		if len(sent[image]) != 1 {
			err = errors.Join(err, fmt.Errorf("%s was kept, and dispatched under %d ids", image, len(sent[image])))
		}
	}
	return s.codes, err
}

// Each system call of the relay that changes a file fails once. The relay ends with a typed failure or
// continues, and it or its next run dispatches every accepted image.
func TestEachWriteFails(t *testing.T) {
	t.Parallel()
	all := &disk{}
	if _, err := serve(t, t.TempDir(), all); err != nil {
		t.Fatal(err)
	}
	calls, ways := 0, all.order
	for _, n := range all.seen {
		calls += n
	}
	if calls < 10 {
		t.Fatalf("only %d calls change files: %v", calls, all.seen)
	}
	n := effort.Of(t, min(2, len(ways)), min(4, len(ways)), len(ways))
	ended, missed := map[string]int{}, 0
	for i := range n {
		at := ways[i*len(ways)/n]
		d := &disk{fails: at}
		codes, err := serve(t, t.TempDir(), d)
		if err != nil {
			t.Errorf("%s, number %d, gives %v: %v", at.call, at.nth, at.errno, err)
		}
		if ended[fmt.Sprint(codes)]++; !d.failed {
			missed++
		}
	}
	t.Logf("%d calls change files, and fail in %d ways; exit codes of the runs: %v; %d came to no such call", calls, len(ways), ended, missed)
}
