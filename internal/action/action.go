// Package action connects Graft to GitHub Actions: inputs, outputs, step summary, annotations and masks.
// Outside of Actions none of it is used.
package action

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/sethvargo/go-githubactions"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/runner"
)

// Action is the workflow run that runs Graft in a step.
type Action struct {
	gh  *githubactions.Action
	env func(string) string
}

// Running returns the run that the environment describes, or nil outside of GitHub Actions.
func Running(env func(string) (string, bool), out *runner.Log) *Action {
	get := func(key string) string {
		v, _ := env(key)
		return v
	}
	if get("GITHUB_ACTIONS") != "true" {
		return nil
	}
	return &Action{
		gh:  githubactions.New(githubactions.WithGetenv(get), githubactions.WithWriter(out.ToRunner())),
		env: get,
	}
}

// Input returns the value of an input, or "" if it was not given.
func (a *Action) Input(name string) string { return a.gh.GetInput(name) }

// Mask hides a secret in the log. Call it before the secret is used.
func (a *Action) Mask(secret string) {
	for _, line := range strings.Split(secret, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			a.gh.AddMask(line)
		}
	}
}

// Output sets an output of the step, byte by byte. The delimiter is random, so that the author of a value
// cannot know it.
func (a *Action) Output(name, value string) error {
	delimiter := rand.Text()
	for strings.Contains(name+value, delimiter) {
		delimiter = rand.Text()
	}
	file, err := os.OpenFile(a.env("GITHUB_OUTPUT"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = fmt.Fprintf(file, "%s<<%s\n%s\n%s\n", name, delimiter, value, delimiter)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		return unwritable("setting the output "+name, err)
	}
	return nil
}

// Summary adds Markdown to the page of the run.
func (a *Action) Summary(markdown string) (err error) {
	defer caught(&err, "writing the summary of the step")
	a.gh.AddStepSummary(markdown)
	return nil
}

// caught converts go-githubactions' panic for an unwritable summary to a failure.
func caught(err *error, doing string) {
	if said := recover(); said != nil {
		*err = unwritable(doing, said)
	}
}

func unwritable(doing string, said any) error {
	return failure.New(failure.Usage, "%s: %v", doing, said).Fix("Let the step write to the files that GITHUB_OUTPUT and GITHUB_STEP_SUMMARY name.")
}

// Group folds the log until the returned function is called.
func (a *Action) Group(title string) func() {
	a.gh.Group(oneLine(title))
	return a.gh.EndGroup
}

// Event returns the name and the body of the event that started the workflow.
func (a *Action) Event() (name string, body []byte, err error) {
	path := a.env("GITHUB_EVENT_PATH")
	if path == "" {
		return "", nil, nil
	}
	body, err = os.ReadFile(path)
	if err != nil {
		return "", nil, failure.New(failure.Usage, "reading the event of the workflow: %w", err).Fix("Run Graft as a step of a workflow, or give --event FILE.")
	}
	return a.env("GITHUB_EVENT_NAME"), body, nil
}

// Fail annotates failures, each once, at its first place in the repository.
func (a *Action) Fail(all []*failure.Error) {
	for _, said := range failure.Distinct(all) {
		f := said.First
		a.at(f.Class+" ("+strconv.Itoa(int(f.Code))+")", f.File, f.Line, f.Col).Errorf("%s", lines(f.Message, said.Also(), f.Remedy))
	}
}

// Warn adds a warning, at its place if it has one. The title of a finding is its id.
func (a *Action) Warn(title, file string, line int, text string) {
	a.at(title, file, line, 0).Warningf("%s", oneLine(text))
}

// Notice adds a notice without a place.
func (a *Action) Notice(text string) { a.gh.Noticef("%s", oneLine(text)) }

func (a *Action) at(title, file string, line, col int) *githubactions.Action {
	fields := map[string]string{"title": title}
	if file != "" {
		fields["file"] = file
	}
	if line > 0 {
		fields["line"] = strconv.Itoa(line)
	}
	if col > 0 {
		fields["col"] = strconv.Itoa(col)
	}
	return a.gh.WithFieldsMap(fields)
}

// lines joins the lines of an annotation, without empty ones.
func lines(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(line string) bool { return line == "" }), "\n")
}

// oneLine stops foreign text from starting a line, and with it a command.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
