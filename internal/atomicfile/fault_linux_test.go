package atomicfile

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/olmgraft/graft/internal/testkit/effort"
	"github.com/olmgraft/graft/internal/testkit/syscalls"
)

func init() {
	observed = func() {
		err := os.Unsetenv("ATOMICFILE_OBSERVED")
		fmt.Println(errors.Join(err, syscalls.Main(os.Args)))
		os.Exit(1)
	}
}

// failing runs this program and makes the system call with the given number fail, counting those that change a
// file. It returns the name of that call, or "" if there were fewer, and whether the program succeeded.
func failing(t *testing.T, root, does string, at int, errno unix.Errno) (call string, well bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "ATOMICFILE_OBSERVED=1", "ATOMICFILE_ROOT="+root, "ATOMICFILE_DOES="+does, "ATOMICFILE_STEP=1000000")
	err := syscalls.Run(os.Args[0], cmd, func(c syscalls.Call) syscalls.Fault {
		rel, below := strings.CutPrefix(c.Path, root+"/")
		if !below {
			return syscalls.Fault{}
		}
		if at--; at != -1 {
			return syscalls.Fault{}
		}
		call = c.Name + " " + rel
		if errno == 0 {
			return syscalls.Fault{Short: c.Name == "write" && c.Size > 1}
		}
		return syscalls.Fault{Errno: errno}
	})
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return call, err == nil
}

// If any system call fails, all files have their old or their new content, as the program reports; and the next
// run leaves no other file.
func TestEachCallFails(t *testing.T) {
	for does, asked := range map[string]map[string]string{
		"change": asAsked,
		"stream": {"a": "new a", "sub/b": "old b", "gone": "old"},
	} {
		calls, well, ill := 0, 0, 0
		for _, errno := range []unix.Errno{unix.ENOSPC, 0, unix.EIO}[:effort.Of(t, 1, 2, 3)] {
			for at := 0; ; at++ {
				root := repo(t)
				call, ok := failing(t, root, does, at, errno)
				if call == "" {
					calls = at
					break
				}
				want := asItWas
				if ok {
					want = asked
					well++
				} else {
					ill++
				}
				got := standing(t, root)
				maps.DeleteFunc(got, func(name, _ string) bool {
					return tempName.MatchString(filepath.Base(name)) || strings.HasPrefix(name, ".git/")
				})
				if !maps.Equal(got, want) {
					t.Errorf("%s: %s gives %v: success %v, files %v", does, call, errno, ok, got)
				}
				if _, err := Locate(filepath.Join(root, "a"), false); err != nil {
					t.Errorf("%s: %s gives %v: the next run: %v", does, call, errno, err)
				}
				if got := standing(t, root); !maps.Equal(got, want) {
					t.Errorf("%s: %s gives %v: files after the next run %v", does, call, errno, got)
				}
			}
		}
		t.Logf("%s: %d calls change files; %d runs ended well, %d did not", does, calls, well, ill)
		if ill < 3 {
			t.Error("too few")
		}
	}
}

// The next run removes a temporary folder that could not be removed.
func TestTempDirWhereEachCallFails(t *testing.T) {
	for at := 0; ; at++ {
		root := t.TempDir()
		call, _ := failing(t, root, "temp", at, unix.EIO)
		if call == "" {
			break
		}
		sweep(root, "graft-test")
		if left, err := os.ReadDir(root); err != nil || len(left) > 0 {
			t.Errorf("%s fails: left are %v (%v)", call, left, err)
		}
	}
}

// If any system call fails while a run recovers from a killed one, the next run completes the change or takes
// it back.
func TestResumeWhereEachCallFails(t *testing.T) {
	before, after := 0, 0
	for step := 0; ; step += 3 {
		root := repo(t)
		if !killedAt(t, root, "change", step) {
			break
		}
		for at := 0; ; at++ {
			half := filepath.Join(t.TempDir(), "half")
			if err := os.CopyFS(half, os.DirFS(root)); err != nil {
				t.Fatal(err)
			}
			call, _ := failing(t, half, "resume", at, unix.EIO)
			if call == "" {
				break
			}
			if _, err := Locate(filepath.Join(half, "a"), false); err != nil {
				t.Errorf("killed at step %d, and %s fails: the next run: %v", step, call, err)
			}
			switch got := standing(t, half); {
			case maps.Equal(got, asItWas):
				before++
			case maps.Equal(got, asAsked):
				after++
			default:
				t.Errorf("killed at step %d, and %s fails: files %v", step, call, got)
			}
		}
	}
	t.Logf("%d were taken back, %d completed", before, after)
	if before < 10 || after < 10 {
		t.Error("too few results of one kind")
	}
}
