package action

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/runner"
)

func running(t *testing.T, env map[string]string) (*Action, *bytes.Buffer) {
	t.Helper()
	env["GITHUB_ACTIONS"] = "true"
	var out bytes.Buffer
	return Running(func(k string) (string, bool) { v, ok := env[k]; return v, ok }, runner.NewLog(&out, true)), &out
}

func TestOutsideOfActions(t *testing.T) {
	if a := Running(func(string) (string, bool) { return "", false }, nil); a != nil {
		t.Error("there is no run to be a step of")
	}
}

func TestInputsAndOutputs(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{}
	for _, name := range []string{"GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"} {
		files[name] = filepath.Join(dir, name)
		if err := os.WriteFile(files[name], nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	hostile := "x\r\n_GitHubActionsFileCommandDelimeter_\rname<<\u2028ghadelimiter_\n\n::y"
	a, _ := running(t, map[string]string{"INPUT_DRY-RUN": " true ", "GITHUB_OUTPUT": files["GITHUB_OUTPUT"], "GITHUB_STEP_SUMMARY": files["GITHUB_STEP_SUMMARY"]})
	if got := a.Input("dry-run"); got != "true" {
		t.Errorf("input %q", got)
	}
	if err := errors.Join(a.Output("name", hostile), a.Output("report", "two\nlines"), a.Summary("# Graft")); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(files["GITHUB_OUTPUT"])
	if err != nil {
		t.Fatal(err)
	}
	delimiters := regexp.MustCompile(`(?:name|report)<<([A-Z2-7]{26,})\n`).FindAllSubmatch(got, -1)
	if len(delimiters) != 2 || bytes.Equal(delimiters[0][1], delimiters[1][1]) {
		t.Fatalf("the delimiters are %q", delimiters)
	}
	want := fmt.Sprintf("name<<%[1]s\n%[2]s\n%[1]s\nreport<<%[3]s\ntwo\nlines\n%[3]s\n", delimiters[0][1], hostile, delimiters[1][1])
	if string(got) != want {
		t.Errorf("the outputs are %q, want %q", got, want)
	}
	for name, want := range map[string]string{"GITHUB_OUTPUT": "two\nlines", "GITHUB_STEP_SUMMARY": "# Graft"} {
		if got, _ := os.ReadFile(files[name]); !strings.Contains(string(got), want) {
			t.Errorf("%s holds %q", name, got)
		}
	}
}

// A runner's file that cannot be written is a failure of the run and not a bug.
func TestFilesThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	a, _ := running(t, map[string]string{"GITHUB_OUTPUT": dir, "GITHUB_STEP_SUMMARY": dir})
	for _, err := range []error{a.Output("result", "created"), a.Summary("# Graft")} {
		if !failure.Is(err, failure.Usage) {
			t.Errorf("got %v", err)
		}
	}
}

// Foreign text cannot start a line, and so cannot be a workflow command.
func TestCommandsCannotBeSmuggled(t *testing.T) {
	a, out := running(t, map[string]string{})
	a.Fail([]*failure.Error{failure.New(failure.EdgeConflict, "inserting x\n::add-mask::y").At("a,b:c.yaml", 3, 5)})
	a.Notice("first\n::set-output name=x::y")
	a.Warn("warning", "a.yaml", 2, "first\n::set-output name=x::y")
	end := a.Group("bundle\n::stop-commands::x")
	end()
	a.Mask("s3cret\nsecond line")
	for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		command, _, _ := strings.Cut(strings.TrimPrefix(line, "::"), "::")
		name, _, _ := strings.Cut(command, " ")
		if !map[string]bool{"error": true, "warning": true, "notice": true, "group": true, "endgroup": true, "add-mask": true}[name] {
			t.Errorf("the line %q is a command of its own", line)
		}
	}
	if !strings.Contains(out.String(), "line=3") || !strings.Contains(out.String(), "col=5") || !strings.Contains(out.String(), "file=a%2Cb%3Ac.yaml") || !strings.Contains(out.String(), "title=edge-conflict (31)") {
		t.Errorf("the annotation lacks its place: %s", out)
	}
}
