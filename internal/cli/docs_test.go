package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/graph"
)

func itoa(n int) string { return strconv.Itoa(n) }

// The pages of failure codes are generated: a change of the table without them is stale.
// What a failure says is what the demo shows of it.
func TestFailurePages(t *testing.T) {
	var out, errs bytes.Buffer
	if code := Main(context.Background(), []string{"demo", "--json"}, IO{In: strings.NewReader(""), Out: &out, Err: &errs, Env: func(string) (string, bool) { return "", false }}); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	var shown demoReport
	if err := json.Unmarshal(out.Bytes(), &shown); err != nil {
		t.Fatal(err)
	}
	examples := map[failure.Code]demoFailed{}
	for _, f := range shown.Failures {
		examples[failure.Code(f.Code)] = f
	}
	golden(t, "../../docs/failures/README.md", failuresPage())
	pages, err := filepath.Glob("../../docs/failures/*.md")
	if err != nil || len(pages) != len(failure.Table)+1 && !*update {
		t.Errorf("%d pages, %v", len(pages), err)
	}
	for _, e := range failure.Table {
		golden(t, "../../docs/failures/"+e.Class+".md", failurePage(e, examples[e.Code]))
	}
}

// failuresPage is the list of all codes.
func failuresPage() string {
	var b strings.Builder
	b.WriteString("# Failure codes\n\nThe exit code of every verb. A code never changes its meaning and is never given to another\n" +
		"failure. Of several failures in one run the exit code is that of the first in this order: 2, 3,\n" +
		"10 to 14, 20 to 25, 30 to 34, 50, 40, 43, 41, 42. `graft explain CODE` prints an entry.\n\n" +
		"A failure of another code is retryable too where its fault may pass, such as a connection to a git host that was\n" +
		"refused: the output `retryable` and the report tell of the one at hand.\n\n" +
		failuresTable(""))
	return b.String()
}

// failuresTable stands in the README as well.
func failuresTable(dir string) string {
	var b strings.Builder
	b.WriteString("| code | class | retry | meaning |\n|---:|---|---|---|\n")
	for _, e := range failure.Table {
		again := ""
		if e.Retryable {
			again = "yes"
		}
		fmt.Fprintf(&b, "| %d | [%s](%s%s.md) | %s | %s |\n", e.Code, e.Class, dir, e.Class, again, e.Meaning)
	}
	return b.String()
}

func failurePage(e failure.Entry, example demoFailed) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\nExit code %d; %s.\n\n%s\n\n**Cause.** %s\n\n**Remedy.** %s\n", e.Class, e.Code, retry(e), e.Meaning, e.Cause, e.Remedy)
	if example.Message != "" {
		said := changing.ReplaceAllStringFunc(example.Message, func(s string) string {
			if strings.HasPrefix(s, "sha256:") {
				return "sha256:..."
			}
			return "registry.example"
		})
		said = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC|\b[0-9a-f]{40}\b|\b[0-9a-f]{12}\b`).ReplaceAllString(said, "...")
		fmt.Fprintf(&b, "\n**Example.** In `graft demo`: %s.\n\n```\n$ %s\n%s```\n", example.By, changing.ReplaceAllString(example.Command, "registry.example"), said)
	}
	return b.String()
}

// The page of findings is generated too.
func TestFindingsPage(t *testing.T) {
	golden(t, "../../docs/findings.md", findingsPage())
}

// findingsPage is docs/findings.md.
func findingsPage() string {
	var b strings.Builder
	b.WriteString("# Findings of graft verify\n\nWhat opm validate rejects is an error. What it accepts though users suffer from it is a warning.\n" +
		"`--level ID=error|warning|off`, or `levels` in graft.yaml, changes a level.\n\n| id | level | exit code | opm rejects it | meaning | remedy |\n|---|---|---:|---|---|---|\n")
	for _, r := range graph.Rules {
		opm := ""
		if r.Opm {
			opm = "yes"
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %s | %s | %s |\n", r.ID, r.Level, r.Code, opm, r.Meaning, r.Remedy)
	}
	return b.String()
}

// So is the manual page.
func TestManPage(t *testing.T) {
	golden(t, "../../docs/graft.1", manPage((&app{IO: IO{Env: func(string) (string, bool) { return "", false }}}).root()))
}

// So is action.yml: the inputs of the action are the flags of graft publish.
func TestActionFile(t *testing.T) {
	golden(t, "../../action.yml", actionFile())
	flags := (&app{IO: IO{Env: func(string) (string, bool) { return "", false }}}).publishCommand().Flags()
	for _, in := range publishInputs {
		if flags.Lookup(in.name) == nil {
			t.Errorf("graft publish has no flag --%s", in.name)
		}
	}
}

// The tables of the README are made of the same lists.
func TestReadmeTables(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme := string(text)
	for name, table := range map[string]string{"inputs": inputsTable(), "outputs": outputsTable(), "failures": failuresTable("docs/failures/")} {
		begin, end := "<!-- "+name+" -->\n", "<!-- /"+name+" -->"
		i, j := strings.Index(readme, begin), strings.Index(readme, end)
		if i < 0 || j < i {
			t.Fatalf("README.md has no place for the %s", name)
		}
		readme = readme[:i+len(begin)] + "\n" + strings.Trim(table, "\n") + "\n\n" + readme[j:]
	}
	golden(t, "../../README.md", readme)
}

// The main job's command in the README does what the README says.
func TestReadmeCommand(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	command := regexp.MustCompile(`(?m)^    go run ./cmd/graft (insert .*)$`).FindStringSubmatch(string(text))
	if command == nil {
		t.Fatal("README.md has no command for the main job")
	}
	t.Chdir("../..")
	var out, errs bytes.Buffer
	code := Main(context.Background(), strings.Fields(command[1]), IO{In: strings.NewReader(""), Out: &out, Err: &errs, Env: os.LookupEnv})
	for _, line := range []string{"+      - name: op.v1.0.1", "+        replaces: op.v1.0.1", "+    image: quay.io/example/op-bundle:v1.0.1"} {
		if code != 0 || !strings.Contains(out.String(), line+"\n") {
			t.Errorf("exit code %d, no line %q in\n%s%s", code, line, out.String(), errs.String())
		}
	}
}

// The picture of the README is what the command beside it draws.
func TestReadmePicture(t *testing.T) {
	var out, errs bytes.Buffer
	args := []string{"graph", "-o", "svg", "--base", "../../testdata/catalogs/before.yaml", "../../testdata/catalogs/after.yaml"}
	if code := Main(context.Background(), args, IO{In: strings.NewReader(""), Out: &out, Err: &errs, Env: os.LookupEnv}); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	golden(t, "../../docs/graph.svg", out.String())
}

func golden(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is stale: go test ./internal/cli -update rewrites it", path)
	}
}

func TestTableIsComplete(t *testing.T) {
	last := failure.Code(-1)
	classes := map[string]bool{}
	for _, e := range failure.Table {
		if e.Code <= last || classes[e.Class] || e.Meaning == "" || e.Cause == "" || e.Remedy == "" {
			t.Errorf("entry %d %s is out of order, stands there twice or is incomplete", e.Code, e.Class)
		}
		last, classes[e.Class] = e.Code, true
	}
}
