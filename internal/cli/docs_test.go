package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/cli/publish"
	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/graph"
)

func itoa(n int) string { return strconv.Itoa(n) }

// failuresTable returns the table in docs/failures/README.md.
func failuresTable() string {
	var b strings.Builder
	b.WriteString("| code | class | retry | meaning |\n|---:|---|---|---|\n")
	for _, e := range failure.Table {
		again := ""
		if e.Retryable {
			again = "yes"
		}
		fmt.Fprintf(&b, "| %d | [%s](%s.md) | %s | %s |\n", e.Code, e.Class, e.Class, again, e.Meaning)
	}
	return b.String()
}

// The page of findings is generated.
func TestFindingsPage(t *testing.T) {
	golden(t, "../../docs/findings.md", findingsPage())
}

// findingsPage returns docs/findings.md.
func findingsPage() string {
	var b strings.Builder
	b.WriteString("# Findings of graft verify\n\nA fault that opm validate rejects is an error. A fault that it accepts, and that harms users, is a warning.\n" +
		"`--level ID=error|warning|off`, or `levels` in graft.yaml, changes a level.\n\n| id | level | exit code | opm rejects it | meaning | remedy |\n|---|---|---:|---|---|---|\n")
	for _, r := range graph.Rules {
		opm := ""
		if r.Opm {
			opm = "yes"
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %s | %s | %s |\n", r.ID, r.Level, r.Code, opm, r.Meaning, r.Remedy)
	}
	b.WriteString(olmV1)
	return b.String()
}

// olmV1 says which OLM v1 the findings about it follow.
const olmV1 = `
## OLM v1

Findings that begin with olm-v1- follow operator-controller v1.11 with its default feature gates. They check the bundle that
OLM v1 would choose from the package and from each channel: the highest version, deprecated bundles last. If it cannot install that bundle, it
installs no other. Graft does not report older bundles, which nobody can change, nor bundles that --base has unchanged.

| bundle | OLM v1 |
|---|---|
| olm.package.required, olm.gvk.required, olm.constraint | refuses the bundle |
| no AllNamespaces mode | refuses the bundle, unless the gate SingleOwnNamespaceInstallSupport is on (alpha; on by default in v1.8 only) |
| API services of its own | refuses the bundle |
| webhooks | installs them since v1.6 (WebhookProviderCertManager is on); from v1.3 to v1.5 only with that gate; before, not at all |
| a conversion webhook beside other modes than AllNamespaces | refuses the bundle, as OLM v0 does |
| release of olm.package | uses it only with the gate BundleReleaseSupport (alpha, off); otherwise the build metadata is the release |
| no channel in the ClusterExtension | takes the highest version of all channels, pre-releases too |

A catalog has less than the bundle: olm.csv.metadata has install modes and API services but no webhooks; olm.bundle.object
has the whole CSV. olm-v1-untold names bundles that the catalog does not fully describe; it is off, because this applies to most catalogs.
`

// The manual page is generated.
func TestManPage(t *testing.T) {
	golden(t, "../../docs/graft.1", manPage(root(command.New(command.IO{Env: func(string) (string, bool) { return "", false }}))))
}

// action.yml is generated: the inputs of the action are the flags of graft publish.
func TestActionFile(t *testing.T) {
	golden(t, "../../action.yml", actionFile())
	flags := publish.Command(&command.App{}).Flags()
	for _, in := range publish.Inputs {
		if flags.Lookup(in.Name) == nil {
			t.Errorf("graft publish has no flag --%s", in.Name)
		}
	}
}

// The tables of the action's page are generated from the same lists.
func TestActionPage(t *testing.T) {
	const file = "../../docs/action.md"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	for name, table := range map[string]string{"inputs": inputsTable(), "outputs": outputsTable()} {
		begin, end := "<!-- "+name+" -->\n", "<!-- /"+name+" -->"
		i, j := strings.Index(page, begin), strings.Index(page, end)
		if i < 0 || j < i {
			t.Fatalf("docs/action.md has no place for the %s", name)
		}
		page = page[:i+len(begin)] + "\n" + strings.Trim(table, "\n") + "\n\n" + page[j:]
	}
	golden(t, file, page)
}

// The README's main command gives the result that the README shows.
func TestReadmeCommand(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile(`(?m)^    go run ./cmd/graft (insert .*)$`).FindStringSubmatch(string(text))
	if shown == nil {
		t.Fatal("README.md has no command for the main job")
	}
	t.Chdir("../..")
	var out, errs bytes.Buffer
	code := Main(context.Background(), strings.Fields(shown[1]), command.IO{In: strings.NewReader(""), Out: &out, Err: &errs, Env: os.LookupEnv})
	for _, line := range []string{"+      - name: op.v1.0.1", "+        replaces: op.v1.0.1", "+    image: quay.io/example/op-bundle:v1.0.1"} {
		if code != 0 || !strings.Contains(out.String(), line+"\n") {
			t.Errorf("exit code %d, no line %q in\n%s%s", code, line, out.String(), errs.String())
		}
	}
}

// The picture in docs/verify.md is the output of the command beside it.
func TestPicture(t *testing.T) {
	var out, errs bytes.Buffer
	args := []string{"graph", "-o", "svg", "--base", "../../testdata/catalogs/before.yaml", "../../testdata/catalogs/after.yaml"}
	if code := Main(context.Background(), args, command.IO{In: strings.NewReader(""), Out: &out, Err: &errs, Env: os.LookupEnv}); code != 0 {
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
			t.Errorf("entry %d %s is out of order, occurs twice or is incomplete", e.Code, e.Class)
		}
		last, classes[e.Class] = e.Code, true
	}
}
