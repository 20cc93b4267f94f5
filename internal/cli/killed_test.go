package cli

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/testkit/effort"
)

// An edit of thirty files is killed at any moment. The next run that writes in that repository completes the
// edit or takes it back.
func TestKilledEdits(t *testing.T) {
	t.Parallel()
	graft, err := exec.LookPath("graft") // this program under that name
	if err != nil {
		t.Fatal(err)
	}
	insert := []string{"insert", "--image", "quay.io/example/op:v1.1.0", "--name", "op.v1.1.0", "--version", "1.1.0", "--package", "op", "--channel", "stable"}
	var names []string
	for i := range 30 {
		names = append(names, fmt.Sprintf("t%02d.yaml", i))
	}
	var took time.Duration
	killed, before, after := 0, 0, 0
	kills := effort.Of(t, 6, 20, 60)
	for run := 0; killed < kills; run++ {
		dir := t.TempDir()
		err := os.Mkdir(filepath.Join(dir, ".git"), 0o755)
		for _, name := range append(names, "other.yaml") {
			err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), []byte(raceTemplate), 0o644))
		}
		if err != nil {
			t.Fatal(err)
		}
		limit := time.Minute // the first run gives the duration
		if run > 0 {
			limit = rand.N(took)
		}
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		cmd := exec.CommandContext(ctx, graft, append(insert, names...)...)
		cmd.Dir = dir
		began := time.Now()
		out, _ := cmd.CombinedOutput() // a kill that comes too late is an error too
		cancel()
		switch {
		case cmd.ProcessState == nil || !cmd.ProcessState.Exited():
			killed++
		case !cmd.ProcessState.Success():
			t.Fatalf("a run that was not killed:\n%s", out)
		default:
			took = time.Since(began)
		}
		cmd = exec.Command(graft, append(insert, "other.yaml")...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("the next run: %v\n%s", err, out)
		}
		tree := treeOf(t, dir)
		switch edited := strings.Count(tree, fmt.Sprintf("%x", "op.v1.1.0\n")); {
		case strings.Count(tree, "\n") != 31:
			t.Errorf("left behind:\n%s", tree)
		case edited == 1:
			before++
		case edited == 31:
			after++
		default:
			t.Errorf("%d of 31 files are edited", edited)
		}
	}
	t.Logf("%d runs were killed: %d sets were unchanged, %d as asked", killed, before, after)
}
