package gitrepo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/pause"
	"github.com/olmgraft/graft/internal/testkit/gitremote"
)

func TestDelete(t *testing.T) {
	eachBackend(t, func(t *testing.T, h *host) {
		r := h.open(t, nil)
		got := deliver(t, r, "graft/a", map[string]string{cat: "a"})
		wantFailure(t, r.Delete(context.Background(), "graft/a", r.BaseCommit()), failure.GitRaceLost, "graft/a moved")
		for range 2 {
			if err := r.Delete(context.Background(), "graft/a", got.Commit); err != nil {
				t.Fatal(err)
			}
		}
		if head := must[string](t)(h.repo.Head("graft/a")); head != "" {
			t.Errorf("the branch is at %s", head)
		}
	})
}

func TestRetry(t *testing.T) {
	lost := failure.New(failure.GitRaceLost, "lost")
	n := 0
	if err := Retry(context.Background(), 3, 0, pause.For, func(int) error { n++; return lost }); err != lost || n != 3 { //nolint:errorlint // it is passed on
		t.Errorf("%d attempts, %v", n, err)
	}
	n = 0
	if err := Retry(context.Background(), 3, 0, pause.For, func(at int) error {
		if n++; at < 2 {
			return fmt.Errorf("while: %w", lost)
		}
		return nil
	}); err != nil || n != 2 {
		t.Errorf("%d attempts, %v", n, err)
	}
	n = 0
	if err := Retry(context.Background(), 3, 0, pause.For, func(int) error { n++; return os.ErrExist }); err == nil || n != 1 {
		t.Errorf("%d attempts at something else, %v", n, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	n = 0
	if err := Retry(ctx, 3, time.Hour, pause.For, func(int) error { n++; return lost }); !failure.Is(err, failure.Interrupted) || n != 1 {
		t.Errorf("%d attempts after the end, %v", n, err)
	}
}

// A push that can never succeed is not a lost race.
func TestPushIsRefused(t *testing.T) {
	eachBackend(t, func(t *testing.T, h *host) {
		r := h.open(t, nil)
		deliver(t, r, "graft/a", map[string]string{cat: "a"})
		for branch, want := range map[string]failure.Code{
			"graft/a/b": failure.GitFailed, "graft": failure.GitFailed, "-x": failure.Usage, "a..b": failure.Usage, "": failure.Usage, "a b": failure.Usage, "x.lock": failure.Usage,
		} {
			_, err := r.Deliver(context.Background(), delivery(r, branch, map[string]string{cat: "b"}))
			wantFailure(t, err, want, branch)
		}
		// A commit that is not a descendant of the branch needs force.
		made := must[Commit](t)(r.Commit(context.Background(), Change{Message: "x", Files: map[string]File{cat: {Data: []byte("b")}}}))
		head := must[string](t)(h.repo.Head("graft/a"))
		err := r.Push(context.Background(), Push{Branch: "graft/a", Commit: made.SHA, Expect: head})
		wantFailure(t, err, failure.GitFailed, "does not descend", "force")
	})
}

func TestLocalPathAsRemote(t *testing.T) {
	h := newHost(t, gitremote.GitBackend)
	dir := filepath.Join(t.TempDir(), "work")
	git(t, ".", "clone", "-q", h.repo.Dir(), dir)
	r := h.open(t, func(o *Options) { o.Dir, o.URL = dir, "" })
	got := deliver(t, r, "graft/a", map[string]string{cat: "a"})
	if head := must[string](t)(h.repo.Head("graft/a")); head != got.Commit {
		t.Errorf("the branch is at %q", head)
	}
	if again := deliver(t, r, "graft/a", map[string]string{cat: "a"}); again.Changed {
		t.Errorf("%+v", again)
	}
}
