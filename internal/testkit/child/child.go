// Package child runs tests that change their whole process in a process of their own.
package child

import (
	"os"
	"os/exec"
	"regexp"
	"testing"
)

const variable = "GRAFT_TEST_CHILD"

// Is reports whether the test runs in a process of its own. If not, Is runs it in one, and the caller returns.
// go test writes a log of files and variables that tests read. A limit to the size of files would break it, and
// the child has none.
func Is(t *testing.T) bool {
	t.Helper()
	if os.Getenv(variable) == t.Name() {
		return true
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+regexp.QuoteMeta(t.Name())+"$", "-test.v")
	cmd.Env = append(os.Environ(), variable+"="+t.Name())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return false
}
