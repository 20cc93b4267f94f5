package gitremote

import (
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing/object"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
	"github.com/go-git/go-git/v5/storage/memory"

	"github.com/olmgraft/graft/internal/testkit/effort"
)

func TestGoGitClient(t *testing.T) {
	eachBackend(t, func(t *testing.T, s *Server) {
		r := must[*Repo](t)(s.Create("acme/catalog", map[string]string{"a": "a\n"}))
		must[string](t)(r.Commit(DefaultBranch, Change{Message: "second", Files: map[string]string{"b": "b\n"}}))
		s.SetTokens(None, map[string]Right{"secret": Write})
		auth := &githttp.BasicAuth{Username: "x-access-token", Password: "secret"}
		dir := t.TempDir()
		local, err := git.PlainClone(dir, false, &git.CloneOptions{URL: r.URL(), Auth: auth})
		if err != nil {
			t.Fatal(err)
		}
		work, err := local.Worktree()
		if err != nil {
			t.Fatal(err)
		}
		write1(t, filepath.Join(dir, "c"), "c\n")
		if _, err := work.Add("c"); err != nil {
			t.Fatal(err)
		}
		commit, err := work.Commit("third", &git.CommitOptions{Author: &object.Signature{Name: "x", Email: "x@example.com", When: time.Now()}})
		if err != nil {
			t.Fatal(err)
		}
		if err := local.Push(&git.PushOptions{Auth: auth, RefSpecs: []config.RefSpec{"refs/heads/main:refs/heads/graft/x"}}); err != nil {
			t.Fatal(err)
		}
		if got := must[string](t)(r.Head("graft/x")); got != commit.String() {
			t.Errorf("the branch is at %s, want %s", got, commit)
		}
		if got := must[string](t)(r.Read("graft/x", "c")); got != "c\n" {
			t.Errorf("read %q", got)
		}
		must[string](t)(r.Commit(DefaultBranch, Change{Message: "theirs", Files: map[string]string{"b": "bb\n"}}))
		if err := local.Fetch(&git.FetchOptions{Auth: auth}); err != nil {
			t.Fatal(err)
		}
		shallow, err := git.PlainClone(t.TempDir(), true, &git.CloneOptions{URL: r.URL(), Auth: auth, Depth: 1})
		if err != nil {
			t.Fatal(err)
		}
		if roots, err := shallow.Storer.Shallow(); err != nil || len(roots) == 0 {
			t.Errorf("a clone of depth 1 is cut at %v, %v", roots, err)
		}
		mustGit(t, r.Dir(), "fsck", "--strict")
	})
}

func TestAutoNeedsNothingInstalled(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	s, err := Start(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.Backend() != GoBackend {
		t.Errorf("without git the backend is %d", s.Backend())
	}
	r := must[*Repo](t)(s.Create("acme/catalog", map[string]string{"a": "a\n"}))
	if _, err := git.PlainClone(t.TempDir(), false, &git.CloneOptions{URL: r.URL()}); err != nil {
		t.Error(err)
	}
	if _, err := Start(Options{Backend: GitBackend}); err == nil {
		t.Error("git serves without git")
	}
}

// go-git writes a branch in place. A concurrent reader must not find an empty file.
func TestLookingWhileSomebodyCommits(t *testing.T) {
	eachBackend(t, func(t *testing.T, s *Server) {
		r := must[*Repo](t)(s.Create("acme/catalog", map[string]string{"a": "a\n"}))
		n := effort.Of(t, 20, 50, 100)
		var wg sync.WaitGroup
		defer wg.Wait()
		wg.Go(func() {
			for i := range n {
				if _, err := r.Commit(DefaultBranch, Change{Message: strconv.Itoa(i)}); err != nil {
					t.Error(err)
				}
			}
		})
		remote := git.NewRemote(memory.NewStorage(), &config.RemoteConfig{URLs: []string{r.URL()}})
		for range n {
			if refs, err := remote.List(&git.ListOptions{}); err != nil || len(refs) == 0 {
				t.Fatalf("%v, %v", refs, err)
			}
			if got := must[map[string]string](t)(r.Branches()); got[DefaultBranch] == "" {
				t.Fatal(got)
			}
		}
	})
}
