//go:build unix

package scratch

import (
	"os/exec"
	"syscall"
)

// together ends all processes that a command started when the command is cancelled.
func together(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// apart kills the processes that a command left running.
func apart(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // usually none is left
	}
}
