// Command bench measures graft render with a registry in this process: the requests, bytes, seconds and MiB for
// rendering a template of N bundles without a base, with one new bundle on an earlier catalog, and with nothing
// new. If opm is on the PATH, or named with -opm, it renders the same template in the same run.
//
//	go run ./bench -n 10,100,1000 -size 60 -latency 0s
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/olmgraft/graft/internal/testkit/registry"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == alone {
		os.Exit(runAlone(os.Args[2], os.Args[3:]))
	}
	b := bench{}
	counts := flag.String("n", "10,100", "numbers of bundles")
	flag.IntVar(&b.size, "size", 60, "KiB of manifests in a bundle")
	flag.DurationVar(&b.latency, "latency", 0, "time that each request takes on its way")
	flag.IntVar(&b.runs, "runs", 3, "runs of each measurement, of which the median counts")
	flag.StringVar(&b.opm, "opm", "opm", "opm command, for the comparison")
	flag.StringVar(&b.graft, "graft", "", "graft command; built from this tree if empty")
	flag.Parse()
	if err := b.run(*counts); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type bench struct {
	size, runs int
	latency    time.Duration
	opm, graft string

	dir    string
	server *registry.Server
}

// figure holds the measurements of one command.
type figure struct {
	wall, cpu time.Duration
	peak      int64 // KiB
	requests  int
	bytes     int64
}

func (b *bench) run(counts string) (err error) {
	if b.dir, err = os.MkdirTemp("", "graft-bench-"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(b.dir) }()
	if b.server, err = registry.Start(); err != nil {
		return err
	}
	defer b.server.Close()
	if b.graft == "" {
		b.graft = filepath.Join(b.dir, "graft")
		if out, err := exec.CommandContext(context.Background(), "go", "build", "-ldflags=-s -w", "-o", b.graft, "./cmd/graft").CombinedOutput(); err != nil {
			return fmt.Errorf("building graft: %w: %s", err, out)
		}
	}
	// opm pulls nothing without a policy. Its own home directory keeps other settings out.
	policy := filepath.Join(b.dir, ".config", "containers", "policy.json")
	if err := os.MkdirAll(filepath.Dir(policy), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(policy, []byte(`{"default":[{"type":"insecureAcceptAnything"}]}`), 0o644); err != nil {
		return err
	}
	if b.opm, err = exec.LookPath(b.opm); err != nil {
		fmt.Printf("opm is not at hand: no comparison\n")
		b.opm = ""
	}
	fmt.Printf("bundles of %d KiB, %v of latency a request, median of %d runs\n\n", b.size, b.latency, b.runs)
	fmt.Printf("%8s  %-28s %10s %9s %9s %9s %11s\n", "bundles", "what", "requests", "MiB", "wall s", "cpu s", "peak MiB")
	var slopes []string
	last := map[string]figure{}
	for _, word := range strings.Split(counts, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			return fmt.Errorf("-n %s", counts)
		}
		rows, err := b.measure(n)
		if err != nil {
			return err
		}
		for _, r := range rows {
			b.print(n, r.what, r.figure)
			if before, ok := last[r.what]; ok {
				slopes = append(slopes, fmt.Sprintf("%-28s %6.1f times the time for %d bundles of that before", r.what, r.wall.Seconds()/before.wall.Seconds(), n))
			}
			last[r.what] = r.figure
		}
	}
	fmt.Println()
	for _, s := range slopes {
		fmt.Println(s)
	}
	return nil
}

func (b *bench) print(n int, what string, f figure) {
	fmt.Printf("%8d  %-28s %10d %9.1f %9.3f %9.3f %11.1f\n", n, what, f.requests, float64(f.bytes)/(1<<20), f.wall.Seconds(), f.cpu.Seconds(), float64(f.peak)/1024)
}

type row struct {
	what string
	figure
}

func (b *bench) measure(n int) ([]row, error) {
	repository := fmt.Sprintf("op%d-%d", n, b.size)
	for i := range n + 1 {
		if _, err := b.server.Push(fmt.Sprintf("%s:v1.%d.0", repository, i), makeBundle(i, b.size<<10), registry.Form{}); err != nil {
			return nil, err
		}
	}
	b.server.SetLatency(b.latency)
	defer b.server.SetLatency(0)
	before, after := filepath.Join(b.dir, "before.yaml"), filepath.Join(b.dir, "after.yaml")
	base, out := filepath.Join(b.dir, "base.yaml"), filepath.Join(b.dir, "out.yaml")
	if err := os.WriteFile(before, b.template(repository, n), 0o644); err != nil {
		return nil, err
	}
	if err := os.WriteFile(after, b.template(repository, n+1), 0o644); err != nil {
		return nil, err
	}
	var rows []row
	add := func(what string, command string, args ...string) error {
		f, err := b.median(command, args...)
		rows = append(rows, row{what, f})
		return err
	}
	steps := []func() error{
		func() error { return add("graft, cold", b.graft, "render", "--write", base, before) },
		func() error {
			return add("graft, one new bundle", b.graft, "render", "--base", base, "--write", out, after)
		},
		func() error {
			return add("graft, nothing new", b.graft, "render", "--base", base, "--write", base, before)
		},
		func() error {
			if b.opm == "" {
				return nil
			}
			return add("opm", b.opm, "alpha", "render-template", "-o", "yaml", "--use-http", before)
		},
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

func (b *bench) median(command string, args ...string) (figure, error) {
	var all []figure
	for range b.runs {
		f, err := b.once(command, args...)
		if err != nil {
			return f, err
		}
		all = append(all, f)
	}
	slices.SortFunc(all, func(x, y figure) int { return int(x.wall - y.wall) })
	return all[len(all)/2], nil
}

func (b *bench) once(command string, args ...string) (figure, error) {
	b.server.Reset()
	sent := b.server.Bytes()
	cmd := exec.CommandContext(context.Background(), os.Args[0], append([]string{alone, command}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+b.dir)
	peak, told, err := os.Pipe()
	if err != nil {
		return figure{}, err
	}
	defer peak.Close()
	defer told.Close()
	cmd.ExtraFiles = []*os.File{told}
	out, err := os.Create(filepath.Join(b.dir, "stdout"))
	if err != nil {
		return figure{}, err
	}
	defer out.Close()
	var errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = out, &errs
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return figure{}, fmt.Errorf("%s %v: %w: %s", command, args, err, errs.String())
	}
	f := figure{wall: time.Since(start), cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), requests: b.server.Count(), bytes: b.server.Bytes() - sent}
	_, err = fmt.Fscan(peak, &f.peak)
	return f, err
}

// alone is the argument that makes the bench start a command for itself. Linux adds the memory of the starting
// program to the peak of the started one, and the bench holds a whole registry.
const alone = "alone"

// runAlone runs a command and writes its peak memory to file descriptor 3.
func runAlone(command string, args []string) int {
	cmd := exec.CommandContext(context.Background(), command, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		fmt.Fprintln(os.NewFile(3, "peak"), usage.Maxrss)
	}
	return 0
}

func (b *bench) template(repository string, n int) []byte {
	var t strings.Builder
	t.WriteString("schema: olm.template.basic\nentries:\n- schema: olm.package\n  name: op\n  defaultChannel: stable\n- schema: olm.channel\n  package: op\n  name: stable\n  entries:\n")
	for i := range n {
		fmt.Fprintf(&t, "  - name: op.v1.%d.0\n", i)
		if i > 0 {
			fmt.Fprintf(&t, "    replaces: op.v1.%d.0\n", i-1)
		}
	}
	for i := range n {
		fmt.Fprintf(&t, "- schema: olm.bundle\n  image: %s/%s:v1.%d.0\n", b.server.Addr, repository, i)
	}
	return []byte(t.String())
}
