package gitrepo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/pause"
	"github.com/olmgraft/graft/internal/testkit/effort"
	"github.com/olmgraft/graft/internal/testkit/gitremote"
)

const cat = "catalogs/v4.17/cat.yaml"

func TestTwiceIsOnce(t *testing.T) {
	eachBackend(t, func(t *testing.T, h *host) {
		change := map[string]string{cat: "new\n", "new/file": "x"}
		first := deliver(t, h.open(t, nil), "graft/a", change)

		// Deliver again, and again after the base changed in other files.
		again := deliver(t, h.open(t, nil), "graft/a", change)
		if again.Changed || again.Created || again.Commit != first.Commit {
			t.Errorf("the second time: %+v", again)
		}
		h.commit(t, "main", gitremote.Change{Message: "other", Files: map[string]string{"README.md": "other"}})
		r := h.open(t, nil)
		if again = deliver(t, r, "graft/a", change); again.Changed || again.Commit != first.Commit {
			t.Errorf("on a base that changed in other files: %+v", again)
		}

		// Fewer files, more files, other content and another mode all differ.
		for name, d := range map[string]Delivery{
			"less":  delivery(r, "graft/a", map[string]string{cat: "new\n"}),
			"more":  delivery(r, "graft/a", map[string]string{cat: "new\n", "new/file": "x", "new/other": "x"}),
			"other": delivery(r, "graft/a", map[string]string{cat: "new\n", "new/file": "y"}),
			"mode": {Base: r.BaseCommit(), Branch: "graft/a", Change: Change{Message: "m", Files: map[string]File{
				cat: {Data: []byte("new\n")}, "new/file": {Data: []byte("x"), Mode: 0o755},
			}}},
			"deletion": {Base: r.BaseCommit(), Branch: "graft/a", Change: Change{Message: "m", Deleted: []string{"README.md"}}},
		} {
			got := must[Delivered](t)(r.Deliver(context.Background(), d))
			if !got.Changed || got.Created {
				t.Errorf("%s: %+v", name, got)
			}
			if log := h.log(t, "graft/a"); log[0].SHA != got.Commit || log[1].SHA != r.BaseCommit() {
				t.Errorf("%s: the branch is not one commit on the base: %+v", name, log)
			}
		}

		// An empty change makes no commit.
		nothing := deliver(t, r, "graft/b", map[string]string{cat: files[cat]})
		if nothing.Changed || nothing.Commit != r.BaseCommit() {
			t.Errorf("nothing: %+v", nothing)
		}
		if head := must[string](t)(h.repo.Head("graft/b")); head != "" {
			t.Errorf("a branch for nothing at %s", head)
		}
	})
}

func TestBranchEdited(t *testing.T) {
	eachBackend(t, func(t *testing.T, h *host) {
		change := map[string]string{cat: "new\n"}
		ours := deliver(t, h.open(t, nil), "graft/a", change)
		dir := h.checkout(t, "--branch", "graft/a")
		for name, edit := range map[string]func(){
			"commit": func() { git(t, dir, "commit", "-q", "--allow-empty", "-m", "My own words\n\nGraft-Request: x") },
			"amend":  func() { git(t, dir, "commit", "-q", "--amend", "--allow-empty", "-m", "Amended\n\nGraft-Request: x") },
			"below": func() {
				git(t, dir, "checkout", "-q", "-B", "tmp", "main~0")
				git(t, dir, "commit", "-q", "--allow-empty", "-m", "below")
				git(t, dir, "-c", "user.email=graft@example.com", "cherry-pick", ours.Commit)
			},
			"amended content": func() {
				if err := os.WriteFile(filepath.Join(dir, "README.md"), []byte("by hand"), 0o600); err != nil {
					t.Fatal(err)
				}
				git(t, dir, "-c", "user.email=graft@example.com", "commit", "-q", "--amend", "--all", "--no-edit")
			},
			"no trailer": func() {
				git(t, dir, "-c", "user.email=graft@example.com", "commit", "-q", "--allow-empty", "-m", "by the same account")
			},
			"merge": func() {
				git(t, dir, "checkout", "-q", "main")
				git(t, dir, "commit", "-q", "--allow-empty", "-m", "on main")
				git(t, dir, "push", "-q", "origin", "main") // so that only the merge itself is beyond the base
				git(t, dir, "checkout", "-q", "-B", "tmp", ours.Commit)
				git(t, dir, "-c", "user.email=graft@example.com", "merge", "-q", "--no-ff", "-m", "Merge\n\nGraft-Request: x", "main")
			},
			"merge in our words": func() {
				git(t, dir, "checkout", "-q", "main")
				git(t, dir, "commit", "-q", "--allow-empty", "-m", "further on main")
				git(t, dir, "push", "-q", "origin", "main")
				git(t, dir, "checkout", "-q", "-B", "tmp", ours.Commit)
				git(t, dir, "merge", "-q", "--no-ff", "-m", "Merge", "main")
				git(t, dir, "commit", "-q", "--amend", "-C", ours.Commit)
			},
		} {
			t.Run(name, func(t *testing.T) {
				git(t, dir, "fetch", "-q", "origin", "main:refs/heads/main", "--force", "--update-head-ok")
				git(t, dir, "checkout", "-q", "-B", "tmp", ours.Commit)
				edit()
				git(t, dir, "push", "-q", "--force", "origin", "HEAD:graft/a")
				head := must[string](t)(h.repo.Head("graft/a"))

				r := h.open(t, nil)
				state := must[State](t)(r.Inspect(context.Background(), "graft/a"))
				if state.OnlyOurs || state.Foreign == nil || state.Head != head || !state.Exists {
					t.Fatalf("%+v", state)
				}
				_, err := r.Deliver(context.Background(), delivery(r, "graft/a", change))
				wantFailure(t, err, failure.BranchEdited, "graft/a", state.Foreign.SHA[:12], "force")
				if now := must[string](t)(h.repo.Head("graft/a")); now != head {
					t.Errorf("the branch moved to %s", now)
				}
				d := delivery(r, "graft/a", change)
				d.Force = true
				if got := must[Delivered](t)(r.Deliver(context.Background(), d)); !got.Changed || h.log(t, "graft/a")[1].SHA != r.BaseCommit() {
					t.Errorf("forced: %+v", got)
				}
			})
		}
	})
}

func TestInspect(t *testing.T) {
	eachBackend(t, func(t *testing.T, h *host) {
		ctx := context.Background()
		r := h.open(t, nil)
		if s := must[State](t)(r.Inspect(ctx, "none")); s.Exists || !s.OnlyOurs || len(s.Commits) > 0 {
			t.Errorf("no branch: %+v", s)
		}
		// A branch at the base or behind it has no commits of its own.
		if err := h.repo.Move("behind", r.BaseCommit()); err != nil {
			t.Fatal(err)
		}
		deliver(t, r, "refs/heads/graft/a", map[string]string{cat: "a"})
		h.commit(t, "main", gitremote.Change{Message: "on", Files: map[string]string{"README.md": "on"}})
		must[bool](t)(r.Fetch(ctx))
		if s := must[State](t)(r.Inspect(ctx, "behind")); !s.Exists || !s.OnlyOurs || len(s.Commits) > 0 {
			t.Errorf("a branch behind the base: %+v", s)
		}
		h.Reset()
		s := must[State](t)(r.Inspect(ctx, "refs/heads/graft/a"))
		if !s.OnlyOurs || len(s.Commits) != 1 || strings.Join(s.Requests(), " ") != "graft/a" || s.Commits[0].Committer != bot || s.Branch != "graft/a" {
			t.Errorf("ours: %+v", s)
		}
		for _, q := range h.Requests() {
			if q.Kind == gitremote.Fetch && (q.Bytes > 1000 || !slices.Contains(q.Lines, "filter tree:0")) {
				t.Errorf("reading one commit took %d bytes: %q", q.Bytes, q.Lines)
			}
		}
		// The committer does not matter: a forge may commit for Graft, and names change.
		h.commit(t, "forge", gitremote.Change{Committer: "GitHub <noreply@example.com>", Message: "x\n\nGraft-Request: x\nGraft-Tree: " + strings.Repeat("0", 40) + "\n"})
		if s := must[State](t)(r.Inspect(ctx, "forge")); s.OnlyOurs {
			t.Errorf("of other content: %+v", s)
		}
		r = h.open(t, func(o *Options) { o.Author = Identity{"Somebody", "else@example.com"} })
		if s := must[State](t)(r.Inspect(ctx, "graft/a")); !s.OnlyOurs || len(s.Commits) != 1 {
			t.Errorf("ours, under another name: %+v", s)
		}
	})
}

// The base moves between read and push, at each possible moment.
func TestBaseMoves(t *testing.T) {
	eachBackend(t, func(t *testing.T, h *host) {
		for _, at := range []gitremote.Kind{gitremote.FetchRefs, gitremote.PushRefs} {
			r := h.open(t, nil)
			var once sync.Once
			h.SetScript(func(q gitremote.Request) gitremote.Fault {
				if q.Kind == at {
					once.Do(func() {
						h.commit(t, "main", gitremote.Change{Message: "theirs", Files: map[string]string{"theirs": string(at)}})
					})
				}
				return gitremote.Fault{}
			})
			d := delivery(r, "graft/"+string(at), map[string]string{cat: string(at)})
			_, err := r.Deliver(context.Background(), d)
			f := failed(t, err, failure.GitRaceLost, "main moved to")
			if !f.Retryable {
				t.Error("a lost race is not retryable")
			}
			if head := must[string](t)(h.repo.Head(d.Branch)); head != "" {
				t.Errorf("pushed anyway, to %s", head)
			}
			if !must[bool](t)(r.Fetch(context.Background())) {
				t.Error("Fetch does not see that the base moved")
			}
			if _, err := r.Deliver(context.Background(), d); failure.Of(err).Code != failure.GitRaceLost {
				t.Errorf("a change made on the old base: %v", err)
			}
			got := deliver(t, r, d.Branch, map[string]string{cat: string(at)})
			if log := h.log(t, d.Branch); log[0].SHA != got.Commit || log[1].Message != "theirs" {
				t.Errorf("%+v", log)
			}
			h.SetScript(nil)
		}
	})
}

// A person pushes to the branch after Graft has read it.
func TestBranchMoves(t *testing.T) {
	eachBackend(t, func(t *testing.T, h *host) {
		r := h.open(t, nil)
		deliver(t, r, "graft/a", map[string]string{cat: "1"})
		for name, at := range map[string]gitremote.Kind{"before the push": gitremote.PushRefs, "within the push": gitremote.Push} {
			var once sync.Once
			h.SetScript(func(q gitremote.Request) gitremote.Fault {
				if q.Kind == at {
					once.Do(func() {
						h.commit(t, "graft/a", gitremote.Change{Message: "theirs", Files: map[string]string{"theirs": name}})
					})
				}
				return gitremote.Fault{}
			})
			d := delivery(r, "graft/a", map[string]string{cat: name})
			d.Force = true
			_, err := r.Deliver(context.Background(), d)
			wantFailure(t, err, failure.GitRaceLost, "graft/a moved to")
			if log := h.log(t, "graft/a"); log[0].Message != "theirs" {
				t.Errorf("%s: a person's commit is gone", name)
			}
			h.SetScript(nil)
		}
	})
}

// Many racers each add a line to one file of one branch. No line is lost or duplicated, and the history is linear.
func TestRace(t *testing.T) {
	eachBackend(t, func(t *testing.T, h *host) {
		racers := effort.Of(t, 3, 8, 20)
		h.commit(t, "main", gitremote.Change{Message: "list", Files: map[string]string{"list": ""}})
		dir := h.checkout(t, "--depth=1")
		var wg sync.WaitGroup
		errs, tries := make([]error, racers), make([]int, racers)
		for i := range racers {
			wg.Go(func() {
				r, err := Open(context.Background(), Options{Dir: dir, Signing: Signing{Author: bot}, TempDir: t.TempDir()})
				if err != nil {
					errs[i] = err
					return
				}
				defer r.Close()
				errs[i] = Retry(context.Background(), 100, 10*time.Millisecond, pause.For, func(attempt int) error {
					tries[i] = attempt
					content, base, err := r.Base(context.Background())
					if err != nil {
						return err
					}
					f, err := content.Open("list")
					if err != nil {
						return err
					}
					defer f.Close()
					list := readAll(t, f)
					_, err = r.Deliver(context.Background(), Delivery{Base: base, Branch: "main", Change: Change{
						Message: fmt.Sprintf("Add %d", i), Requests: []string{fmt.Sprint(i)},
						Files: map[string]File{"list": {Data: fmt.Appendf(list, "%d\n", i)}},
					}})
					return err
				})
			})
		}
		wg.Wait()
		t.Logf("attempts of each: %v, %d in all", tries, sum(tries))
		for i, err := range errs {
			if err != nil {
				t.Errorf("%d: %v", i, err)
			}
		}
		log := h.log(t, "main")
		if len(log) != racers+2 {
			t.Errorf("history has %d commits, want %d", len(log), racers+2)
		}
		seen := map[string]bool{}
		for _, c := range log[:racers] {
			if len(c.Parents) != 1 || seen[c.Message] {
				t.Errorf("%+v", c)
			}
			seen[c.Message] = true
		}
		lines := strings.Fields(must[string](t)(h.repo.Read("main", "list")))
		slices.Sort(lines)
		if len(lines) != racers || len(slices.Compact(lines)) != racers {
			t.Errorf("the list has %v", lines)
		}
		h.sound(t)
	})
}

// Many racers deliver to a branch each. None has to retry because of the others.
func TestBranchesDoNotRace(t *testing.T) {
	eachBackend(t, func(t *testing.T, h *host) {
		racers := effort.Of(t, 4, 8, 20)
		var wg sync.WaitGroup
		for i := range racers {
			r := h.open(t, nil)
			wg.Go(func() {
				if _, err := r.Deliver(context.Background(), delivery(r, fmt.Sprintf("graft/op/%d", i), map[string]string{cat: fmt.Sprint(i)})); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if branches := must[map[string]string](t)(h.repo.Branches()); len(branches) != racers+1 {
			t.Errorf("branches %v", branches)
		}
		h.sound(t)
	})
}

func TestFork(t *testing.T) {
	eachBackend(t, func(t *testing.T, h *host) {
		fork := must[*gitremote.Repo](t)(h.Fork(h.repo, "bot/catalog"))
		mine := func() *Repo {
			r := h.open(t, nil)
			if err := r.PushTo(fork.URL()); err != nil {
				t.Fatal(err)
			}
			return r
		}
		first := deliver(t, mine(), "graft/a", map[string]string{cat: "a"})
		if got := must[string](t)(fork.Head("graft/a")); got != first.Commit {
			t.Errorf("the fork's branch is at %s", got)
		}
		if got := must[string](t)(h.repo.Head("graft/a")); got != "" {
			t.Error("pushed to the fork's parent")
		}
		// The fork lacks the newer base, and Graft still recognizes its own branch there.
		h.commit(t, "main", gitremote.Change{Message: "on", Files: map[string]string{"README.md": "on"}})
		r := mine()
		state := must[State](t)(r.Inspect(context.Background(), "graft/a"))
		if !state.OnlyOurs || len(state.Commits) != 1 {
			t.Errorf("%+v", state)
		}
		if again := deliver(t, r, "graft/a", map[string]string{cat: "a"}); again.Changed {
			t.Errorf("the second time: %+v", again)
		}
		// The base branch of a fork is a branch like any other.
		if err := r.Push(context.Background(), Push{Branch: "main", Commit: first.Commit}); failure.Of(err).Code != failure.Internal {
			t.Errorf("a commit of another run: %v", err)
		}
		must[string](t)(fork.Commit("graft/a", gitremote.Change{Message: "mine"}))
		if state = must[State](t)(r.Inspect(context.Background(), "graft/a")); state.OnlyOurs {
			t.Errorf("%+v", state)
		}
	})
}

func sum(all []int) (n int) {
	for _, one := range all {
		n += one
	}
	return n
}
