package cli

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/testkit/effort"
	"github.com/olmgraft/graft/internal/testkit/fakegithub"
	"github.com/olmgraft/graft/internal/testkit/gitremote"
	"github.com/olmgraft/graft/internal/testkit/registry"
	"github.com/olmgraft/graft/internal/testkit/servers"
)

// pipelines are the ways to publish in these tests. before has the versions that are already published.
var pipelines = []struct {
	name   string
	config string
	before []string // versions
	args   []string
}{
	{"the first pull request", "", nil, nil},
	{"a rolling pull request", "pullRequest:\n  strategy: package\n  branch: graft/{package}/rolling\n", []string{"1.1.0"}, nil},
	{"a pull request that supersedes another", "", []string{"1.1.0"}, []string{"--supersede", "--labels", "catalog,new", "--reviewers", "reviewer", "--assignees", "reviewer"}},
	{"commits by the forge", "", nil, []string{"--commit-method", "api", "--auto-merge", "squash"}},
	{"a fork", "", nil, []string{"--push-to-fork", "true"}},
}

const faultConfig = `package: op
targets:
- template: catalog-templates/basic.yaml
  channels: [stable]
  catalogs:
  - path: catalogs/v4.20/op/catalog.yaml
    create: true
after:
  run: ["mkdir deploy; grep name: catalogs/v4.20/op/catalog.yaml | sort > deploy/names.txt"]
  changes: ['deploy/**']
`

// faultWorld is everything that a run of publish reaches. It is created again for each fault.
type faultWorld struct {
	*servers.Servers
	dir  string
	args []string
	runs int
}

// newFaultWorld creates the world of a pipeline in a folder, up to the failing run.
func newFaultWorld(dir string, pipeline int) (w *faultWorld, err error) {
	p := pipelines[pipeline]
	w = &faultWorld{dir: dir}
	if w.Servers, err = servers.Start(gitremote.GoBackend); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Close())
		}
	}()
	versions := append([]string{"1.0.0"}, p.before...)
	for _, v := range append(versions, "1.2.0") {
		if _, err := w.Registry.Push("op:v"+v, registry.Small("op", "op.v"+v, v), registry.Form{}); err != nil {
			return nil, err
		}
	}
	if err := w.Create(map[string]string{
		"catalog-templates/basic.yaml": strings.ReplaceAll(raceTemplate, "REGISTRY", w.Registry.Addr), ".github/graft.yaml": faultConfig + p.config,
	}); err != nil {
		return nil, err
	}
	if err := os.Mkdir(filepath.Join(dir, "tmp"), 0o755); err != nil {
		return nil, err
	}
	w.args = append([]string{"publish", "--allow-commands", "--cache", "cache", "--repository", servers.Repository}, p.args...)
	for _, v := range p.before {
		cmd, out := w.command(v)
		if err := cmd.Run(); err != nil {
			return nil, fmt.Errorf("publishing %s: %w\n%s", v, err, out)
		}
	}
	return w, nil
}

// command returns a run that publishes a version, with the environment of a workflow's step, and its output.
func (w *faultWorld) command(version string) (*exec.Cmd, *bytes.Buffer) {
	graft, err := exec.LookPath("graft") // this program under that name
	w.runs++
	cmd := exec.Command(graft, append(slices.Clone(w.args), "--image", w.Registry.Addr+"/op:v"+version)...)
	cmd.Err = errors.Join(cmd.Err, err)
	cmd.Dir = w.dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir, "TMPDIR=" + filepath.Join(w.dir, "tmp"), "GITHUB_ACTIONS=true",
		"GITHUB_OUTPUT=" + w.file("outputs"), "GITHUB_STEP_SUMMARY=" + w.file("summary"),
	}
	for key, value := range w.Env() {
		cmd.Env = append(cmd.Env, key+"="+value)
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	return cmd, &out
}

// file returns a file that the last run wrote for its workflow.
func (w *faultWorld) file(name string) string {
	return filepath.Join(w.dir, name+"."+strconv.Itoa(w.runs))
}

// plain replaces text that differs in each world.
func (w *faultWorld) plain(text string) string {
	text = strings.NewReplacer(w.Registry.Addr, "REGISTRY", w.Git.URL, "GIT", w.API, "API", w.dir, "DIR").Replace(text)
	return commitName.ReplaceAllString(changing.ReplaceAllString(text, "PLAIN"), "COMMIT")
}

// stands returns the final state: branches with their files, and pull requests.
func (w *faultWorld) stands() (string, error) {
	var out strings.Builder
	branches, err := w.Repo.Branches()
	if err != nil {
		return "", err
	}
	for _, branch := range slices.Sorted(maps.Keys(branches)) {
		log, err := w.Repo.Log(branch)
		if err != nil {
			return "", err
		}
		modes, err := w.Repo.Modes(branch)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&out, "branch %s, %d commits\n%s %s\n", branch, len(log), log[0].Author, log[0].Message)
		for _, name := range slices.Sorted(maps.Keys(modes)) {
			text, err := w.Repo.Read(branch, name)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&out, "%s %s\n%s\n", modes[name], name, text)
		}
	}
	for _, pr := range w.PullRequests() {
		pr.Created = fakegithub.PullRequest{}.Created
		fmt.Fprintf(&out, "%+v\n", pr)
	}
	return w.plain(out.String()), nil
}

// told returns the outputs and the summary of the last run.
func (w *faultWorld) told() string {
	outputs, err := os.ReadFile(w.file("outputs"))
	summary, missing := os.ReadFile(w.file("summary"))
	text := delimiter.ReplaceAllString(string(outputs), "$1\n") + string(summary) + fmt.Sprint(err, missing)
	return w.plain(text)
}

var delimiter = regexp.MustCompile(`(?m)(^|<<)[A-Z2-7]{26}\n`)

// sound checks that a run succeeded or failed with a failure of the table that is not a bug.
func sound(cmd *exec.Cmd, out string) (code int, err error) {
	code = cmd.ProcessState.ExitCode()
	if code == 0 {
		return 0, nil
	}
	e, known := failure.Lookup(strconv.Itoa(code))
	if !known || code == int(failure.Internal) || !strings.Contains(out, fmt.Sprintf("(%s, %d)", e.Class, code)) {
		return code, fmt.Errorf("it ends with %d, and says\n%s", code, out)
	}
	return code, nil
}

// ending is the final state of a world without faults.
type ending struct{ stands, told string }

// holds compares a world with one without faults: at once if the run succeeded without warnings, and otherwise
// after another run.
func (w *faultWorld) holds(cmd *exec.Cmd, out string, want ending) (code int, err error) {
	if code, err = sound(cmd, out); err != nil {
		return code, err
	}
	if code == 0 && !strings.Contains(out, "::warning") {
		got, err := w.stands()
		if err := errors.Join(err, differ("the state", got, want.stands), differ("the run's report", w.told(), want.told)); err != nil {
			return code, fmt.Errorf("it ends well, and\n%w\n%s", err, out)
		}
	}
	again, said := w.command("1.2.0")
	if err := again.Run(); err != nil {
		return code, fmt.Errorf("after\n%s\nthe next run: %w\n%s", out, err, said)
	}
	got, err := w.stands()
	if strings.Contains(out, "was not deleted") {
		got = want.stands // a remote that refuses this is not asked again
	}
	if err := errors.Join(err, differ("the state", got, want.stands), w.swept()); err != nil {
		return code, fmt.Errorf("after\n%s\nand the next run\n%s\n%w", out, said, err)
	}
	return code, nil
}

// differ returns the first difference of a text from the expected one.
func differ(what, got, want string) error {
	if got == want {
		return nil
	}
	lines, others := strings.Split(got, "\n"), strings.Split(want, "\n")
	at := 0
	for at < min(len(lines), len(others)) && lines[at] == others[at] {
		at++
	}
	return fmt.Errorf("%s differs from line %d on: it is\n%s\nand should be\n%s", what, at+1, strings.Join(lines[at:], "\n"), strings.Join(others[at:], "\n"))
}

// swept checks that no temporary files are left.
func (w *faultWorld) swept() error {
	left, err := os.ReadDir(filepath.Join(w.dir, "tmp"))
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("temporary files are left: %v", left)
	}
	return err
}

// tries does one thing for a sample of many, with a few workers.
func tries[T any](t *testing.T, short, usual int, all []T, do func(dir string, one T) error) {
	t.Helper()
	n := effort.Of(t, min(short, len(all)), min(usual, len(all)), len(all))
	work := make(chan T)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for one := range work {
				dir, err := os.MkdirTemp("", "graft-faults-")
				if err == nil {
					err = errors.Join(do(dir, one), os.RemoveAll(dir))
				}
				if err != nil {
					t.Errorf("%v: %v", one, err)
				}
			}
		})
	}
	for i := range n {
		work <- all[i*len(all)/n]
	}
	close(work)
	wg.Wait()
}
