package github_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/forge"
	"github.com/olmgraft/graft/internal/testkit/fakegithub"
)

const (
	makeRef    = "POST /repos/{owner}/{repo}/git/refs"
	moveRef    = "PATCH /repos/{owner}/{repo}/git/refs/{ref...}"
	makeCommit = "POST /repos/{owner}/{repo}/git/commits"
	makeBlob   = "POST /repos/{owner}/{repo}/git/blobs"
)

func (h *hub) commitRequest(files map[string]string) forge.Commit {
	base := h.Branch("acme", "catalog", "main")
	contents := map[string][]byte{}
	for name, text := range files {
		contents[name] = []byte(text)
	}
	return forge.Commit{
		Branch: "graft/etcd/0.9.4", Parent: base,
		Files: contents, Message: "Add etcd 0.9.4\n\nSigned-off-by: Graft <graft@example.com>\n",
	}
}

func (h *hub) file(branch, name string) string {
	h.t.Helper()
	content, err := h.File("acme", "catalog", branch, name)
	if err != nil {
		h.t.Fatal(err)
	}
	return string(content)
}

// git runs a script in a bare repository.
func (h *hub) git(dir, script string) {
	h.t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=ann", "GIT_AUTHOR_EMAIL=ann@x", "GIT_COMMITTER_NAME=ann", "GIT_COMMITTER_EMAIL=ann@x")
	if out, err := cmd.CombinedOutput(); err != nil {
		h.t.Fatalf("%v: %s", err, out)
	}
}

func TestCommit(t *testing.T) {
	ctx := context.Background()
	h := start(t, fakegithub.Repository{})
	r := h.commitRequest(map[string]string{"template.yaml": "a: 2\n", "catalog/etcd/catalog.yaml": "\xff\x00binary"})
	sha, err := h.of(catalog).Commit(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	if got := h.Branch("acme", "catalog", r.Branch); got != sha || sha == r.Parent {
		t.Errorf("the branch is at %s, not %s", got, sha)
	}
	if h.file(r.Branch, "template.yaml") != "a: 2\n" || h.file(r.Branch, "catalog/etcd/catalog.yaml") != "\xff\x00binary" || h.file(r.Branch, "docs/README.md") != "read\n" {
		t.Error("the files are not as they should be")
	}

	// Extending the branch with content that it already has makes nothing.
	before := h.Count(makeCommit) + h.Count(makeBlob)
	r.Tip, r.Parent = sha, sha
	if again, err := h.of(catalog).Commit(ctx, r); err != nil || again != sha || h.Count(makeCommit)+h.Count(makeBlob) != before {
		t.Errorf("%s %v", again, err)
	}

	// The branch is extended, and then replaced by one from a newer base.
	r.Files = map[string][]byte{"template.yaml": []byte("a: 3\n")}
	next, err := h.of(catalog).Commit(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	h.branch("main", "a: 4\n")
	r.Parent, r.Tip = h.Branch("acme", "catalog", "main"), next
	r.Files = map[string][]byte{"new": []byte("new\n")}
	if _, err := h.of(catalog).Commit(ctx, r); err != nil {
		t.Fatal(err)
	}
	if h.file(r.Branch, "template.yaml") != "a: 4\n" || h.file(r.Branch, "new") != "new\n" {
		t.Error("the branch was not made again from the base")
	}

	// A file is deleted once.
	r.Parent = h.Branch("acme", "catalog", r.Branch)
	r.Tip, r.Files, r.Deleted = r.Parent, nil, []string{"docs/README.md", "no/such.yaml"}
	gone, err := h.of(catalog).Commit(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	if h.file(r.Branch, "docs/README.md") != "" || h.file(r.Branch, "new") != "new\n" {
		t.Error("the file still exists, or others are gone")
	}
	r.Parent, r.Tip = gone, gone
	if again, err := h.of(catalog).Commit(ctx, r); err != nil || again != gone {
		t.Errorf("%s %v", again, err)
	}
}

// With an app's token, commits are in the app's name and signed by GitHub, unless an author is given.
func TestCommitSignature(t *testing.T) {
	h := start(t, fakegithub.Repository{Dir: t.TempDir()})
	h.AddToken(token, fakegithub.Identity{Login: "graft[bot]", App: true})
	r := h.commitRequest(map[string]string{"x": "y"})
	own, err := h.of(catalog).Commit(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	r.Branch = "named"
	r.Author = &forge.Signature{Name: "Ann", Email: "ann@example.com"}
	sha, err := h.of(catalog).Commit(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]string{own: `"verified":true`, sha: `"verified":false`} {
		if got := h.get("repos/acme/catalog/git/commits/" + at); !strings.Contains(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := h.get("repos/acme/catalog/git/commits/" + sha); !strings.Contains(got, `"email":"ann@example.com","name":"Ann"}`) {
		t.Errorf("%s", got)
	}
}

// Modes of the base are kept, links are not followed for writing, and git fsck passes.
func TestCommitModes(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	h := start(t, fakegithub.Repository{Dir: dir})
	h.git(dir, `echo true | git hash-object -w --stdin >blob
		git ls-tree main >tree
		printf '100755 blob %s\trun.sh\n120000 blob %s\tlink\n' "$(cat blob)" "$(cat blob)" >>tree
		git update-ref refs/heads/main "$(git commit-tree -p main -m 'Add modes' "$(git mktree <tree)")"`)
	r := h.commitRequest(map[string]string{"run.sh": "false\n"})
	r.Branch, r.Tip = "main", r.Parent
	sha, err := h.of(catalog).Commit(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("git", "-C", dir, "ls-tree", "-r", sha).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	modes := ""
	for line := range strings.Lines(string(out)) {
		modes += line[:7] + line[strings.Index(line, "\t")+1:]
	}
	if want := "100644 docs/README.md\n120000 link\n100755 run.sh\n100644 template.yaml\n"; modes != want {
		t.Errorf("git sees\n%s, want\n%s", modes, want)
	}
	r.Parent, r.Tip, r.Files = sha, sha, map[string][]byte{"link": []byte("x")}
	_, err = h.of(catalog).Commit(ctx, r)
	wantFailure(t, err, failure.GitFailed, "link is no file")
	for _, path := range []string{"", "/etc/passwd", "../x", "a/../../x", "a//b", "."} {
		r.Files = map[string][]byte{path: []byte("x")}
		_, err = h.of(catalog).Commit(ctx, r)
		wantFailure(t, err, failure.GitFailed, "not a path within the repository")
	}
}

func TestCommitRaces(t *testing.T) {
	ctx := context.Background()
	file := map[string]string{"x": "y"}
	t.Run("branch is elsewhere", func(t *testing.T) {
		h := start(t, fakegithub.Repository{})
		r := h.commitRequest(file)
		h.branch(r.Branch, "theirs\n")
		_, err := h.of(catalog).Commit(ctx, r)
		wantFailure(t, err, failure.GitRaceLost, r.Branch, "expected to be absent")
		r.Tip = r.Parent
		_, err = h.of(catalog).Commit(ctx, r)
		wantFailure(t, err, failure.GitRaceLost, "expected to be at "+r.Parent[:12])
	})
	t.Run("moved at the last moment", func(t *testing.T) {
		for _, route := range []string{makeRef, moveRef} {
			h := start(t, fakegithub.Repository{})
			r := h.commitRequest(file)
			if route == moveRef {
				r.Branch, r.Tip = "main", r.Parent
			}
			done := false
			h.script = func(req fakegithub.Request) *fakegithub.Fault {
				if req.Route == route && !done {
					done = true
					h.branch(r.Branch, "theirs\n")
				}
				return nil
			}
			_, err := h.of(catalog).Commit(ctx, r)
			wantFailure(t, err, failure.GitRaceLost)
			if h.file(r.Branch, "template.yaml") != "theirs\n" {
				t.Error("their commit was overwritten")
			}
		}
	})
	t.Run("answers lost", func(t *testing.T) {
		for _, route := range []string{makeRef, moveRef, makeCommit, makeBlob} {
			h := start(t, fakegithub.Repository{})
			r := h.commitRequest(file)
			if route == moveRef {
				r.Branch, r.Tip = "main", r.Parent
			}
			h.faults(route, fakegithub.ServerError(500, true), &fakegithub.Fault{Cut: true, Acted: true})
			sha, err := h.of(catalog).Commit(ctx, r)
			if err != nil || h.Branch("acme", "catalog", r.Branch) != sha {
				t.Errorf("%s: %v", route, err)
			}
		}
	})
	t.Run("ten at once", func(t *testing.T) {
		h := start(t, fakegithub.Repository{})
		var wg sync.WaitGroup
		for i := range 10 {
			wg.Go(func() {
				for {
					r := h.commitRequest(map[string]string{fmt.Sprint("file-", i): "x"})
					r.Branch, r.Tip = "main", r.Parent
					_, err := h.of(catalog).Commit(ctx, r)
					if err == nil {
						return
					}
					if !failure.Is(err, failure.GitRaceLost) {
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		for i := range 10 {
			if h.file("main", fmt.Sprint("file-", i)) != "x" {
				t.Errorf("file-%d is lost", i)
			}
		}
	})
}

// A refusal by the repository's rules is not a race.
func TestCommitRefused(t *testing.T) {
	ctx := context.Background()
	h := start(t, fakegithub.Repository{})
	r := h.commitRequest(map[string]string{"x": "y"})
	h.faults(makeRef, answer(422, "Repository rule violations found"))
	_, err := h.of(catalog).Commit(ctx, r)
	wantFailure(t, err, failure.GitFailed, "committing to the branch graft/etcd/0.9.4 of acme/catalog", "Repository rule violations found")

	h.AddToken(token, fakegithub.Identity{Login: "graft[bot]", App: true, Permissions: map[string]string{"contents": "read"}})
	_, err = h.of(catalog).Commit(ctx, r)
	wantFailure(t, err, failure.ForgeAuth, "contents: write")
	r.Parent = strings.Repeat("0", 40)
	_, err = h.of(catalog).Commit(ctx, r)
	wantFailure(t, err, failure.ForgeAuth, "HTTP 404")
}
