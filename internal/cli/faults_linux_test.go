package cli

import (
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/olmgraft/graft/internal/testkit/syscalls"
)

// errnos lists the possible faults of a call that changes a file. 0 means a short write, after which the disk
// is full.
var errnos = map[string][]unix.Errno{
	"write": {unix.ENOSPC, unix.EIO, 0}, "writev": {unix.ENOSPC, unix.EIO}, "copy": {unix.ENOSPC}, "sync": {unix.EIO, unix.ENOSPC}, "truncate": {unix.ENOSPC},
	"chmod": {unix.EPERM}, "create": {unix.ENOSPC, unix.EMFILE}, "mkdir": {unix.ENOSPC}, "unlink": {unix.EIO}, "rename": {unix.EIO, unix.ENOSPC}, "link": {unix.EIO},
}

// broken is a call of a run with its fault.
type broken struct {
	call  string
	nth   int // among those with that name and place, from 1
	errno unix.Errno
}

func (b broken) String() string {
	return fmt.Sprintf("%s, number %d, gives %v", b.call, b.nth, b.errno)
}

// recorder counts calls and makes one fail.
type recorder struct {
	dir    string
	fails  broken
	mu     sync.Mutex
	seen   map[string]int
	order  []broken
	failed bool
	full   string // can no longer be written
}

var random = regexp.MustCompile(`[A-Z2-7]{26}|[0-9a-f]{38,64}|(tmp_[a-z]*_?|pack-)[0-9A-Za-z]+|\.new-\d+|objects/[0-9a-f]{2}`)

func (r *recorder) decide(c syscalls.Call) syscalls.Fault {
	r.mu.Lock()
	defer r.mu.Unlock()
	rel, below := strings.CutPrefix(c.Path, r.dir)
	if !below {
		return syscalls.Fault{}
	}
	name := c.Name + " " + random.ReplaceAllString(rel, "*")
	if r.seen == nil {
		r.seen = map[string]int{}
	}
	r.seen[name]++
	for i, errno := range errnos[c.Name] {
		// All of many equal calls fail, and the first few in all ways.
		if (i == 0 || r.seen[name] <= 3) && (errno != 0 || c.Size > 1) {
			r.order = append(r.order, broken{name, r.seen[name], errno})
		}
	}
	if r.full == c.Path && c.Name == "write" {
		r.full = ""
		return syscalls.Fault{Errno: unix.ENOSPC}
	}
	if r.failed || name != r.fails.call || r.seen[name] != r.fails.nth {
		return syscalls.Fault{}
	}
	r.failed = true
	if r.fails.errno == 0 {
		r.full = c.Path
		return syscalls.Fault{Short: true}
	}
	return syscalls.Fault{Errno: r.fails.errno}
}

// observe runs a command under the recorder.
func (r *recorder) observe(cmd *exec.Cmd) error {
	helper, err := exec.LookPath("observed")
	if err != nil {
		return err
	}
	if err = syscalls.Run(helper, cmd, r.decide); errors.As(err, new(*exec.ExitError)) {
		return nil
	}
	return err
}

// Each system call of publish, and of the commands that it runs, that changes a file fails once.
func TestPublishWhereEachWriteFails(t *testing.T) {
	t.Parallel()
	for i, p := range pipelines[:2] {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			w, err := newFaultWorld(dir, i)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			cmd, out := w.command("1.2.0")
			all := &recorder{dir: dir}
			if err := all.observe(cmd); err != nil || !cmd.ProcessState.Success() {
				t.Fatalf("%v\n%s", err, out)
			}
			stands, err := w.stands()
			if err := errors.Join(err, w.swept()); err != nil {
				t.Fatal(err)
			}
			want := ending{stands, w.told()}
			var mu sync.Mutex
			codes, missed := map[int]int{}, 0
			tries(t, 2, 8, all.order, func(dir string, at broken) error {
				w, err := newFaultWorld(dir, i)
				if err != nil {
					return err
				}
				defer w.Close()
				cmd, out := w.command("1.2.0")
				r := &recorder{dir: dir, fails: at}
				if err := r.observe(cmd); err != nil {
					return err
				}
				code, err := w.holds(cmd, out.String(), want)
				mu.Lock()
				defer mu.Unlock()
				if codes[code]++; !r.failed {
					missed++
				}
				return err
			})
			t.Logf("%d calls change files, and fail in %d ways; exit codes of the runs: %v; %d came to no such call", calls(all.seen), len(all.order), codes, missed)
		})
	}
}

func calls(seen map[string]int) (n int) {
	for _, of := range seen {
		n += of
	}
	return n
}
