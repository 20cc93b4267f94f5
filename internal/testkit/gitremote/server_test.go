package gitremote

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// eachBackend runs the test with both backends. The tests need git.
func eachBackend(t *testing.T, test func(*testing.T, *Server)) {
	t.Parallel()
	for name, kind := range map[string]Backend{"git": GitBackend, "go": GoBackend} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := Start(Options{Backend: kind, Dir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			test(t, s)
		})
	}
}

// runGit runs the git command without the tester's configuration.
func runGit(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "protocol.version=2", "-c", "user.name=Client", "-c", "user.email=client@example.com"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func mustGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := runGit(t, dir, args...)
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return out
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func write1(t *testing.T, name, data string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

// clone clones with the git command and runs git fsck.
func clone(t *testing.T, r *Repo, args ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "clone")
	mustGit(t, ".", append(append([]string{"clone", "-q"}, args...), r.URL(), dir)...)
	mustGit(t, dir, "fsck", "--strict")
	return dir
}

// long is large enough for git to send a delta.
var long = func() string {
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, "line %d\n", i*i)
	}
	return b.String()
}()

func TestGitClient(t *testing.T) {
	eachBackend(t, func(t *testing.T, s *Server) {
		r := must[*Repo](t)(s.Create("acme/catalog", map[string]string{"a.txt": "a\n", "dir/b.txt": "b\n", "long.txt": long}))
		dir := clone(t, r)
		if got := must[[]byte](t)(os.ReadFile(filepath.Join(dir, "dir", "b.txt"))); string(got) != "b\n" {
			t.Errorf("cloned %q", got)
		}
		if branch := strings.TrimSpace(mustGit(t, dir, "branch", "--show-current")); branch != DefaultBranch {
			t.Errorf("the default branch is %q", branch)
		}

		// Git tries to send the second as a delta to an object of the remote.
		write1(t, filepath.Join(dir, "dir", "c.txt"), "c\n")
		write1(t, filepath.Join(dir, "long.txt"), long+"more\n")
		mustGit(t, dir, "add", ".")
		mustGit(t, dir, "commit", "-q", "-m", "more")
		mustGit(t, dir, "push", "-q", "origin", "HEAD:graft/one")
		head := strings.TrimSpace(mustGit(t, dir, "rev-parse", "HEAD"))
		branches := must[map[string]string](t)(r.Branches())
		if len(branches) != 2 || branches["graft/one"] != head {
			t.Errorf("branches %v, want graft/one at %s", branches, head)
		}
		if got := must[[]string](t)(r.Changed(head)); !slices.Equal(got, []string{"dir/c.txt", "long.txt"}) {
			t.Errorf("changed %v", got)
		}

		// Each side has commits that the other lacks, so that they negotiate. There are enough of them for git
		// to compress its request.
		for range 30 {
			mustGit(t, dir, "commit", "-q", "--allow-empty", "-m", "and more")
		}
		other := must[string](t)(r.Commit(DefaultBranch, Change{Message: "theirs", Files: map[string]string{"a.txt": "aa\n"}}))
		mustGit(t, dir, "fetch", "-q")
		if got := strings.TrimSpace(mustGit(t, dir, "rev-parse", "origin/main")); got != other {
			t.Errorf("fetched %s, want %s", got, other)
		}
		if out, err := runGit(t, dir, "push", "origin", "HEAD:main"); err == nil || !strings.Contains(out, "rejected") {
			t.Errorf("a push that is no fast-forward: %v\n%s", err, out)
		}
		mustGit(t, dir, "rebase", "-q", "origin/main")
		mustGit(t, dir, "push", "-q", "origin", "HEAD:main")
		mustGit(t, dir, "push", "-q", "origin", ":graft/one")
		log := must[[]Commit](t)(r.Log(DefaultBranch))
		if len(log) != 33 || log[0].Message != "and more\n" || log[31].SHA != other || log[31].Author != "Somebody Else <somebody@example.com>" {
			t.Errorf("log %+v", log)
		}
		if branches := must[map[string]string](t)(r.Branches()); len(branches) != 1 {
			t.Errorf("branches %v", branches)
		}
		mustGit(t, r.Dir(), "fsck", "--strict")
	})
}

func TestPartialClones(t *testing.T) {
	eachBackend(t, func(t *testing.T, s *Server) {
		r := must[*Repo](t)(s.Create("acme/catalog", map[string]string{"a.txt": "0\n", "b.txt": "0\n"}))
		for i := range 5 {
			must[string](t)(r.Commit(DefaultBranch, Change{Message: fmt.Sprint(i), Files: map[string]string{"a.txt": fmt.Sprintln(i)}}))
		}
		dir := clone(t, r, "--depth=1")
		if got := strings.TrimSpace(mustGit(t, dir, "rev-list", "--count", "HEAD")); got != "1" {
			t.Errorf("a clone of depth 1 has %s commits", got)
		}
		mustGit(t, dir, "fetch", "-q", "--depth=3")
		mustGit(t, dir, "fsck", "--strict")
		if got := strings.TrimSpace(mustGit(t, dir, "rev-list", "--count", "HEAD")); got != "3" {
			t.Errorf("deepened to 3 it has %s", got)
		}
		write1(t, filepath.Join(dir, "c.txt"), "c\n")
		mustGit(t, dir, "add", ".")
		mustGit(t, dir, "commit", "-q", "-m", "from a shallow clone")
		mustGit(t, dir, "push", "-q", "origin", "HEAD:main")
		must[string](t)(r.Commit(DefaultBranch, Change{Message: "next", Files: map[string]string{"a.txt": "next\n"}}))
		mustGit(t, dir, "fetch", "-q", "--depth=1")
		mustGit(t, dir, "fetch", "-q", "--unshallow")
		mustGit(t, dir, "fsck", "--strict")
		if got := strings.TrimSpace(mustGit(t, dir, "rev-list", "--count", "origin/main")); got != "8" {
			t.Errorf("in full it has %s", got)
		}
		mustGit(t, r.Dir(), "fsck", "--strict")

		without := filepath.Join(t.TempDir(), "without")
		mustGit(t, ".", "clone", "-q", "--bare", "--filter=blob:none", r.URL(), without)
		if missing := mustGit(t, without, "rev-list", "--objects", "--missing=print", "HEAD"); !strings.Contains(missing, "?") {
			t.Error("a clone without blobs has them")
		}
	})
}

func TestModesAndReading(t *testing.T) {
	eachBackend(t, func(t *testing.T, s *Server) {
		r := must[*Repo](t)(s.Create("acme/catalog", nil))
		if out, err := runGit(t, ".", "ls-remote", r.URL()); err != nil || out != "" {
			t.Errorf("an empty repository lists %q, %v", out, err)
		}
		must[string](t)(r.Commit(DefaultBranch, Change{
			Author: "A Person <a@example.com>", Message: "x",
			Files: map[string]string{"run.sh": "#!/bin/sh\n", "link": "dir/x", "dir/x": "x\r\n", "dir.txt": "", "dir-a": ""},
			Modes: map[string]fs.FileMode{"run.sh": 0o755, "link": fs.ModeSymlink},
		}))
		mustGit(t, r.Dir(), "fsck", "--strict")
		modes := must[map[string]string](t)(r.Modes(DefaultBranch))
		if modes["run.sh"] != "100755" || modes["link"] != "120000" || modes["dir/x"] != "100644" {
			t.Errorf("modes %v", modes)
		}
		if got := must[string](t)(r.Read(DefaultBranch, "dir/x")); got != "x\r\n" {
			t.Errorf("read %q", got)
		}
		if _, err := r.Read(DefaultBranch, "none"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a missing file: %v", err)
		}
		must[string](t)(r.Commit(DefaultBranch, Change{Message: "y", Deleted: []string{"dir/x"}}))
		fork := must[*Repo](t)(s.Fork(r, "me/catalog"))
		if a, b := must[string](t)(r.Head(DefaultBranch)), must[string](t)(fork.Head(DefaultBranch)); a != b || a == "" {
			t.Errorf("the fork is at %s, and what it was made from at %s", b, a)
		}
		if err := fork.Move(DefaultBranch, ""); err != nil {
			t.Fatal(err)
		}
		if got := must[string](t)(fork.Head(DefaultBranch)); got != "" {
			t.Errorf("a branch that was removed is at %s", got)
		}
	})
}

func TestTokens(t *testing.T) {
	eachBackend(t, func(t *testing.T, s *Server) {
		r := must[*Repo](t)(s.Create("acme/catalog", map[string]string{"a": "a"}))
		s.SetTokens(None, map[string]Right{"reader": Read, "writer": Write, "stranger": None})
		for _, tt := range []struct {
			user, token string
			want        int
		}{{"", "", 401}, {"x", "wrong", 401}, {"x", "stranger", 404}, {"x", "reader", 403}, {"x", "writer", 200}} {
			req, err := http.NewRequest(http.MethodGet, r.URL()+"/info/refs?service=git-receive-pack", nil)
			if err != nil {
				t.Fatal(err)
			}
			if tt.user != "" {
				req.SetBasicAuth(tt.user, tt.token)
			}
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			if res.StatusCode != tt.want {
				t.Errorf("pushing with %q: %d, want %d", tt.token, res.StatusCode, tt.want)
			}
		}
		s.SetTokens(Read, map[string]Right{"writer": Write})
		dir := clone(t, r)
		if out, err := runGit(t, dir, "push", "origin", "HEAD:x"); err == nil {
			t.Errorf("the public pushes: %s", out)
		}
		mustGit(t, dir, "push", "-q", strings.Replace(r.URL(), "http://", "http://me:writer@", 1), "HEAD:x")
		last := s.Requests()[len(s.Requests())-1]
		if last.Kind != Push || last.User != "me" || len(last.Commands) != 1 || last.Commands[0].Ref != "refs/heads/x" || s.Count(Push) != 1 {
			t.Errorf("the last request is %+v", last)
		}
		mustGit(t, dir, "ls-remote", "-q", strings.TrimSuffix(r.URL(), ".git"), "x") // the form of actions/checkout
	})
}

func TestProtected(t *testing.T) {
	eachBackend(t, func(t *testing.T, s *Server) {
		r := must[*Repo](t)(s.Create("acme/catalog", map[string]string{"a": "a"}))
		if err := r.Protect("main", "GH006: it's protected"); err != nil {
			t.Fatal(err)
		}
		dir := clone(t, r)
		mustGit(t, dir, "commit", "-q", "--allow-empty", "-m", "x")
		out, err := runGit(t, dir, "push", "origin", "HEAD:main")
		if err == nil || !strings.Contains(out, "GH006: it's protected") || !strings.Contains(out, "pre-receive hook declined") {
			t.Errorf("a push to a protected branch: %v\n%s", err, out)
		}
		mustGit(t, dir, "push", "-q", "origin", "HEAD:other")
		if err := r.Protect("main", ""); err != nil {
			t.Fatal(err)
		}
		mustGit(t, dir, "push", "-q", "origin", "HEAD:main")
		if out, err := runGit(t, dir, "push", "origin", "HEAD:main/sub"); err == nil {
			t.Errorf("a branch below a branch: %s", out)
		}
	})
}

// Two pushes have seen the branch at the same commit. One wins.
func TestPushIsCompareAndSwap(t *testing.T) {
	eachBackend(t, func(t *testing.T, s *Server) {
		r := must[*Repo](t)(s.Create("acme/catalog", map[string]string{"a": "a"}))
		dir := clone(t, r)
		mustGit(t, dir, "commit", "-q", "--allow-empty", "-m", "x")
		var once sync.Once
		s.SetScript(func(q Request) Fault {
			if q.Kind == Push {
				once.Do(func() { must[string](t)(r.Commit(DefaultBranch, Change{Message: "first"})) })
			}
			return Fault{}
		})
		if out, err := runGit(t, dir, "push", "origin", "HEAD:main"); err == nil {
			t.Errorf("the push overwrote the commit between: %s", out)
		}
		if log := must[[]Commit](t)(r.Log(DefaultBranch)); len(log) != 2 || log[0].Message != "first" {
			t.Errorf("log %+v", log)
		}
	})
}

func TestFaults(t *testing.T) {
	eachBackend(t, func(t *testing.T, s *Server) {
		r := must[*Repo](t)(s.Create("acme/catalog", map[string]string{"a": "a"}))
		dir := clone(t, r)
		mustGit(t, dir, "commit", "-q", "--allow-empty", "-m", "x")
		push := func(f Fault) (string, error) {
			s.SetScript(func(q Request) Fault {
				if q.Kind == Push {
					return f
				}
				return Fault{}
			})
			return runGit(t, dir, "push", "origin", "HEAD:main")
		}
		for name, f := range map[string]Fault{"status": {Status: 503, Body: "down"}, "reset": {Reset: true}} {
			if out, err := push(f); err == nil {
				t.Errorf("%s: %s", name, out)
			}
		}
		if log := must[[]Commit](t)(r.Log(DefaultBranch)); len(log) != 1 {
			t.Errorf("a refused push arrived: %+v", log)
		}
		if out, err := push(Fault{Lose: true}); err == nil {
			t.Errorf("lose: %s", out)
		}
		if log := must[[]Commit](t)(r.Log(DefaultBranch)); len(log) != 2 {
			t.Errorf("a push whose answer was lost did not arrive: %+v", log)
		}
		s.Reset()
		s.SetScript(func(Request) Fault { return Fault{Truncate: 20} })
		res, err := http.Get(r.URL() + "/info/refs?service=git-upload-pack")
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var got bytes.Buffer
		if _, err := got.ReadFrom(res.Body); err == nil || got.Len() != 20 || s.Count() != 1 {
			t.Errorf("truncated: %d bytes, %v", got.Len(), err)
		}
	})
}
