package cli

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/testkit/fakegithub"
	"github.com/olmgraft/graft/internal/testkit/gitremote"
	"github.com/olmgraft/graft/internal/testkit/servers"
)

// Graft notices if the base moves before GitHub makes the commit, and starts again on the new base.
func TestBaseMovesBeforeTheAPICommits(t *testing.T) {
	w, err := servers.Start(gitremote.GoBackend)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	pushVersion(t, w, "1.0.0")
	pushVersion(t, w, "1.1.0")
	if err := w.Create(map[string]string{
		"catalog-templates/basic.yaml": strings.ReplaceAll(raceTemplate, "REGISTRY", w.Registry.Addr), ".github/graft.yaml": raceConfig,
	}); err != nil {
		t.Fatal(err)
	}
	moves := 0
	w.Forge.SetScript(func(r fakegithub.Request) *fakegithub.Fault {
		if r.Method == http.MethodGet && strings.HasSuffix(r.Path, "/git/ref/heads/main") && moves == 0 {
			moves++
			if _, err := w.Repo.Commit(gitremote.DefaultBranch, gitremote.Change{Message: "Meanwhile", Files: map[string]string{"README.md": "new\n"}}); err != nil {
				t.Error(err)
			}
		}
		return nil
	})
	var out bytes.Buffer
	args := []string{"publish", "--repository", servers.Repository, "--commit-method", "api", "--image", w.Registry.Addr + "/op:v1.1.0"}
	code := Main(context.Background(), args, command.IO{In: strings.NewReader(""), Out: &out, Err: &out, Env: func(key string) (string, bool) {
		v, ok := w.Env()[key]
		return v, ok
	}})
	if code != 0 || moves != 1 {
		t.Fatalf("exit code %d, %d moves\n%s", code, moves, out.String())
	}
	base, baseErr := w.Repo.Head(gitremote.DefaultBranch)
	log, err := w.Repo.Log("graft/op/rolling")
	if err != nil || baseErr != nil || len(log) < 2 || log[1].SHA != base {
		t.Errorf("the branch is not one commit on the base %s: %v, %v, %v", base, log, err, baseErr)
	}
}
