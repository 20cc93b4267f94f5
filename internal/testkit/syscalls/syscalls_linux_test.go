package syscalls_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/olmgraft/graft/internal/testkit/syscalls"
)

// TestMain also runs as the helper and as the observed program.
func TestMain(m *testing.M) {
	switch dir := os.Getenv("SYSCALLS_DIR"); {
	case os.Getenv("SYSCALLS_HELPER") != "":
		err := os.Unsetenv("SYSCALLS_HELPER")
		fmt.Println(errors.Join(err, syscalls.Main(os.Args[1:])))
		os.Exit(1)
	case dir != "":
		if err := change(dir); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func change(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	f, err := root.Create("a")
	if err != nil {
		return err
	}
	_, err = f.WriteString("twelve bytes")
	err = errors.Join(err, f.Sync(), f.Close(), root.Rename("a", "b"), root.Mkdir("sub", 0o755))
	return errors.Join(err, os.Symlink("b", filepath.Join(dir, "link")), exec.Command("rm", filepath.Join(dir, "link")).Run())
}

func TestEveryCallFails(t *testing.T) {
	names := []string{"create a", "write a", "sync a", "rename b", "mkdir sub", "link link", "unlink link"}
	run := func(decide func(at int, c syscalls.Call) syscalls.Fault) (dir string, calls []string, out string, err error) {
		dir = t.TempDir()
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "SYSCALLS_HELPER=1", "SYSCALLS_DIR="+dir)
		var said strings.Builder
		cmd.Stdout = &said
		err = syscalls.Run(os.Args[0], cmd, func(c syscalls.Call) syscalls.Fault {
			rel, below := strings.CutPrefix(c.Path, dir+"/")
			if !below {
				return syscalls.Fault{}
			}
			calls = append(calls, c.Name+" "+rel)
			return decide(len(calls)-1, c)
		})
		return dir, calls, said.String(), err
	}
	dir, calls, out, err := run(func(int, syscalls.Call) syscalls.Fault { return syscalls.Fault{} })
	if err != nil || !slices.Equal(calls, names) {
		t.Fatalf("%v %v %s", calls, err, out)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "b")); err != nil || string(text) != "twelve bytes" {
		t.Errorf("%q %v", text, err)
	}
	for at, name := range names {
		_, calls, out, err := run(func(n int, _ syscalls.Call) (f syscalls.Fault) {
			if n == at {
				f.Errno = unix.ENOSPC
			}
			return f
		})
		told := strings.Contains(out, unix.ENOSPC.Error()) || strings.HasPrefix(name, "unlink") && strings.Contains(out, "exit status")
		if err == nil || !told || len(calls) <= at {
			t.Errorf("%s: %v, %v, %q", name, calls, err, out)
		}
	}
	dir, calls, out, err = run(func(n int, c syscalls.Call) (f syscalls.Fault) {
		f.Short = n == 1
		if n == 1 && c.Size != len("twelve bytes") {
			t.Errorf("%+v", c)
		}
		return f
	})
	if want := slices.Insert(slices.Clone(names), 2, names[1]); err != nil || !slices.Equal(calls, want) {
		t.Errorf("a short write: %v %v %s", calls, err, out)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "b")); err != nil || string(text) != "twelve bytes" {
		t.Errorf("after a short write: %q %v", text, err)
	}
}

// A program that cannot be observed is an error.
func TestNoHelper(t *testing.T) {
	if err := syscalls.Run("/bin/true", exec.Command("true"), nil); err == nil {
		t.Error("a program runs without an observer")
	}
}
