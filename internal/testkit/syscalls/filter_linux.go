package syscalls

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// inherited is the descriptor of the socket through which the child sends the listener.
const inherited = 3

// Main is the program that Run starts. It asks the kernel for a notification before each call of the table,
// hands over the listener, and executes the program in its arguments. It returns only on an error.
func Main(args []string) error {
	runtime.LockOSThread() // a filter belongs to a thread, and to the program that the thread executes
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("giving up privileges: %w", err)
	}
	program := filter()
	filters := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	// Signals of Go's scheduler do not restart a call that is under observation.
	flags := unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
	listener, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, uintptr(flags), uintptr(unsafe.Pointer(&filters)))
	if errno != 0 {
		return fmt.Errorf("installing the filter: %w", errno)
	}
	if err := unix.Sendmsg(inherited, []byte{0}, unix.UnixRights(int(listener)), nil, 0); err != nil {
		return fmt.Errorf("handing over the listener: %w", err)
	}
	if err := errors.Join(unix.Close(int(listener)), unix.Close(inherited)); err != nil {
		return err
	}
	return syscall.Exec(args[0], args, os.Environ())
}

// Offsets in the kernel's description of a call.
const (
	offNumber = 0
	offArg    = 16
	sizeArg   = 8
)

// filter lets all calls pass except those of the table. Of the calls that open files, it also passes those that
// only read.
func filter() []unix.SockFilter {
	load := func(at int) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: uint32(at)}
	}
	give := func(action uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
	}
	program := []unix.SockFilter{load(offNumber)}
	for number, c := range table {
		if c.flags == none {
			program = append(program, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: uint32(number), Jf: 1}, give(unix.SECCOMP_RET_USER_NOTIF))
			continue
		}
		program = append(program, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: uint32(number), Jf: 4},
			load(offArg+sizeArg*c.flags),
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: unix.O_CREAT | unix.O_TRUNC, Jf: 1},
			give(unix.SECCOMP_RET_USER_NOTIF), give(unix.SECCOMP_RET_ALLOW))
	}
	return append(program, give(unix.SECCOMP_RET_ALLOW))
}
