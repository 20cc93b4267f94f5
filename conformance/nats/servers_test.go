package nats_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// natsServer returns the path of the server that go.mod names. Go builds it if needed.
var natsServer = sync.OnceValues(func() (string, error) {
	cmd := exec.Command("go", "tool", "-n", "nats-server")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("building nats-server: %w\n%s", err, &said)
	}
	return strings.TrimSpace(string(out)), nil
})

// freePorts returns unused ports of this machine.
func freePorts(t testing.TB, n int) []int {
	t.Helper()
	var ports []int
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

// process is a program that runs until the test ends. It can be killed and restarted.
type process struct {
	t    testing.TB
	name string
	args []string
	env  []string
	log  string
	cmd  *exec.Cmd
}

func launch(t testing.TB, name string, env []string, args ...string) *process {
	t.Helper()
	p := &process{t: t, name: name, args: args, env: env, log: filepath.Join(t.TempDir(), "log")}
	p.start()
	t.Cleanup(p.kill)
	return p
}

func (p *process) start() {
	p.t.Helper()
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		p.t.Fatal(err)
	}
	defer log.Close()
	p.cmd = exec.Command(p.name, p.args...)
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = append(os.Environ(), p.env...), log, log
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
}

func (p *process) kill() {
	if p.cmd.ProcessState == nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait() // killed
	}
}

// stop asks the process to end, and reports whether it succeeded.
func (p *process) stop() bool {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	return p.cmd.Wait() == nil
}

// said returns the end of the process' output.
func (p *process) said() string {
	text, _ := os.ReadFile(p.log)
	return string(text[max(0, len(text)-4000):])
}

// cluster is a set of NATS servers, each a process with its own folder.
type cluster struct {
	servers []*process
	urls    []string
	dirs    []string
}

func (c *cluster) url() string { return strings.Join(c.urls, ",") }

// startCluster starts three servers and waits until they have a leader.
func startCluster(t testing.TB) *cluster {
	t.Helper()
	return startServers(t, 3, "")
}

// startServers starts servers, with additions to their JetStream configuration.
func startServers(t testing.TB, n int, more string) *cluster {
	t.Helper()
	path, err := natsServer()
	if err != nil {
		t.Fatal(err)
	}
	ports := freePorts(t, 2*n)
	var routes []string
	for i := range n {
		routes = append(routes, fmt.Sprintf("nats-route://127.0.0.1:%d", ports[n+i]))
	}
	c := &cluster{}
	for i := range n {
		dir := t.TempDir()
		config := filepath.Join(dir, "nats.conf")
		text := fmt.Sprintf("server_name: n%d\nlisten: 127.0.0.1:%d\njetstream {store_dir: %q, max_file_store: 8GB%s}\n", i, ports[i], filepath.Join(dir, "store"), more)
		if n > 1 {
			text += fmt.Sprintf("cluster {name: graft, listen: 127.0.0.1:%d, routes: [%s]}\n", ports[n+i], strings.Join(routes, ", "))
		}
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c.servers = append(c.servers, launch(t, path, nil, "-c", config))
		c.urls = append(c.urls, fmt.Sprintf("nats://127.0.0.1:%d", ports[i]))
		c.dirs = append(c.dirs, dir)
	}
	until(t, "the servers have a leader", func() bool {
		conn, err := nats.Connect(c.url())
		if err != nil {
			return false
		}
		defer conn.Close()
		js, err := jetstream.New(conn, jetstream.WithDefaultTimeout(2*time.Second))
		if err != nil {
			return false
		}
		_, err = js.AccountInfo(t.Context())
		return err == nil
	})
	return c
}

// until waits for a condition.
func until(t testing.TB, what string, is func() bool) {
	t.Helper()
	for begun := time.Now(); time.Since(begun) < 10*time.Minute; time.Sleep(20 * time.Millisecond) {
		if is() {
			return
		}
	}
	t.Fatalf("waited in vain until %s", what)
}

// waiting returns the number of items in the stream of the queue, or -1 if no server answers.
func waiting(t testing.TB, url string) int {
	t.Helper()
	conn, err := nats.Connect(url)
	if err != nil {
		return -1
	}
	defer conn.Close()
	js, err := jetstream.New(conn, jetstream.WithDefaultTimeout(2*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	s, err := js.Stream(t.Context(), "GRAFT")
	if err != nil {
		return -1
	}
	return int(s.CachedInfo().State.Msgs)
}
