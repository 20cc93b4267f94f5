package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/olmgraft/graft/internal/testkit/gitremote"
)

var (
	actSection = regexp.MustCompile(`(?s)\n## Try it with act\n(.*?)\n## `)
	actLine    = regexp.MustCompile(`(?m)^    act .*$`)
	firstLines = regexp.MustCompile(`(?m)^    .*\n(?:    .*\n)*`)
)

// documented runs the lines for act in docs/action.md, with another image and arguments that find everything on
// this machine. The job runs in a container. The run must be a dry run and say so.
func (s *session) documented(version string) error {
	page, err := os.ReadFile(filepath.Join("docs", "action.md"))
	if err != nil {
		return err
	}
	lines := firstLines.FindString(actSection.FindString(string(page)))
	lines = strings.ReplaceAll(lines, "quay.io/example/op-bundle:v1.2.3", s.Registry.Addr+"/example/op-bundle:v"+version)
	if len(actLine.FindAllString(lines, -1)) != 1 || !strings.Contains(lines, version) {
		return fmt.Errorf("docs/action.md has the lines\n%s", lines)
	}
	began, pushes, pulls := time.Now(), s.Git.Count(gitremote.Push), len(s.PullRequests())
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	args := append([]string{"-ec", actLine.ReplaceAllString(lines, `$0 "$$@"`), "-", "-P", "ubuntu-latest=localhost/runner", "--env", "OUTPUTS_FILE=/dev/null"},
		s.here(run{workflow: "graft.yml", action: s.released}, filepath.Join(s.work, "actions"))...)
	cmd := exec.CommandContext(ctx, "sh", args...)
	cmd.Dir = filepath.Join(s.work, "catalog")
	out, err := cmd.CombinedOutput()
	for _, part := range []string{"act gives no token: this is a dry run.", "op.v" + version + ": planned", "+  - name: op.v" + version} {
		if !strings.Contains(string(out), part) {
			err = errors.Join(err, fmt.Errorf("docs/action.md, with act: %q is not said", part))
		}
	}
	if s.Git.Count(gitremote.Push) != pushes || len(s.PullRequests()) != pulls {
		err = errors.Join(err, errors.New("docs/action.md, with act: something was pushed"))
	}
	if err != nil {
		return errors.Join(err, errors.New(string(out)))
	}
	fmt.Printf("%s: the lines of docs/action.md: planned (%.1f s)\n", version, time.Since(began).Seconds())
	return nil
}
