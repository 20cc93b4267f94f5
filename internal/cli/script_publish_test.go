package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/olmgraft/graft/internal/testkit/fakegithub"
	"github.com/olmgraft/graft/internal/testkit/servers"
)

// head BRANCH OUT writes the author and the message of the newest commit of a remote branch.
func headOf(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: head BRANCH OUT")
	}
	log, err := serversOf(ts).Repo.Log(args[0])
	ts.Check(err)
	if len(log) == 0 {
		ts.Fatalf("there is no branch %s", args[0])
	}
	text := fmt.Sprintf("author %s\ncommitter %s\n\n%s", log[0].Author, log[0].Committer, log[0].Message)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o644))
}

// changed BRANCH OUT writes the files that the newest commit of a remote branch adds, modifies and deletes.
func changedFiles(ts *testscript.TestScript, _ bool, args []string) {
	repo := serversOf(ts).Repo
	log, err := repo.Log(args[0])
	ts.Check(err)
	names, err := repo.Changed(log[0].SHA)
	ts.Check(err)
	before, err := repo.Modes(log[0].Parents[0])
	ts.Check(err)
	after, err := repo.Modes(log[0].SHA)
	ts.Check(err)
	var out strings.Builder
	for _, name := range names {
		what := "modified"
		if _, stood := before[name]; !stood {
			what = "added"
		} else if _, stands := after[name]; !stands {
			what = "deleted"
		}
		fmt.Fprintf(&out, "%s %s\n", what, name)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(out.String()), 0o644))
}

// branches OUT writes the branches of the remote.
func branches(ts *testscript.TestScript, _ bool, args []string) {
	all, err := serversOf(ts).Repo.Branches()
	ts.Check(err)
	var names strings.Builder
	for name := range all {
		names.WriteString(name + "\n")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(names.String()), 0o644))
}

// workflowToken makes the token a workflow's, which is GitHub's own bot.
func workflowToken(ts *testscript.TestScript, _ bool, _ []string) {
	serversOf(ts).Forge.AddToken(servers.Token, fakegithub.Identity{
		Login: "github-actions[bot]", App: true,
		Permissions: map[string]string{"contents": "write", "pull_requests": "write", "issues": "write", "metadata": "read"},
	})
}

var commitName = regexp.MustCompile(`\b[0-9a-f]{40}\b`)

// outputs FILE OUT writes the outputs of a run except the report, as lines of name and value, without text that
// differs each time.
func outputs(ts *testscript.TestScript, _ bool, args []string) {
	var out strings.Builder
	lines := strings.Split(ts.ReadFile(args[0]), "\n")
	for i := 0; i < len(lines); i++ {
		name, end, ok := strings.Cut(lines[i], "<<")
		if !ok {
			continue
		}
		var value []string
		for i++; i < len(lines) && lines[i] != end; i++ {
			value = append(value, lines[i])
		}
		if name != "report" {
			fmt.Fprintf(&out, "%s=%s\n", name, strings.Join(value, "|"))
		}
	}
	text := commitName.ReplaceAllString(changing.ReplaceAllString(out.String(), "PLAIN"), "COMMIT")
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o644))
}

// quickStart runs the commands below "Try it" in the README, with the image of the script's registry instead of
// the example's.
func quickStart(ts *testscript.TestScript, _ bool, _ []string) {
	readme := ts.ReadFile(filepath.Join(ts.Getenv("ROOT"), "README.md"))
	_, section, _ := strings.Cut(readme, "\n## Try it\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var out strings.Builder
	for _, m := range regexp.MustCompile(`(?m)^    graft (.*)$`).FindAllStringSubmatch(section, -1) {
		command := strings.ReplaceAll(m[1], "quay.io/example/op-bundle", ts.Getenv("REGISTRY")+"/op")
		if err := ts.Exec("graft", strings.Fields(command)...); err != nil {
			ts.Fatalf("graft %s: %v", command, err)
		}
		out.WriteString(ts.ReadFile("stdout"))
	}
	if out.Len() == 0 {
		ts.Fatalf("README.md has no commands to try")
	}
	ts.Check(os.WriteFile(ts.MkAbs("../quickstart.out"), []byte(out.String()), 0o644))
	ts.Check(ts.Exec("cat", "../quickstart.out"))
}

// layout NAME [TITLE...] follows docs/layouts/NAME.md, without its sections, or the section with the title: it
// writes the page's graft.yaml, runs its commands, and checks that their output has the lines of its diff.
func layout(ts *testscript.TestScript, _ bool, args []string) {
	page := strings.ReplaceAll(ts.ReadFile(filepath.Join(ts.Getenv("ROOT"), "docs", "layouts", args[0]+".md")), "quay.io/example/", ts.Getenv("REGISTRY")+"/")
	if len(args) > 1 {
		_, page, _ = strings.Cut(page, "\n## "+strings.Join(args[1:], " ")+"\n")
	}
	page, _, _ = strings.Cut(page, "\n## ")
	if m := regexp.MustCompile("(?s)```yaml\n(# .github/graft.yaml\n.*?)```").FindStringSubmatch(page); m != nil {
		ts.Check(os.MkdirAll(ts.MkAbs(".github"), 0o755))
		ts.Check(os.WriteFile(ts.MkAbs(".github/graft.yaml"), []byte(m[1]), 0o644))
	}
	out := ""
	for _, m := range regexp.MustCompile(`(?m)^    graft (.*)$`).FindAllStringSubmatch(page, -1) {
		ts.Check(ts.Exec("graft", strings.Fields(m[1])...))
		out += ts.ReadFile("stdout")
	}
	diff := regexp.MustCompile("(?s)```diff\n(.*?)```").FindStringSubmatch(page)
	if out == "" || diff == nil {
		ts.Fatalf("docs/layouts/%s.md has no command, or no diff", args[0])
	}
	for line := range strings.Lines(diff[1]) {
		line = strings.TrimSuffix(line, "\n")
		_, after, found := strings.Cut(out, "\n"+line+"\n")
		if strings.HasSuffix(line, "@sha256:...") {
			_, after, found = strings.Cut(out, "\n"+strings.TrimSuffix(line, "..."))
		}
		if !found {
			ts.Fatalf("docs/layouts/%s.md shows a line that is not in the output: %s", args[0], line)
		}
		out = "\n" + after
	}
}

// report FILE checks a report with its schema.
func holdReport(ts *testscript.TestScript, _ bool, args []string) {
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join(ts.Getenv("ROOT"), "docs", "report.schema.json"))
	ts.Check(err)
	report, err := jsonschema.UnmarshalJSON(strings.NewReader(ts.ReadFile(args[0])))
	ts.Check(err)
	if err := schema.Validate(report); err != nil {
		ts.Fatalf("%v", err)
	}
}
