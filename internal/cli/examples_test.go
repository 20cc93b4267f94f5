package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/olmgraft/graft/internal/cli/publish"
	"github.com/olmgraft/graft/internal/command"
)

// init writes the repository's example without the guard for this repository.
func TestInitWritesTheExample(t *testing.T) {
	text, err := os.ReadFile("../../.github/workflows/graft.yml")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(text), "\n")
	example = regexp.MustCompile(`(?m)^    (# The repository of Graft|if: github.repository).*\n`).ReplaceAllString(example, "")
	if example != workflowText {
		t.Error("internal/cli/workflow.yml and .github/workflows/graft.yml differ")
	}
}

// The examples and the pages name existing inputs.
func TestExamplesNameInputs(t *testing.T) {
	workflows, err := filepath.Glob("../../.github/workflows/*.yml")
	if err != nil || len(workflows) == 0 {
		t.Fatal("there are no workflows")
	}
	found := 0
	for _, file := range workflows {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var workflow struct {
			Jobs map[string]struct {
				Steps []struct {
					Uses string
					With map[string]any
				}
			}
		}
		if err := yaml.Unmarshal(text, &workflow); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, job := range workflow.Jobs {
			for _, step := range job.Steps {
				if !strings.HasPrefix(step.Uses, "olmgraft/graft@") {
					continue
				}
				found++
				for name := range step.With {
					isInput(t, file, name)
				}
			}
		}
	}
	if found < 3 {
		t.Errorf("only %d steps use Graft", found)
	}
	for _, file := range []string{"../../deploy/tekton/graft-publish.yaml"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(text, new(any)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		for _, m := range regexp.MustCompile(`- --([a-z-]+)=`).FindAllStringSubmatch(string(text), -1) {
			isInput(t, file, m[1])
		}
	}
}

func isInput(t *testing.T, file, name string) {
	t.Helper()
	if !slices.ContainsFunc(publish.Inputs, func(in publish.Input) bool { return in.Name == name }) {
		t.Errorf("%s: there is no input %s", file, name)
	}
}

// Every command on the pages has an existing verb and existing flags.
func TestPagesNameFlags(t *testing.T) {
	checked := 0
	for _, file := range pages(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile("(?m)(?:^    |`)(?:go run \\./cmd/)?graft ([a-z][^`\n]*)").FindAllStringSubmatch(string(text), -1) {
			checked++
			if err := names(m[1]); err != nil {
				t.Errorf("%s: graft %s: %v", file, m[1], err)
			}
		}
	}
	if checked < 40 {
		t.Errorf("only %d commands were found", checked)
	}
}

// names reports a verb or a flag of a command that does not exist.
func names(line string) error {
	root := root(&command.App{})
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd("completion")
	verb, _, err := root.Find(strings.Fields(line))
	if err != nil {
		return err
	}
	if verb == root {
		return fmt.Errorf("there is no such verb")
	}
	for _, m := range regexp.MustCompile(`(?:^|[\s\[|])--([a-z][a-z-]*)`).FindAllStringSubmatch(line, -1) {
		if verb.Flag(m[1]) == nil && m[1] != "help" {
			return fmt.Errorf("it has no flag --%s", m[1])
		}
	}
	return nil
}
