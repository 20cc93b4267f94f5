//go:build !unix

package scratch

import "os/exec"

// Without groups of processes the command itself ends with its context.
func together(*exec.Cmd) {}

func apart(*exec.Cmd) {}
