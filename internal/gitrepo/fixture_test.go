package gitrepo

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/testkit/effort"
	"github.com/olmgraft/graft/internal/testkit/gitremote"
)

var bot = Identity{"Graft", "graft@example.com"}

const template = "schema: olm.semver\r\n# a comment\r\nstable:\r\n  bundles:\r\n  - image: example.com/op:v1\r\n"

// files is the initial content of the catalog repository.
var files = map[string]string{
	"README.md":                 "read me\n",
	"catalogs/v4.17/cat.yaml":   "---\nschema: olm.package\n",
	"operators/op/template.yml": template,
	"operators/op/run.sh":       "#!/bin/sh\n",
	"operators/op-a/ci.yaml":    "",
	"operators/op.yaml":         "a file that sorts beside a folder\n",
	"latest":                    "operators/op",
	"operators/op/current.yml":  "template.yml",
	"outside":                   "../../etc/passwd",
}

func modes() map[string]os.FileMode {
	return map[string]os.FileMode{
		"operators/op/run.sh": 0o755, "latest": os.ModeSymlink, "operators/op/current.yml": os.ModeSymlink, "outside": os.ModeSymlink,
	}
}

// eachBackend runs the test with git and with the stand-in for git. With -short it runs only with the stand-in.
func eachBackend(t *testing.T, test func(*testing.T, *host)) {
	t.Parallel()
	kinds := map[string]gitremote.Backend{"go": gitremote.GoBackend, "git": gitremote.GitBackend}
	if effort.Of(t, 1, 2, 2) == 1 {
		delete(kinds, "git")
	}
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newHost(t, kind))
		})
	}
}

// host is a git host with one repository.
type host struct {
	*gitremote.Server
	repo *gitremote.Repo
}

func newHost(t *testing.T, kind gitremote.Backend) *host {
	t.Helper()
	s, err := gitremote.Start(gitremote.Options{Backend: kind, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	h := &host{Server: s, repo: must[*gitremote.Repo](t)(s.Create("acme/catalog", nil))}
	h.commit(t, "main", gitremote.Change{Message: "First commit", Files: files, Modes: modes()})
	return h
}

func (h *host) commit(t *testing.T, branch string, c gitremote.Change) string {
	t.Helper()
	return must[string](t)(h.repo.Commit(branch, c))
}

func (h *host) log(t *testing.T, branch string) []gitremote.Commit {
	t.Helper()
	return must[[]gitremote.Commit](t)(h.repo.Log(branch))
}

// sound runs git fsck.
func (h *host) sound(t *testing.T) {
	t.Helper()
	git(t, h.repo.Dir(), "fsck", "--strict", "--full")
}

func (h *host) open(t *testing.T, change func(*Options)) *Repo {
	t.Helper()
	r, err := h.tryOpen(t, change)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (h *host) tryOpen(t *testing.T, change func(*Options)) (*Repo, error) {
	o := Options{URL: h.repo.URL(), Signing: Signing{Author: bot}, TempDir: t.TempDir(), Sleep: func(context.Context, time.Duration) error { return nil }}
	if change != nil {
		change(&o)
	}
	r, err := Open(context.Background(), o)
	if err == nil {
		t.Cleanup(func() {
			if err := r.Close(); err != nil {
				t.Error(err)
			}
			left, err := os.ReadDir(o.TempDir)
			if err != nil && !errors.Is(err, os.ErrNotExist) || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
	return r, err
}

func deliver(t *testing.T, r *Repo, branch string, change map[string]string) Delivered {
	t.Helper()
	return must[Delivered](t)(r.Deliver(context.Background(), delivery(r, branch, change)))
}

func delivery(r *Repo, branch string, change map[string]string) Delivery {
	d := Delivery{Base: r.BaseCommit(), Branch: branch, Change: Change{Message: "Add " + branch, Files: map[string]File{}}}
	for name, data := range change {
		d.Files[name] = File{Data: []byte(data)}
	}
	return d
}

// git runs the git command without the tester's configuration.
func git(t testing.TB, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=A Person", "-c", "user.email=person@example.com", "-c", "core.autocrlf=false"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_TERMINAL_PROMPT=0", "LC_ALL=C", "HOME="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// checkout clones as actions/checkout does, and returns the folder.
func (h *host) checkout(t *testing.T, args ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "work")
	git(t, ".", append(append([]string{"clone", "-q"}, args...), h.repo.URL(), dir)...)
	return dir
}

// snapshot returns every file below a folder with its content and mode.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		var data string
		if e.Type()&os.ModeSymlink != 0 {
			data, err = os.Readlink(name)
		} else {
			var b []byte
			b, err = os.ReadFile(name)
			data = string(b)
		}
		all[name] = info.Mode().String() + info.ModTime().String() + data
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func wantFailure(t *testing.T, err error, code failure.Code, texts ...string) {
	t.Helper()
	_ = failed(t, err, code, texts...)
}

func failed(t *testing.T, err error, code failure.Code, texts ...string) *failure.Error {
	t.Helper()
	if err == nil || failure.Of(err).Code != code {
		t.Fatalf("got %v, want %s", err, code.Class())
	}
	f := failure.Of(err)
	for _, text := range texts {
		if !strings.Contains(f.Message+" "+f.Remedy, text) {
			t.Errorf("%q with the remedy %q does not say %q", f.Message, f.Remedy, text)
		}
	}
	return f
}

func wantChanged(t *testing.T, h *host, commit string, want ...string) {
	t.Helper()
	if got := must[[]string](t)(h.repo.Changed(commit)); !slices.Equal(got, want) {
		t.Errorf("the commit changes %v, want %v", got, want)
	}
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func readAll(t *testing.T, r io.Reader) []byte {
	t.Helper()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Error(err)
	}
	return data
}
