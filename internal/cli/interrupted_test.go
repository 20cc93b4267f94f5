package cli

import (
	"bytes"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// A verb that cannot stop in the middle, such as one that reads standard input, ends soon after an interrupt and
// says why.
func TestInterruptedWhileItReads(t *testing.T) {
	t.Parallel()
	graft, err := exec.LookPath("graft") // this program under that name
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(graft, "verify", "-")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// A pipe does not hold so much, so the verb is reading.
	if _, err := in.Write(bytes.Repeat([]byte("#\n"), 1<<20)); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 130 || !strings.Contains(said.String(), "(interrupted, 130)") {
		t.Errorf("it ends with %v and says %q", err, said.String())
	}
}
