package relay

import (
	"net"
	"net/http"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// graftRelay returns the path of the real graft-relay.
func graftRelay(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("graft-relay")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// freeAddress returns an unused address.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// process is a program that runs in the background.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	log   *logBuffer
	ended chan struct{}
}

// launch starts a program and waits until it answers 200 at the address.
func launch(t *testing.T, ready string, env []string, name string, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(name, args...), log: &logBuffer{}, ended: make(chan struct{})}
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = append(os.Environ(), env...), p.log, p.log
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // ProcessState has the result
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.ended
	})
	for range 2000 {
		if resp, err := http.Get(ready); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return p
			}
		}
		select {
		case <-p.ended:
			t.Fatalf("%s ended: %v\n%s", name, p.cmd.ProcessState, p.log)
		case <-time.After(5 * time.Millisecond):
		}
	}
	t.Fatalf("%s does not answer\n%s", name, p.log)
	return nil
}

// signal sends a signal and waits for the end.
func (p *process) signal(s syscall.Signal) *os.ProcessState {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
	<-p.ended
	return p.cmd.ProcessState
}
