// Package workflows checks GitHub's workflows with actionlint: those of this repository, and the one that graft
// init writes. act, which .ci/act/run builds from here, runs one of them.
package workflows

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// lint returns actionlint's messages about workflows. It disables shellcheck and pyflakes, which actionlint
// would run if they are installed.
func lint(t *testing.T, files ...string) string {
	t.Helper()
	out, err := exec.Command(actionlint(t), append([]string{"-shellcheck=", "-pyflakes="}, files...)...).CombinedOutput()
	if err != nil {
		return err.Error() + "\n" + string(out)
	}
	return string(out)
}

// actionlint returns the path of the program that go.mod names. Go builds it if needed.
func actionlint(t *testing.T) string {
	t.Helper()
	cmd := exec.Command("go", "tool", "-n", "actionlint")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("building actionlint: %v\n%s", err, &said)
	}
	return strings.TrimSpace(string(out))
}

func TestWorkflowsOfThisRepository(t *testing.T) {
	files, err := filepath.Glob("../../.github/workflows/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no workflows: %v", err)
	}
	if said := lint(t, files...); said != "" {
		t.Error(said)
	}
}

// TestInit runs graft init in each repository of the script that tests it.
func TestInit(t *testing.T) {
	archive, err := txtar.ParseFile("../../testdata/script/init.txtar")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	repositories := map[string]bool{}
	for _, f := range archive.Files {
		name, rest, inside := strings.Cut(f.Name, "/")
		if !inside || strings.HasPrefix(f.Name, ".") {
			continue
		}
		repositories[name] = repositories[name] || strings.HasPrefix(rest, ".git/")
		file := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"several", "semver", "raw", "odd", "community"} {
		if !repositories[name] {
			t.Errorf("the script has no repository %s", name)
		}
	}
	graft := build(t)
	for name := range repositories {
		t.Run(name, func(t *testing.T) {
			if out, err := exec.Command(graft, "init", filepath.Join(dir, name)).CombinedOutput(); err != nil {
				t.Fatalf("graft init: %v\n%s", err, out)
			}
			workflow := filepath.Join(dir, name, ".github", "workflows", "graft.yml")
			if said := lint(t, workflow); said != "" {
				t.Error(said)
			}
			breakAndLint(t, workflow)
		})
	}
}

// breakAndLint checks that actionlint really reads the file.
func breakAndLint(t *testing.T, workflow string) {
	t.Helper()
	text, err := os.ReadFile(workflow)
	if err != nil {
		t.Fatal(err)
	}
	broken := bytes.Replace(text, []byte("inputs.image"), []byte("inputs.picture"), 1)
	if err := os.WriteFile(workflow, broken, 0o600); err != nil {
		t.Fatal(err)
	}
	if said := lint(t, workflow); !strings.Contains(said, `property "picture" is not defined`) {
		t.Errorf("an input that there is not: %q", said)
	}
}

// build builds the command of this checkout, with flags of go build.
func build(t *testing.T, flags ...string) string {
	t.Helper()
	graft := filepath.Join(t.TempDir(), "graft")
	cmd := exec.Command("go", append(append([]string{"build", "-o", graft}, flags...), "./cmd/graft")...)
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building graft: %v\n%s", err, out)
	}
	return graft
}
