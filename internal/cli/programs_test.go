package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/olmgraft/graft/internal/cli"
	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/demo"
	"github.com/olmgraft/graft/internal/failure"
	relay "github.com/olmgraft/graft/internal/relay/command"
	"github.com/olmgraft/graft/internal/testkit/peak"
)

var programs = map[string]func(context.Context, []string, command.IO) int{"graft": cli.Main, "graft-demo": demo.Main, "graft-relay": relay.Main}

// wrongRemedy is the exit code of a run whose remedy names a flag that the verb does not have. No failure has
// this code.
const wrongRemedy = 98

// helpers are programs of tests.
var helpers = map[string]func(){}

// The test binary is in $PATH under the programs' names.
func TestMain(m *testing.M) {
	named := maps.Clone(helpers)
	for name, main := range programs {
		named[name] = func() {
			stdio := command.Process()
			var printed bytes.Buffer
			if name == "graft" && !oneFile(os.Stdout, os.Stderr) {
				stdio.Err = io.MultiWriter(os.Stderr, &printed)
			}
			code := main(context.Background(), os.Args[1:], stdio)
			if err := peak.Note(); err != nil {
				panic(err)
			}
			if err := cli.RemedyFault(os.Args[1:], printed.String()); err != nil {
				fmt.Fprintf(os.Stderr, "a remedy that does not work with the verb at hand: %v\n", err)
				code = wrongRemedy
			}
			os.Exit(code)
		}
	}
	testscript.Main(m, named)
}

// oneFile reports whether both are the same file. Graft then merges its outputs.
func oneFile(a, b *os.File) bool {
	x, err := a.Stat()
	y, otherwise := b.Stat()
	return err == nil && otherwise == nil && os.SameFile(x, y)
}

// The flags of the other programs on the pages exist.
func TestPagesNamePrograms(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, file := range append(pages, "../../README.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile("(?m)(?:^    |`)(?:go run \\./cmd/)?graft-(demo|relay)\\b([^`\n]*)").FindAllStringSubmatch(string(text), -1) {
			var help bytes.Buffer
			args := []string{"--help"}
			if verb := regexp.MustCompile(`^ ([a-z]+)\b`).FindStringSubmatch(m[2]); verb != nil {
				args = append(verb[1:], args...)
			}
			programs["graft-"+m[1]](context.Background(), args, command.IO{Out: &help})
			for _, flag := range regexp.MustCompile(`--[a-z][a-z-]*`).FindAllString(m[2], -1) {
				if checked++; !strings.Contains(help.String(), flag+" ") {
					t.Errorf("%s: graft-%s has no flag %s", file, m[1], flag)
				}
			}
		}
	}
	if checked < 5 {
		t.Errorf("only %d flags were found", checked)
	}
}

// The pages of failure codes are generated: a change of the table makes them stale. Their examples come from
// the demo.
func TestFailurePages(t *testing.T) {
	var out, errs bytes.Buffer
	if code := demo.Main(context.Background(), []string{"--json"}, command.IO{In: strings.NewReader(""), Out: &out, Err: &errs, Env: func(string) (string, bool) { return "", false }}); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	var shown demo.Report
	if err := json.Unmarshal(out.Bytes(), &shown); err != nil {
		t.Fatal(err)
	}
	examples := map[failure.Code]demo.Failed{}
	for _, f := range shown.Failures {
		examples[failure.Code(f.Code)] = f
	}
	cli.Golden(t, "../../docs/failures/README.md", failuresPage())
	pages, err := filepath.Glob("../../docs/failures/*.md")
	if err != nil || len(pages) != len(failure.Table)+1 && !*cli.Update {
		t.Errorf("%d pages, %v", len(pages), err)
	}
	for _, e := range failure.Table {
		cli.Golden(t, "../../docs/failures/"+e.Class+".md", failurePage(e, examples[e.Code]))
	}
}

// failuresPage returns the list of all codes.
func failuresPage() string {
	var b strings.Builder
	b.WriteString("# Failure codes\n\nThe exit code of every verb. Codes are never reused and never change their meaning. `graft explain CODE` prints an entry.\n\n" +
		"If a run has several failures, the exit code is that of the first in this order: 130, 1, 2, 3, 10 to 14, 20 to 25,\n" +
		"30 to 34, 50, 40, 43, 41, 42, 44, then the others by number.\n\n" +
		"A failure without \"yes\" below can still be retryable, such as a refused connection to a git host. The output `retryable`\n" +
		"and the report have the value for each run.\n\n" +
		cli.FailuresTable())
	return b.String()
}

func failurePage(e failure.Entry, example demo.Failed) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\nExit code %d; %s.\n\n%s\n\n**Cause.** %s\n\n**Remedy.** %s\n", e.Class, e.Code, cli.Retry(e), e.Meaning, e.Cause, e.Remedy)
	if example.Message != "" {
		said := cli.Changing.ReplaceAllStringFunc(example.Message, func(s string) string {
			if strings.HasPrefix(s, "sha256:") {
				return "sha256:..."
			}
			return "registry.example"
		})
		said = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC|\b[0-9a-f]{40}\b|\b[0-9a-f]{12}\b`).ReplaceAllString(said, "...")
		fmt.Fprintf(&b, "\n**Example.** In `graft-demo`: %s.\n\n```\n$ %s\n%s```\n", example.By, cli.Changing.ReplaceAllString(example.Command, "registry.example"), said)
	}
	return b.String()
}
