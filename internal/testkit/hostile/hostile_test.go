package hostile_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/bundle"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/oci"
	"github.com/olmgraft/graft/internal/testkit/effort"
	"github.com/olmgraft/graft/internal/testkit/hostile"
	"github.com/olmgraft/graft/internal/testkit/peak"
	"github.com/olmgraft/graft/internal/testkit/registry"
)

const (
	pulls    = "GRAFT_TEST_PULLS"   // the reference for a child to read
	patience = "GRAFT_TEST_TIMEOUT" // the child's time limit
)

// The limits for reading one bundle.
const (
	mostMemory = 512 << 10 // KiB
	mostCPU    = 2 * time.Second
)

func TestMain(m *testing.M) {
	ref, dir := os.Getenv(pulls), os.Getenv(verified)
	switch {
	case ref != "":
		cost(func(ctx context.Context) error { return read(ctx, ref) })
		return
	case dir != "":
		cost(func(ctx context.Context) error { return verify(ctx, dir) })
		return
	}
	os.Exit(m.Run())
}

// figure holds what a child measured of itself.
type figure struct {
	CPU  time.Duration
	Peak int // KiB
	Err  string
	Code failure.Code
	Took time.Duration
}

// cost reports the cost of what a child does.
func cost(do func(context.Context) error) {
	limit, _ := time.ParseDuration(os.Getenv(patience)) // 0 if unset
	ctx := context.Background()
	if limit > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, limit)
		defer stop()
	}
	began := time.Now()
	err := do(ctx)
	most, unread := peak.Read("/proc/self/status")
	if unread != nil {
		panic(unread)
	}
	f := figure{Took: time.Since(began), Peak: most}
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	f.CPU = time.Duration(used.Utime.Nano() + used.Stime.Nano())
	if err != nil {
		f.Err, f.Code = fmt.Sprintf("%.200s", err), failure.Of(err).Code
	}
	if err := json.NewEncoder(os.Stdout).Encode(f); err != nil {
		panic(err)
	}
}

// read does everything with a bundle that graft does.
func read(ctx context.Context, ref string) error {
	client, err := oci.New(oci.Options{})
	if err != nil {
		return err
	}
	pulled, err := client.Pull(ctx, ref)
	if err != nil {
		return err
	}
	parsed, err := bundle.Parse(ctx, bundle.Image{Ref: ref, Labels: pulled.Labels, Files: pulled.Files})
	if err != nil {
		return err
	}
	facts, err := parsed.Facts()
	if err != nil {
		return err
	}
	for _, f := range facts.Findings {
		_ = f.Error()
	}
	doc, err := parsed.Document(ref, false)
	if err != nil {
		return err
	}
	if _, err = fbc.Encode(fbc.YAML, doc); err != nil {
		return err
	}
	_, err = parsed.Document(ref, true)
	return err
}

// measure has a child process read a bomb, because costs are measured for each process.
func measure(t testing.TB, s *registry.Server, img registry.Image, limit time.Duration) figure {
	t.Helper()
	if _, err := s.PushImage("bomb:latest", img); err != nil {
		t.Fatal(err)
	}
	return child(t, pulls+"="+s.Addr+"/bomb:latest", patience+"="+limit.String())
}

// child runs this program with an environment that tells it its task.
func child(t testing.TB, env ...string) (f figure) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the child: %v", err)
	}
	if err := json.Unmarshal(out, &f); err != nil {
		t.Fatal(err)
	}
	return f
}

func start(t testing.TB) *registry.Server {
	t.Helper()
	s, err := registry.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// No bundle costs more than the limits, whether it is read or refused.
func TestBombs(t *testing.T) {
	bombs := hostile.Bombs()
	scales := []float64{1, 0.5, 0.1}
	tries := effort.Of(t, 6, 18, len(bombs)*len(scales))
	step := max(1, len(bombs)*len(scales)/tries)
	most := figure{}
	for try := range tries {
		bomb, scale := bombs[try*step%len(bombs)], scales[try*step/len(bombs)%len(scales)]
		t.Run(fmt.Sprintf("%s, %g of it", bomb.Name, scale), func(t *testing.T) {
			img, err := bomb.Make(scale)
			if err != nil {
				t.Fatal(err)
			}
			f := measure(t, start(t), img, 0)
			t.Logf("%.2f s of CPU, %d MiB: %s", f.CPU.Seconds(), f.Peak>>10, f.Err)
			if f.CPU > mostCPU || f.Peak > mostMemory {
				t.Errorf("it takes %.2f s of CPU and %d MiB", f.CPU.Seconds(), f.Peak>>10)
			}
			if f.Err != "" && f.Code != failure.BundleInvalid {
				t.Errorf("%s: %s", f.Code.Class(), f.Err)
			}
			most.CPU, most.Peak = max(most.CPU, f.CPU), max(most.Peak, f.Peak)
		})
	}
	t.Logf("%d images: at most %.2f s of CPU and %d MiB", tries, most.CPU.Seconds(), most.Peak>>10)
}

// The time limit ends the slowest readings at any step.
func TestTimeEnds(t *testing.T) {
	s := start(t)
	for _, bomb := range hostile.Bombs() {
		if !slices.Contains([]string{"symbolic links within the limits", "links along long paths", "240,000 keys", "a huge block", "required APIs"}, bomb.Name) {
			continue
		}
		t.Run(bomb.Name, func(t *testing.T) {
			img, err := bomb.Make(1)
			if err != nil {
				t.Fatal(err)
			}
			for _, limit := range []time.Duration{time.Millisecond, 30 * time.Millisecond, 100 * time.Millisecond} {
				f := measure(t, s, img, limit)
				t.Logf("after %v of %v: %s", f.Took, limit, f.Err)
				if f.Err != "" && f.Code != failure.RegistryUnavailable && f.Code != failure.BundleInvalid {
					t.Errorf("%s: %s", f.Code.Class(), f.Err)
				}
				if f.CPU > limit+time.Second {
					t.Errorf("it continues for %v after the limit of %v", f.CPU-limit, limit)
				}
			}
		})
	}
}

// BenchmarkBombs reports the cost of each bomb.
func BenchmarkBombs(b *testing.B) {
	for _, bomb := range hostile.Bombs() {
		b.Run(bomb.Name, func(b *testing.B) {
			img, err := bomb.Make(1)
			if err != nil {
				b.Fatal(err)
			}
			s := start(b)
			for b.Loop() {
				f := measure(b, s, img, 0)
				b.ReportMetric(f.CPU.Seconds(), "cpu-s")
				b.ReportMetric(float64(f.Peak>>10), "peak-MiB")
			}
		})
	}
}
