//go:build !unix

package scratch

import "os/exec"

// Without process groups the context ends only the command itself.
func together(*exec.Cmd) {}

func apart(*exec.Cmd) {}
