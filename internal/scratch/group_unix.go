//go:build unix

package scratch

import (
	"os/exec"
	"syscall"
)

// together has all that a command begins end with it.
func together(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// apart ends what a command left behind.
func apart(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // there is nothing, in most cases
	}
}
