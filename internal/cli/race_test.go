package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/testkit/effort"
	"github.com/olmgraft/graft/internal/testkit/gitremote"
	"github.com/olmgraft/graft/internal/testkit/registry"
	"github.com/olmgraft/graft/internal/testkit/servers"
)

const raceTemplate = `schema: olm.template.basic
entries:
- schema: olm.package
  name: op
  defaultChannel: stable
- schema: olm.channel
  package: op
  name: stable
  entries:
  - name: op.v1.0.0
- schema: olm.bundle
  image: REGISTRY/op:v1.0.0
`

const raceConfig = `package: op
targets:
- template: catalog-templates/basic.yaml
  channels: [stable]
  catalogs:
  - path: catalogs/v4.20/op/catalog.yaml
    create: true
pullRequest:
  strategy: package
  branch: graft/{package}/rolling
`

// town is the servers with processes of graft that use them.
type town struct {
	*servers.Servers
	graft string // the command
}

func newTown(t *testing.T, bundles int) *town {
	t.Helper()
	w, err := servers.Start(gitremote.Auto)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	for i := range bundles + 1 {
		pushVersion(t, w, fmt.Sprintf("1.%d.0", i))
	}
	if err := w.Create(map[string]string{
		"catalog-templates/basic.yaml": strings.ReplaceAll(raceTemplate, "REGISTRY", w.Registry.Addr), ".github/graft.yaml": raceConfig,
	}); err != nil {
		t.Fatal(err)
	}
	graft, err := exec.LookPath("graft") // this program under that name
	if err != nil {
		t.Fatal(err)
	}
	return &town{w, graft}
}

func pushVersion(t *testing.T, w *servers.Servers, version string) {
	t.Helper()
	_, err := w.Registry.Push("op:v"+version, registry.Small("op", "op.v"+version, version), registry.Form{})
	if err != nil {
		t.Fatal(err)
	}
}

// process returns the command as a process of its own, in a directory.
func (w *town) process(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, w.graft, args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + os.TempDir()}
	for key, value := range w.Env() {
		cmd.Env = append(cmd.Env, key+"="+value)
	}
	return cmd
}

var entryLine = regexp.MustCompile(`(?m)^  - name: (op\.v1\.\d+\.0)$`)

func (w *town) entries(t *testing.T, branch string) []string {
	t.Helper()
	text, err := w.Repo.Read(branch, "catalog-templates/basic.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range entryLine.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	return names
}

// publishAtOnce starts processes that each publish a tag. It returns those that lost all of their attempts, for
// which another run makes up.
func (w *town) publishAtOnce(t *testing.T, wg *sync.WaitGroup, processes int, tag func(i int) string) (lost chan int) {
	lost = make(chan int, 10*processes)
	for i := range processes {
		wg.Go(func() {
			for try := range 10 {
				var out bytes.Buffer
				cmd := w.process(context.Background(), t.TempDir(), "publish", "--repository", servers.Repository, "--image", w.Registry.Addr+"/op:"+tag(i))
				cmd.Stdout, cmd.Stderr = &out, &out
				err := cmd.Run()
				if err == nil {
					return
				}
				// A run that loses ten times reports that a retry makes sense.
				if cmd.ProcessState.ExitCode() != int(failure.GitRaceLost) {
					t.Errorf("bundle %d, run %d: %v\n%s", i+1, try, err, out.String())
					return
				}
				lost <- i
			}
			t.Errorf("bundle %d lost ten runs", i+1)
		})
	}
	return lost
}

// Up to twenty processes publish to one pull request at once, while others push to the base. No bundle is lost
// or duplicated, and the branch is one commit on the base.
func TestProcessesRace(t *testing.T) {
	t.Parallel()
	processes := effort.Of(t, 3, 6, 20)
	w := newTown(t, processes)
	count := counted(w.Servers)
	var wg sync.WaitGroup
	lost := w.publishAtOnce(t, &wg, processes, func(i int) string { return fmt.Sprintf("v1.%d.0", i+1) })
	for i := range 3 {
		time.Sleep(200 * time.Millisecond)
		if _, err := w.Repo.Commit(gitremote.DefaultBranch, gitremote.Change{Message: "Meanwhile", Files: map[string]string{"README.md": fmt.Sprint(i)}}); err != nil {
			t.Error(err)
		}
	}
	wg.Wait()
	// Losers wait longer each time, so that the pushes do not grow quadratically.
	pushes := count(gitremote.Push)
	t.Logf("%d of %d runs lost all ten tries; %d pushes, the branches were looked up %d times", len(lost), processes+len(lost), pushes, count(gitremote.FetchRefs))
	if pushes > 6*processes {
		t.Errorf("%d processes made %d pushes", processes, pushes)
	}
	// The base may have moved after the last one.
	if out, err := w.process(context.Background(), t.TempDir(), "publish", "--repository", servers.Repository, "--refresh").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	names := w.entries(t, "graft/op/rolling")
	if len(names) != processes+1 || len(slices.Compact(slices.Sorted(slices.Values(names)))) != len(names) {
		t.Errorf("the branch has %d entries: %v", len(names), names)
	}
	if prs := w.PullRequests(); len(prs) != 1 || prs[0].State != "open" {
		t.Errorf("%d pull requests", len(prs))
	}
	// A branch that already delivers the same stays on its base.
	log, err := w.Repo.Log("graft/op/rolling")
	base, baseErr := w.Repo.Log(gitremote.DefaultBranch)
	if err != nil || baseErr != nil || len(log) < 2 || !slices.ContainsFunc(base, func(c gitremote.Commit) bool { return c.SHA == log[1].SHA }) {
		t.Errorf("the branch is not one commit on the base %v: %v, %v", base, log, errors.Join(err, baseErr))
	}
	for _, c := range log {
		if len(c.Parents) > 1 {
			t.Errorf("%s is a merge", c.SHA)
		}
	}
}

// Up to twenty processes rebuild bundles of the base at once, two for each. All are rebuilt, in one pull
// request, and no bundle has two images.
func TestRebuildsRace(t *testing.T) {
	t.Parallel()
	processes := effort.Of(t, 4, 6, 20)
	w := newTown(t, processes/2)
	template := strings.ReplaceAll(raceTemplate, "REGISTRY", w.Registry.Addr)
	for i := range processes / 2 {
		version := fmt.Sprintf("1.%d.0", i+1)
		template = strings.Replace(template, "- schema: olm.bundle\n", fmt.Sprintf("  - name: op.v%s\n    replaces: op.v1.%d.0\n- schema: olm.bundle\n", version, i), 1)
		template += "- schema: olm.bundle\n  image: " + w.Registry.Addr + "/op:v" + version + "\n"
		rebuilt := registry.Small("op", "op.v"+version, version)
		rebuilt.Labels["built"] = "again"
		if _, err := w.Registry.Push("op:v"+version+"-2", rebuilt, registry.Form{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Repo.Commit(gitremote.DefaultBranch, gitremote.Change{Message: "Releases", Files: map[string]string{"catalog-templates/basic.yaml": template, ".github/graft.yaml": raceConfig + "rebuild: replace\n"}}); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	lost := w.publishAtOnce(t, &wg, processes, func(i int) string { return fmt.Sprintf("v1.%d.0-2", i/2+1) })
	wg.Wait()
	t.Logf("%d runs lost all ten tries", len(lost))
	text, err := w.Repo.Read("graft/op/rolling", "catalog-templates/basic.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for i := range processes / 2 {
		template = strings.Replace(template, fmt.Sprintf("/op:v1.%d.0\n", i+1), fmt.Sprintf("/op:v1.%d.0-2\n", i+1), 1)
	}
	if text != template {
		t.Errorf("got\n%s\nwant\n%s", text, template)
	}
	if prs := w.PullRequests(); len(prs) != 1 || prs[0].State != "open" {
		t.Errorf("%d pull requests", len(prs))
	}
}

// A run that is killed at any moment leaves the work tree unchanged, and the next run completes what it left on
// the remote.
func TestKilled(t *testing.T) {
	t.Parallel()
	kills := effort.Of(t, 6, 20, 200)
	bundles := max(2, kills/10)
	w := newTown(t, bundles)
	dir := filepath.Join(t.TempDir(), "checkout")
	if err := w.Checkout(dir); err != nil {
		t.Fatal(err)
	}
	before, temp := treeOf(t, dir), t.TempDir()
	killed, done := 0, 0
	const longest = 250 * time.Millisecond
	for i := 1; killed < kills; i = i%bundles + 1 {
		ctx, cancel := context.WithTimeout(context.Background(), rand.N(longest))
		cmd := w.process(ctx, dir, "publish", "--image", fmt.Sprintf("%s/op:v1.%d.0", w.Registry.Addr, i))
		cmd.Env = append(cmd.Env, "TMPDIR="+temp)
		out, _ := cmd.CombinedOutput() // a kill that comes too late is an error too
		if cmd.ProcessState != nil && cmd.ProcessState.Exited() {
			if done++; !cmd.ProcessState.Success() {
				t.Fatalf("a run that was not killed:\n%s", out)
			}
		} else {
			killed++
		}
		cancel()
		if after := treeOf(t, dir); after != before {
			t.Fatalf("the work tree was changed:\n%s", after)
		}
	}
	for i := range bundles {
		cmd := w.process(context.Background(), dir, "publish", "--image", fmt.Sprintf("%s/op:v1.%d.0", w.Registry.Addr, i+1))
		cmd.Env = append(cmd.Env, "TMPDIR="+temp)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	t.Logf("%d runs were killed, %d ended before", killed, done)
	names := w.entries(t, "graft/op/rolling")
	if len(names) != bundles+1 || len(slices.Compact(slices.Sorted(slices.Values(names)))) != len(names) {
		t.Errorf("the branch has %d entries: %v", len(names), names)
	}
	if prs := w.PullRequests(); len(prs) != 1 {
		t.Errorf("%d pull requests", len(prs))
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".git", "*.lock")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// treeOf returns all files of a directory, including git's own.
func treeOf(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(&out, "%s %x\n", path, text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}
