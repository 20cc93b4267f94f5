package fakegithub_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/olmgraft/graft/internal/testkit/fakegithub"
)

// Each merge method makes the history that it is named after. A conflict is refused.
func TestMerge(t *testing.T) {
	for _, tt := range []struct {
		method  string
		parents int
		commits int
	}{{"merge", 2, 4}, {"squash", 1, 3}, {"rebase", 1, 3}} {
		t.Run(tt.method, func(t *testing.T) {
			h := start(t, fakegithub.Options{}, fakegithub.Repository{})
			h.branch("b", "a: 1\nb: 2\nc: 3\nd: four\n")
			h.branch("conflict", "a: uno\nb: 2\nc: 3\nd: 4\n")
			h.branch("main", "a: one\nb: 2\nc: 3\nd: 4\n")
			h.ask("POST", "pulls", m{"title": "T", "head": "b", "base": "main"}, 201)
			h.ask("POST", "pulls", m{"title": "T", "head": "conflict", "base": "main"}, 201)
			if err := h.Merge("acme", "catalog", 1, tt.method); err != nil {
				t.Fatal(err)
			}
			if got := h.file("main", "template.yaml"); got != "a: one\nb: 2\nc: 3\nd: four\n" {
				t.Errorf("merged to %q", got)
			}
			commit := h.ask("GET", "git/commits/"+h.Branch("acme", "catalog", "main"), nil, 200)
			if n := len(commit["parents"].([]any)); n != tt.parents {
				t.Errorf("%d parents", n)
			}
			if n := h.history(commit); n != tt.commits {
				t.Errorf("%v commits", n)
			}
			if err := h.Merge("acme", "catalog", 2, tt.method); err == nil {
				t.Error("a conflict was merged")
			}
			if p := h.PullRequests("acme", "catalog"); !p[0].Merged || p[0].State != "closed" || p[1].State != "open" {
				t.Errorf("%+v", p)
			}
		})
	}
}

// history counts the commits up to and including the given one.
func (h *hub) history(commit m) int {
	h.t.Helper()
	seen := map[any]bool{}
	for todo := []m{commit}; len(todo) > 0; todo = todo[1:] {
		seen[todo[0]["sha"]] = true
		for _, parent := range todo[0]["parents"].([]any) {
			todo = append(todo, h.ask("GET", "git/commits/"+parent.(m)["sha"].(string), nil, 200))
		}
	}
	return len(seen)
}

func TestForks(t *testing.T) {
	h := start(t, fakegithub.Options{}, fakegithub.Repository{Writers: []string{"ann"}})
	h.AddToken("bot", fakegithub.Identity{Login: "bot"})
	h.token = "bot"
	h.ask("POST", "git/refs", m{"ref": "refs/heads/x", "sha": h.Branch("acme", "catalog", "main")}, 404)
	fork := h.ask("POST", "forks", m{}, 202)
	if fork["full_name"] != "bot/catalog" || fork["parent"].(map[string]any)["full_name"] != "acme/catalog" {
		t.Errorf("%v", fork["full_name"])
	}
	if again := h.ask("POST", "forks", m{}, 202); again["id"] != fork["id"] {
		t.Error("a second fork")
	}
	h.branch("main", "a: 2\n")
	h.ask("POST", "/repos/bot/catalog/merge-upstream", m{"branch": "main"}, 200)
	if h.Branch("acme", "catalog", "main") != h.Branch("bot", "catalog", "main") {
		t.Error("the fork is behind")
	}
	h.ask("POST", "/repos/bot/catalog/merge-upstream", m{"branch": "none"}, 422)
	if _, err := h.Commit("bot", "catalog", "change", "bot", "Change", map[string][]byte{"new": []byte("x")}); err != nil {
		t.Fatal(err)
	}
	h.ask("POST", "pulls", m{"title": "T", "head": "bot:change", "base": "main", "maintainer_can_modify": true}, 201)
	if err := h.Merge("acme", "catalog", 1, "merge"); err != nil {
		t.Fatal(err)
	}
	if got := h.file("main", "new"); got != "x" {
		t.Errorf("merged %q", got)
	}
}

// Deleting a branch closes its pull request. Renaming a branch keeps its pull request.
func TestBranchesOfPullRequests(t *testing.T) {
	dir := t.TempDir()
	h := start(t, fakegithub.Options{}, fakegithub.Repository{Dir: dir})
	h.branch("a", "x: 1\n")
	h.branch("b", "y: 1\n")
	h.ask("POST", "pulls", m{"title": "A", "head": "a", "base": "main"}, 201)
	h.ask("POST", "pulls", m{"title": "B", "head": "b", "base": "main"}, 201)
	if err := h.RenameBranch("acme", "catalog", "a", "c/d"); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "refs/heads/b")); err != nil {
		t.Fatal(err)
	}
	p := h.PullRequests("acme", "catalog")
	if p[0].Head != "c/d" || p[0].State != "open" || p[1].State != "closed" {
		t.Errorf("%+v", p)
	}
}

// Git sees what the Git data API writes into a directory, and the API sees what git writes.
func TestRepositoryOnDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "catalog.git")
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
			"GIT_AUTHOR_NAME=ann", "GIT_AUTHOR_EMAIL=ann@x", "GIT_COMMITTER_NAME=ann", "GIT_COMMITTER_EMAIL=ann@x")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	git("init", "--bare", "-b", "trunk", dir)
	h := start(t, fakegithub.Options{}, fakegithub.Repository{Dir: dir})
	if got := h.ask("GET", "", nil, 200)["default_branch"]; got != "trunk" {
		t.Errorf("default branch %v", got)
	}

	base := h.ask("GET", "git/ref/heads/trunk", nil, 200)["object"].(map[string]any)["sha"]
	blob := h.ask("POST", "git/blobs", m{"content": "eHl6Cg==", "encoding": "base64"}, 201)
	commit := h.ask("GET", "git/commits/"+base.(string), nil, 200)
	tree := h.ask("POST", "git/trees", m{"base_tree": commit["tree"].(map[string]any)["sha"], "tree": []m{
		{"path": "docs/run.sh", "mode": "100755", "type": "blob", "sha": blob["sha"]},
	}}, 201)
	made := h.ask("POST", "git/commits", m{"message": "By the API", "tree": tree["sha"], "parents": []any{base}}, 201)
	h.ask("POST", "git/refs", m{"ref": "refs/heads/graft/a", "sha": made["sha"]}, 201)

	clone := filepath.Join(t.TempDir(), "clone")
	git("clone", "-q", dir, clone)
	if got := git("-C", clone, "ls-tree", "-r", "origin/graft/a"); !strings.Contains(got, "100755 blob") || !strings.Contains(got, "template.yaml") {
		t.Errorf("git sees\n%s", got)
	}
	git("-C", dir, "fsck", "--strict")

	git("-C", clone, "checkout", "-q", "-b", "by-hand", "origin/graft/a")
	git("-C", clone, "commit", "-q", "--allow-empty", "-m", "By hand")
	git("-C", clone, "push", "-q", "origin", "by-hand")
	git("-C", dir, "gc", "-q")
	h.ask("GET", "git/ref/heads/by-hand", nil, 200)
	h.ask("POST", "pulls", m{"title": "T", "head": "by-hand", "base": "trunk"}, 201)
	if err := h.Merge("acme", "catalog", 1, "rebase"); err != nil {
		t.Fatal(err)
	}
	git("-C", clone, "fetch", "-q")
	if log := git("-C", clone, "log", "--format=%s", "origin/trunk"); log != "By hand\nBy the API\nBegin\n" {
		t.Errorf("git sees the history\n%s", log)
	}
}

// When many clients move one branch from the same commit, exactly one succeeds.
func TestReferencesRace(t *testing.T) {
	for _, kind := range []string{"memory", "disk"} {
		t.Run(kind, func(t *testing.T) {
			r := fakegithub.Repository{}
			if kind == "disk" {
				r.Dir = t.TempDir()
			}
			h := start(t, fakegithub.Options{}, r)
			base := h.Branch("acme", "catalog", "main")
			tree := h.ask("GET", "git/commits/"+base, nil, 200)["tree"].(map[string]any)["sha"]
			var wg sync.WaitGroup
			statuses := make([]int, 10)
			for i := range statuses {
				wg.Go(func() {
					made := h.ask("POST", "git/commits", m{"message": fmt.Sprint(i), "tree": tree, "parents": []string{base}}, 201)
					statuses[i], _ = h.raw("PATCH", "git/refs/heads/main", m{"sha": made["sha"]})
				})
			}
			wg.Wait()
			won := 0
			for _, status := range statuses {
				if status == 200 {
					won++
				} else if status != 422 {
					t.Errorf("status %d", status)
				}
			}
			if won != 1 {
				t.Errorf("%d moved the branch", won)
			}
		})
	}
}
