package hostile_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/olmgraft/graft/internal/cli/catalogs"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/graph/report"
	"github.com/olmgraft/graft/internal/testkit/effort"
	"github.com/olmgraft/graft/internal/testkit/hostile"
)

const verified = "GRAFT_TEST_CATALOG" // the folder with a catalog for a child to verify

// verify does what graft verify does with the catalogs in a folder.
func verify(ctx context.Context, dir string) error {
	v := catalogs.Verification{}
	if name := filepath.Join(dir, "published.yaml"); exists(name) {
		v.Base = name
	}
	if name := filepath.Join(dir, "next.yaml"); exists(name) {
		v.Next = []string{name}
	}
	reader := catalogs.Reader{}
	found, err := reader.Verify(ctx, filepath.Join(dir, "catalog.yaml"), &v, graph.Levels{})
	if err != nil {
		return err
	}
	return report.Text(io.Discard, found, report.Style{})
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// No catalog of a few megabytes costs more than the limits, however its entries and channels refer to each other.
func TestCatalogs(t *testing.T) {
	all := hostile.Catalogs()
	tries := effort.Of(t, 4, 8, len(all))
	most := figure{}
	for i := range tries {
		c := all[i*len(all)/tries]
		t.Run(c.Name, func(t *testing.T) {
			dir, size := t.TempDir(), 0
			text, published, next := c.Make(1)
			for name, text := range map[string]string{"catalog.yaml": text, "published.yaml": published, "next.yaml": next} {
				if size += len(text); text == "" {
					continue
				}
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			f := child(t, verified+"="+dir)
			t.Logf("%.1f MiB: %.2f s of CPU, %d MiB: %s", float64(size)/(1<<20), f.CPU.Seconds(), f.Peak>>10, f.Err)
			if f.CPU > mostCPU || f.Peak > mostMemory {
				t.Errorf("it takes %.2f s of CPU and %d MiB", f.CPU.Seconds(), f.Peak>>10)
			}
			most.CPU, most.Peak = max(most.CPU, f.CPU), max(most.Peak, f.Peak)
			if f.Err != "" && f.Code != failure.TemplateMalformed {
				t.Errorf("%s: %s", f.Code.Class(), f.Err)
			}
		})
	}
	t.Logf("%d catalogs: at most %.2f s of CPU and %d MiB", tries, most.CPU.Seconds(), most.Peak>>10)
}
