// Package registries tests Graft with other programs that make, keep and announce images: the distribution
// project's registry, which this module's go.mod names, and Debian's skopeo.
package registries

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/testkit/registry"
)

var scratch string

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "graft-registries"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(scratch)
	os.Exit(code)
}

// tool returns the path of a program that go.mod names. Go builds it if needed.
func tool(t *testing.T, name string) string {
	t.Helper()
	cmd := exec.Command("go", "tool", "-n", name)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("building %s: %v\n%s", name, err, &said)
	}
	return strings.TrimSpace(string(out))
}

func skopeo(t *testing.T, args ...string) {
	t.Helper()
	at, err := exec.LookPath("skopeo")
	if err != nil {
		t.Fatal("there is no skopeo: apt-get install skopeo")
	}
	if out, err := exec.Command(at, append([]string{"--insecure-policy"}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("skopeo %v: %v\n%s", args, err, out)
	}
}

// startWorkshop starts the testkit's registry, in which tests make images.
func startWorkshop(t *testing.T) *registry.Server {
	t.Helper()
	s, err := registry.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// copyImage copies an image with all platforms from one registry to another.
func copyImage(t *testing.T, from, to string) {
	t.Helper()
	skopeo(t, "copy", "--all", "--src-tls-verify=false", "--dest-tls-verify=false", "docker://"+from, "docker://"+to)
}

// programs builds the commands of this checkout once and returns their folder.
var programs = sync.OnceValues(func() (string, error) {
	cmd := exec.Command("go", "build", "-o", scratch+"/", "./cmd/graft", "./cmd/graft-relay")
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the programs: %w\n%s", err, out)
	}
	return scratch, nil
})

func program(t *testing.T, name string) string {
	t.Helper()
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name)
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

// launch starts a program that runs until the test ends, and waits until it answers 200 at an address. It
// returns the file with the program's output.
func launch(t *testing.T, ready string, env []string, name string, args ...string) string {
	t.Helper()
	said, err := os.Create(filepath.Join(t.TempDir(), "said"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), env...), said, said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // ProcessState has the result
		close(ended)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
		_ = said.Close()
	})
	until(t, name+" answers", said.Name(), func() bool {
		select {
		case <-ended:
			t.Fatalf("%s ended: %v\n%s", name, cmd.ProcessState, read(t, said.Name()))
		default:
		}
		resp, err := http.Get(ready)
		if err != nil {
			return false
		}
		return resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
	})
	return said.Name()
}

// until waits for a condition, and shows a file if it stays false.
func until(t *testing.T, what, file string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if is() {
			return
		}
	}
	t.Fatalf("waited in vain until %s\n%s", what, read(t, file))
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// startRegistry starts the distribution project's registry with the configuration of deploy/compose, which
// notifies an endpoint of each push with a secret, and returns its address.
func startRegistry(t *testing.T, endpoint, secret string) string {
	t.Helper()
	address := freeAddress(t)
	text := read(t, "../../deploy/compose/registry.yaml")
	for _, change := range [][2]string{
		{"addr: :5000", "addr: " + address}, {"http://relay:8080/", endpoint + "/"},
		{"/var/lib/registry", t.TempDir()}, {"only-for-this-example-0123456789", secret},
	} {
		if !strings.Contains(text, change[0]) {
			t.Fatalf("deploy/compose/registry.yaml has no %s", change[0])
		}
		text = strings.ReplaceAll(text, change[0], change[1])
	}
	file := filepath.Join(t.TempDir(), "config.yml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	launch(t, "http://"+address+"/v2/", nil, tool(t, "registry"), "serve", file)
	return address
}
