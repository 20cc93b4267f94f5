package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/testkit/gitremote"
	"github.com/olmgraft/graft/internal/testkit/servers"
)

// A workflow's log has a line for each step of a change, in a group that is never empty, and no rewritten line.
func TestStepsInTheLogOfAWorkflow(t *testing.T) {
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
	dir := t.TempDir()
	env := w.Env()
	env["GITHUB_ACTIONS"] = "true"
	for _, name := range []string{"GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"} {
		env[name] = filepath.Join(dir, name)
		if err := os.WriteFile(env[name], nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	steps := []string{"reading the base", "op.v1.1.0: catalog-templates/basic.yaml", "rendering 1 catalog", "verifying 1 catalog", "pushing the branch", "proposing the branch"}
	for _, result := range []string{"created", "unchanged"} {
		var out bytes.Buffer
		args := []string{"publish", "--repository", servers.Repository, "--image", w.Registry.Addr + "/op:v1.1.0"}
		code := Main(context.Background(), args, command.IO{In: strings.NewReader(""), Out: &out, Err: &out, Env: func(key string) (string, bool) {
			v, ok := env[key]
			return v, ok
		}})
		_, group, begun := strings.Cut(out.String(), "::group::publishing op.")
		group, _, ended := strings.Cut(group, "\n::endgroup::\n")
		lines := strings.Split(group, "\n")[1:]
		same := slices.EqualFunc(lines, steps, func(line, step string) bool { return strings.HasPrefix(line, "graft: "+step) })
		if code != 0 || !begun || !ended || !same || strings.Contains(out.String(), "\x1b") || !strings.Contains(out.String(), "op.v1.1.0: "+result+"\n") {
			t.Errorf("%s: exit code %d, steps %q, of\n%s", result, code, lines, out.String())
		}
	}
}
