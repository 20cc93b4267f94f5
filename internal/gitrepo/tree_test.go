package gitrepo

import (
	"context"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/testkit/gitremote"
)

// A tree may hold entries that a work tree could not.
func TestHostileTree(t *testing.T) {
	s := newStore(t.TempDir(), nil)
	link := func(to string) object.TreeEntry {
		return object.TreeEntry{Mode: filemode.Symlink, Hash: must[plumbing.Hash](t)(s.encode(blobOf(to)))}
	}
	file := link("content")
	file.Mode = filemode.Regular
	tree := &object.Tree{}
	for _, e := range []struct {
		name  string
		entry object.TreeEntry
	}{
		{"..", file}, {"a", file}, {"a/b", file}, {"absolute", link("/etc/passwd")},
		{"down", link("sub/../a")}, {"empty", link("")}, {"here", link(".")}, {"loop", link("pool")}, {"pool", link("loop")}, {"self", link("self/x")},
		{"sub", object.TreeEntry{Mode: filemode.Submodule, Hash: plumbing.NewHash("0123456789012345678901234567890123456789")}},
		{"up", link("../a")},
	} {
		e.entry.Name = e.name
		tree.Entries = append(tree.Entries, e.entry)
	}
	fsys := newTreeFS(s, must[plumbing.Hash](t)(s.encode(tree)), time.Time{})
	var names []string
	for _, e := range must[[]fs.DirEntry](t)(fs.ReadDir(fsys, ".")) {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); got != "a absolute down empty here loop pool self sub up" {
		t.Errorf("listed %s", got)
	}
	for _, name := range []string{"absolute", "up", "loop", "self", "sub/x", "a/x", "sub"} {
		if data, err := fs.ReadFile(fsys, name); err == nil {
			t.Errorf("%s reads %q", name, data)
		}
	}
	for _, name := range []string{"a", "down", "here/a", "here/here/here/a"} {
		if data, err := fs.ReadFile(fsys, name); err != nil || string(data) != "content" {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	if all, err := fs.ReadDir(fsys, "sub"); err != nil || len(all) > 0 {
		t.Errorf("a submodule lists %v, %v", all, err)
	}
}

// Many goroutines may read the content, even during a fetch.
func TestFSConcurrently(t *testing.T) {
	h := newHost(t, gitremote.GoBackend)
	r := h.open(t, func(o *Options) { o.Dir, o.URL = h.checkout(t, "--depth=1"), "" })
	content := r.FS()
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if err := fs.WalkDir(content, ".", func(name string, e fs.DirEntry, err error) error {
					if err == nil && e.Type().IsRegular() {
						_, err = fs.ReadFile(content, name)
					}
					return err
				}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 5 {
		h.commit(t, "main", gitremote.Change{Message: "x", Files: map[string]string{cat: time.Now().String()}})
		must[bool](t)(r.Fetch(context.Background()))
		deliver(t, r, "graft/a", map[string]string{cat: time.Now().String()})
	}
	close(done)
	wg.Wait()
}

// Objects that only the checkout has are sent.
func TestWhatOnlyTheCheckoutHasIsSent(t *testing.T) {
	h := newHost(t, gitremote.GitBackend)
	dir := h.checkout(t)
	put(t, dir+"/new/file.yaml", "the same content")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "not pushed")
	r := h.open(t, func(o *Options) { o.Dir, o.URL = dir, "" })
	got := deliver(t, r, "graft/a", map[string]string{"new/file.yaml": "the same content"})
	wantChanged(t, h, got.Commit, "new/file.yaml")
	h.sound(t)
}

func TestOtherObjectFormat(t *testing.T) {
	h := newHost(t, gitremote.GoBackend)
	dir := t.TempDir()
	git(t, dir, "init", "-q", "--object-format=sha256")
	git(t, dir, "remote", "add", "origin", h.repo.URL())
	_, err := h.tryOpen(t, func(o *Options) { o.Dir, o.URL = dir, "" })
	wantFailure(t, err, failure.GitFailed, "sha256", "sha1 object format")
}

// A checkout of another repository, as when a run in one folder publishes elsewhere, does not make Graft
// resolve the pack: no delta in it refers to local objects.
func TestCheckoutOfAnotherRepository(t *testing.T) {
	h := newHost(t, gitremote.GitBackend)
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	put(t, dir+"/other.md", "x")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "another")
	r := h.open(t, func(o *Options) { o.Dir = dir })
	if data, err := fs.ReadFile(r.FS(), "latest/template.yml"); err != nil || string(data) != template {
		t.Errorf("read %q, %v", data, err)
	}
	packs, err := r.store.fetched.Storer.(*filesystem.Storage).ObjectPacks()
	if err != nil || len(packs) != 1 {
		t.Errorf("%d packs are kept, %v; want one", len(packs), err)
	}
	deliver(t, r, "graft/a", map[string]string{cat: "x"})
	h.sound(t)
}
