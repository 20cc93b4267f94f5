package cli

import (
	"os"
	"strconv"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
)

func itoa(n int) string { return strconv.Itoa(n) }

// The page of failure codes is generated: a change of the table without it is stale.
func TestFailuresPage(t *testing.T) {
	golden(t, "../../docs/failures.md", failuresPage())
}

// So is the page of findings.
func TestFindingsPage(t *testing.T) {
	golden(t, "../../docs/findings.md", findingsPage())
}

func golden(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is stale: go test ./internal/cli -update rewrites it", path)
	}
}

func TestTableIsComplete(t *testing.T) {
	last := failure.Code(-1)
	classes := map[string]bool{}
	for _, e := range failure.Table {
		if e.Code <= last || classes[e.Class] || e.Meaning == "" || e.Cause == "" || e.Remedy == "" {
			t.Errorf("entry %d %s is out of order, stands there twice or is incomplete", e.Code, e.Class)
		}
		last, classes[e.Class] = e.Code, true
	}
}
