// Package syscalls runs a program and its children below an observer, which decides on every system call that
// changes a file and can make it fail. It uses the kernel's seccomp notifications (Linux 5.19), so no call of a
// library, of git or of a shell escapes it.
package syscalls

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Call is a system call that is about to change a file.
type Call struct {
	// Name is write, writev, copy, sync, truncate, chmod, create, mkdir, unlink, rename or link.
	Name string
	// Path is absolute, in the program's spelling.
	Path string
	// Size is the number of bytes of a write.
	Size int
}

// Fault is what happens to a call. The zero Fault lets it pass.
type Fault struct {
	Errno unix.Errno
	// Short makes a write accept half of its bytes and return that number. The write needs at least two bytes.
	Short bool
}

// Run runs a command. Helper is the program that calls Main. Run calls decide for each call, one at a time.
func Run(helper string, cmd *exec.Cmd, decide func(Call) Fault) error {
	wait, err := Start(helper, cmd, decide)
	if err != nil {
		return err
	}
	return wait()
}

// Start is Run without waiting; wait does that.
func Start(helper string, cmd *exec.Cmd, decide func(Call) Fault) (wait func() error, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(pair[0]) }()
	theirs := os.NewFile(uintptr(pair[1]), "socket")
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.Args, cmd.Path = append([]string{helper, cmd.Path}, cmd.Args[1:]...), helper
	err = cmd.Start()
	if err = errors.Join(err, theirs.Close()); err != nil {
		return nil, err
	}
	listener, err := receive(pair[0])
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s has no listener: %w", helper, err), cmd.Wait())
	}
	watched := make(chan error, 1)
	go func() { watched <- errors.Join(watch(listener, decide), unix.Close(listener)) }()
	return func() error { return errors.Join(cmd.Wait(), <-watched) }, nil
}

// receive receives the listener.
func receive(socket int) (int, error) {
	space := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(socket, make([]byte, 1), space, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return 0, err
	}
	messages, err := unix.ParseSocketControlMessage(space[:n])
	if err != nil || len(messages) != 1 {
		return 0, errors.Join(errors.New("the program ended before it sent one"), err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return 0, errors.Join(errors.New("it sent none"), err)
	}
	return fds[0], nil
}

// notice and answer are the kernel's struct seccomp_notif and seccomp_notif_resp.
type notice struct {
	id         uint64
	pid, flags uint32
	number     int32
	arch       uint32
	from       uint64
	args       [6]uint64
}

type answer struct {
	id    uint64
	value int64
	errno int32
	flags uint32
}

// watch decides on calls until all programs have ended.
func watch(listener int, decide func(Call) Fault) error {
	for {
		poll := []unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}}
		if _, err := unix.Poll(poll, -1); err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		if poll[0].Revents&unix.POLLIN == 0 {
			if poll[0].Revents != 0 {
				return nil
			}
			continue
		}
		var n notice
		switch _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&n))); errno {
		case 0:
		case unix.ENOENT, unix.EINTR: // the program was killed meanwhile
			continue
		default:
			return errno
		}
		a := n.decide(decide)
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&a)))
		if errno != 0 && errno != unix.ENOENT {
			return errno
		}
	}
}

func (n *notice) decide(decide func(Call) Fault) answer {
	pass := answer{id: n.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
	c, ok := n.call()
	if !ok {
		return pass
	}
	switch f := decide(c); {
	case f.Errno != 0:
		return answer{id: n.id, errno: -int32(f.Errno)}
	case f.Short:
		written, err := n.half()
		if err != nil {
			return answer{id: n.id, errno: -int32(unix.EIO)}
		}
		return answer{id: n.id, value: int64(written)}
	}
	return pass
}

// call describes the call. It returns false for a call that changes no file: one that writes to a socket, a
// pipe or a device.
func (n *notice) call() (Call, bool) {
	s := table[int(n.number)]
	c := Call{Name: s.name}
	proc := "/proc/" + strconv.Itoa(int(n.pid))
	at := func(arg int) (string, bool) {
		dir := proc + "/cwd"
		if arg != none && int32(n.args[arg]) != unix.AT_FDCWD {
			dir = proc + "/fd/" + strconv.Itoa(int(int32(n.args[arg])))
		}
		to, err := os.Readlink(dir)
		return to, err == nil
	}
	var ok bool
	if s.fd != none {
		c.Path, ok = at(s.fd)
		if s.name == "write" {
			c.Size = int(n.args[2])
		}
	} else if c.Path, ok = n.text(n.args[s.path]); ok && !filepath.IsAbs(c.Path) {
		var dir string
		dir, ok = at(s.dir)
		c.Path = filepath.Join(dir, c.Path)
	}
	ok = ok && filepath.IsAbs(c.Path) && !strings.HasPrefix(c.Path, "/dev/") && !strings.HasPrefix(c.Path, "/proc/")
	return c, ok
}

// text reads a string from the program's memory.
func (n *notice) text(at uint64) (string, bool) {
	const page = 4096
	var all []byte
	for len(all) < page {
		part := make([]byte, page-at%page) // the next page may be unmapped
		read, err := n.read(at, part)
		if err != nil || read == 0 {
			return "", false
		}
		if end := bytes.IndexByte(part[:read], 0); end >= 0 {
			return string(append(all, part[:end]...)), true
		}
		all, at = append(all, part[:read]...), at+uint64(read)
	}
	return "", false
}

func (n *notice) read(at uint64, into []byte) (int, error) {
	local := []unix.Iovec{{Base: &into[0]}}
	local[0].SetLen(len(into))
	return unix.ProcessVMReadv(int(n.pid), local, []unix.RemoteIovec{{Base: uintptr(at), Len: len(into)}}, 0)
}

// half performs the first half of a write in the program's place, on its open file.
func (n *notice) half() (int, error) {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(int(n.pid)) + "/status")
	if err != nil {
		return 0, err
	}
	var group int // the process of the thread
	for line := range strings.Lines(string(status)) {
		if id, ok := strings.CutPrefix(line, "Tgid:"); ok {
			if group, err = strconv.Atoi(strings.TrimSpace(id)); err != nil {
				return 0, err
			}
		}
	}
	process, err := unix.PidfdOpen(group, 0)
	if err != nil {
		return 0, err
	}
	defer func() { _ = unix.Close(process) }()
	file, err := unix.PidfdGetfd(process, int(int32(n.args[0])), 0)
	if err != nil {
		return 0, err
	}
	defer func() { _ = unix.Close(file) }()
	part := make([]byte, n.args[2]/2)
	if len(part) == 0 {
		return 0, unix.EINVAL
	}
	if _, err := n.read(n.args[1], part); err != nil {
		return 0, err
	}
	if n.number == unix.SYS_PWRITE64 {
		return unix.Pwrite(file, part, int64(n.args[3]))
	}
	return unix.Write(file, part)
}
