package gitrepo

import (
	"context"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/testkit/gitremote"
)

func TestDeliver(t *testing.T) {
	eachBackend(t, func(t *testing.T, h *host) {
		r := h.open(t, func(o *Options) { o.Signoff = true; o.Committer = Identity{"The Bot", "bot@example.com"} })
		d := delivery(r, "graft/op/1.1.0", map[string]string{
			"operators/op/template.yml":  template + "  - image: example.com/op:v1.1.0\r\n",
			"operators/op/run.sh":        "#!/bin/sh\nexit\n",
			"catalogs/v4.18/op/cat.yaml": "new\n",
		})
		d.Deleted = []string{"operators/op-a/ci.yaml"}
		d.Requests = []string{"op/1.1.0"}
		got := must[Delivered](t)(r.Deliver(context.Background(), d))
		h.sound(t)
		if !got.Created || !got.Changed || got.Commit != must[string](t)(h.repo.Head("graft/op/1.1.0")) {
			t.Errorf("%+v", got)
		}
		wantChanged(t, h, got.Commit, "catalogs/v4.18/op/cat.yaml", "operators/op-a/ci.yaml", "operators/op/run.sh", "operators/op/template.yml")
		log := h.log(t, "graft/op/1.1.0")
		if len(log) != 2 || log[1].SHA != r.BaseCommit() {
			t.Fatalf("the branch holds %+v", log)
		}
		if want := "Add graft/op/1.1.0\n\nGraft-Request: op/1.1.0\nGraft-Tree: TREE\nSigned-off-by: The Bot <bot@example.com>\n"; regexp.MustCompile(`[0-9a-f]{40}`).ReplaceAllString(log[0].Message, "TREE") != want {
			t.Errorf("message %q, want %q", log[0].Message, want)
		}
		if log[0].Author != bot.String() || log[0].Committer != "The Bot <bot@example.com>" {
			t.Errorf("by %s and %s", log[0].Author, log[0].Committer)
		}
		if got := must[string](t)(h.repo.Read("graft/op/1.1.0", "operators/op/template.yml")); got != template+"  - image: example.com/op:v1.1.0\r\n" {
			t.Errorf("the template is %q", got)
		}
		modes := must[map[string]string](t)(h.repo.Modes("graft/op/1.1.0"))
		if modes["operators/op/run.sh"] != "100755" || modes["latest"] != "120000" || modes["catalogs/v4.18/op/cat.yaml"] != "100644" {
			t.Errorf("modes %v", modes)
		}
	})
}

// A checkout of any kind works like a clone, and stays unchanged: files, index, refs, objects.
func TestCheckoutIsOnlyRead(t *testing.T) {
	eachBackend(t, func(t *testing.T, h *host) {
		for i := range 3 {
			h.commit(t, "main", gitremote.Change{Message: "more", Files: map[string]string{"README.md": strings.Repeat("x", i)}})
		}
		for name, prepare := range map[string]func(*testing.T) string{
			"full":     func(t *testing.T) string { return h.checkout(t) },
			"shallow":  func(t *testing.T) string { return h.checkout(t, "--depth=1") },
			"blobless": func(t *testing.T) string { return h.checkout(t, "--filter=blob:none", "--no-checkout") },
			"detached": func(t *testing.T) string {
				dir := h.checkout(t, "--depth=1")
				git(t, dir, "checkout", "-q", "--detach")
				return dir
			},
			"sparse": func(t *testing.T) string {
				dir := h.checkout(t)
				git(t, dir, "sparse-checkout", "set", "catalogs")
				return dir
			},
			"linked work tree": func(t *testing.T) string {
				dir := filepath.Join(t.TempDir(), "linked")
				git(t, h.checkout(t), "worktree", "add", "-q", "--detach", dir)
				return dir
			},
			"borrowing": func(t *testing.T) string { return h.checkout(t, "--reference", h.checkout(t)) },
			"borrowing missing objects": func(t *testing.T) string {
				lender := h.checkout(t)
				dir := h.checkout(t, "--reference", lender)
				if err := os.RemoveAll(lender); err != nil {
					t.Fatal(err)
				}
				return dir
			},
			"below": func(t *testing.T) string { return filepath.Join(h.checkout(t), "operators", "op") },
			"behind": func(t *testing.T) string {
				dir := h.checkout(t, "--depth=1")
				h.commit(t, "main", gitremote.Change{Message: "behind", Files: map[string]string{"behind": "x"}})
				return dir
			},
			"ahead": func(t *testing.T) string {
				dir := h.checkout(t)
				if err := os.WriteFile(filepath.Join(dir, "README.md"), []byte("mine"), 0o600); err != nil {
					t.Fatal(err)
				}
				git(t, dir, "commit", "-q", "-a", "-m", "not pushed")
				return dir
			},
		} {
			t.Run(name, func(t *testing.T) {
				dir := prepare(t)
				top := dir
				if name == "below" {
					top = filepath.Dir(filepath.Dir(dir))
				}
				// A careless commit would include these.
				for file, data := range map[string]string{"staged": "x", "untracked": "y", "README.md": "changed"} {
					if err := os.WriteFile(filepath.Join(top, file), []byte(data), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				if name != "blobless" {
					git(t, top, "add", "--sparse", "staged")
				}
				before := snapshot(t, top)
				r := h.open(t, func(o *Options) { o.Dir, o.URL = dir, "" })
				if want := must[string](t)(h.repo.Head("main")); r.BaseCommit() != want || r.BaseBranch() != "main" {
					t.Errorf("the base is %s at %s, want %s", r.BaseBranch(), r.BaseCommit(), want)
				}
				if data, err := fs.ReadFile(r.FS(), "operators/op/template.yml"); err != nil || string(data) != template {
					t.Errorf("read %q, %v", data, err)
				}
				branch := "graft/" + strings.ReplaceAll(name, " ", "-")
				got := deliver(t, r, branch, map[string]string{"catalogs/v4.17/cat.yaml": "new"})
				wantChanged(t, h, got.Commit, "catalogs/v4.17/cat.yaml")
				again := deliver(t, r, branch, map[string]string{"catalogs/v4.17/cat.yaml": "new"})
				if again.Changed || again.Commit != got.Commit {
					t.Errorf("the second time: %+v", again)
				}
				if after := snapshot(t, top); !maps.Equal(before, after) {
					for name := range after {
						if before[name] != after[name] {
							t.Errorf("%s is not as it was", name)
						}
					}
				}
			})
		}
		h.sound(t)
	})
}

func TestFS(t *testing.T) {
	eachBackend(t, func(t *testing.T, h *host) {
		for name, open := range map[string]func(*Options){
			"clone":    nil,
			"memory":   func(o *Options) { o.TempDir = filepath.Join(o.TempDir, "none") },
			"checkout": func(o *Options) { o.Dir, o.URL = h.checkout(t, "--depth=1"), "" },
		} {
			t.Run(name, func(t *testing.T) {
				r := h.open(t, open)
				content := r.FS()
				sub := must[fs.FS](t)(fs.Sub(content, "operators"))
				if err := fstest.TestFS(sub, "op/template.yml", "op/run.sh", "op-a/ci.yaml", "op.yaml"); err != nil {
					t.Error(err)
				}
				for path, want := range map[string]string{
					"latest/template.yml":      template,
					"operators/op/current.yml": template,
					"latest/current.yml":       template,
				} {
					if data, err := fs.ReadFile(content, path); err != nil || string(data) != want {
						t.Errorf("%s: %q, %v", path, data, err)
					}
				}
				for _, path := range []string{"outside", "none", "README.md/none", "latest/none", "../x", "/x"} {
					if data, err := fs.ReadFile(content, path); err == nil {
						t.Errorf("%s reads %q", path, data)
					}
				}
				if target, err := fs.ReadLink(content, "latest"); target != "operators/op" || err != nil {
					t.Errorf("the link says %q, %v", target, err)
				}
				if info, err := fs.Stat(content, "operators/op/run.sh"); err != nil || info.Mode() != 0o755 {
					t.Errorf("%v, %v", info, err)
				}
				if info, err := fs.Lstat(content, "latest"); err != nil || info.Mode()&fs.ModeSymlink == 0 {
					t.Errorf("%v, %v", info, err)
				}
			})
		}
	})
}

func TestBaseBranch(t *testing.T) {
	eachBackend(t, func(t *testing.T, h *host) {
		next := h.commit(t, "release/next", gitremote.Change{Message: "next", Files: map[string]string{"next": "x"}})
		for _, name := range []string{"release/next", "refs/heads/release/next"} {
			r := h.open(t, func(o *Options) { o.Base = name })
			if r.BaseCommit() != next || r.BaseBranch() != "release/next" {
				t.Errorf("%s at %s", r.BaseBranch(), r.BaseCommit())
			}
		}
		_, err := h.tryOpen(t, func(o *Options) { o.Base = "none" })
		wantFailure(t, err, failure.GitFailed, "there is no branch none", "The default branch is main")
		empty := must[*gitremote.Repo](t)(h.Create("acme/empty", nil))
		_, err = h.tryOpen(t, func(o *Options) { o.URL = empty.URL() })
		wantFailure(t, err, failure.GitFailed, "no commits", "Push a first commit")
	})
}

func TestFetch(t *testing.T) {
	eachBackend(t, func(t *testing.T, h *host) {
		large := make([]byte, 100_000)
		_, _ = rand.NewChaCha8([32]byte{}).Read(large)
		h.commit(t, "main", gitremote.Change{Message: "large", Files: map[string]string{"operators/large": string(large)}})
		r := h.open(t, func(o *Options) { o.Dir, o.URL = h.checkout(t, "--depth=1"), "" })
		before := r.FS()
		if moved := must[bool](t)(r.Fetch(context.Background())); moved {
			t.Error("Fetch reports a move without one")
		}
		for i := range 3 {
			h.commit(t, "main", gitremote.Change{Message: "x", Files: map[string]string{"README.md": strings.Repeat("new ", i+1)}})
		}
		h.Reset()
		content, commit, err := r.Base(context.Background())
		if err != nil || commit != r.BaseCommit() {
			t.Fatal(commit, err)
		}
		if h.Count() != 0 {
			t.Error("the first Base fetched again right after Open")
		}
		if data, _ := fs.ReadFile(content, "README.md"); string(data) != "read me\n" {
			t.Errorf("read %q", data)
		}
		if content, _, err = r.Base(context.Background()); err != nil {
			t.Fatal(err)
		}
		if data, err := fs.ReadFile(content, "README.md"); string(data) != "new new new " || err != nil {
			t.Errorf("read %q, %v", data, err)
		}
		if data, _ := fs.ReadFile(content, "operators/op/template.yml"); string(data) != template {
			t.Errorf("an unchanged file reads %q", data)
		}
		if data, _ := fs.ReadFile(before, "README.md"); string(data) != "read me\n" {
			t.Errorf("the earlier content reads %q", data)
		}
		// Objects of the checkout are not fetched again.
		for _, q := range h.Requests() {
			if q.Kind == gitremote.Fetch && q.Bytes > 5000 {
				t.Errorf("fetching three small commits took %d bytes", q.Bytes)
			}
		}
	})
}

// Graft fetches around a checkout that has a commit without its tree.
func TestBrokenCheckout(t *testing.T) {
	h := newHost(t, gitremote.GitBackend)
	h.commit(t, "main", gitremote.Change{Message: "x", Files: map[string]string{"README.md": "x"}})
	dir := h.checkout(t, "--depth=1")
	tree := h.log(t, "main")[0].Tree
	objects := filepath.Join(dir, ".git", "objects")
	for _, pack := range must[[]string](t)(filepath.Glob(filepath.Join(objects, "pack", "*.pack"))) {
		moved := filepath.Join(t.TempDir(), "pack")
		if err := os.Rename(pack, moved); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(strings.TrimSuffix(pack, "pack") + "idx"); err != nil {
			t.Fatal(err)
		}
		git(t, dir, "-c", "core.fsync=none", "-c", "alias.in=!git unpack-objects -q <"+moved, "in")
	}
	if err := os.Remove(filepath.Join(objects, tree[:2], tree[2:])); err != nil {
		t.Fatal(err)
	}
	r := h.open(t, func(o *Options) { o.Dir, o.URL = dir, "" })
	if data, err := fs.ReadFile(r.FS(), "latest/template.yml"); err != nil || string(data) != template {
		t.Errorf("read %q, %v", data, err)
	}
	deliver(t, r, "graft/a", map[string]string{cat: "x"})
	h.sound(t)
}

func TestNoCheckout(t *testing.T) {
	h := newHost(t, gitremote.GoBackend)
	_, err := h.tryOpen(t, func(o *Options) { o.Dir, o.URL = t.TempDir(), "" })
	wantFailure(t, err, failure.GitFailed, "there is no git checkout", "name the repository")
	// If the repository is named, a folder without a checkout does no harm.
	h.open(t, func(o *Options) { o.Dir = t.TempDir() })
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	_, err = h.tryOpen(t, func(o *Options) { o.Dir, o.URL = dir, "" })
	wantFailure(t, err, failure.GitFailed, "no remote origin", "git remote add")
	git(t, dir, "remote", "add", "upstream", h.repo.URL())
	h.open(t, func(o *Options) { o.Dir, o.URL = dir, "" })
	if err := os.WriteFile(filepath.Join(dir, ".git", "config"), []byte("[core\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = h.tryOpen(t, func(o *Options) { o.Dir, o.URL = dir, "" })
	wantFailure(t, err, failure.GitFailed, "opening the checkout")
}
