package cli

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/olmgraft/graft/internal/cli/publish"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/graph"
	shown "github.com/olmgraft/graft/internal/testkit/pages"
)

// explained is a kind of names, and the page with a table that explains each of them.
type explained struct {
	page, title string
	names       []string
}

func references(t *testing.T) []explained {
	t.Helper()
	inputs := explained{page: "docs/action.md", title: "input"}
	for _, in := range publish.Inputs {
		inputs.names = append(inputs.names, in.Name)
	}
	outputs := explained{page: "docs/action.md", title: "output"}
	for _, out := range publish.Outputs {
		outputs.names = append(outputs.names, out.Name)
	}
	codes := explained{page: "docs/failures/README.md", title: "code"}
	for _, e := range failure.Table {
		codes.names = append(codes.names, strconv.Itoa(int(e.Code)))
	}
	findings := explained{page: "docs/findings.md", title: "id"}
	for _, r := range graph.Rules {
		findings.names = append(findings.names, r.ID)
	}
	return []explained{
		inputs, outputs, codes, findings,
		{"docs/configuration.md", "Key", schemaKeys(t, "../../internal/config/graft.schema.json")},
		{"docs/relay-reference.md", "Key", schemaKeys(t, "../../internal/relay/relay.schema.json")},
	}
}

// schemaKeys returns the names of all properties of a schema.
func schemaKeys(t *testing.T, file string) []string {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var schema any
	if err := json.Unmarshal(src, &schema); err != nil {
		t.Fatal(err)
	}
	keys := map[string]bool{}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			if properties, ok := v["properties"].(map[string]any); ok {
				for name := range properties {
					keys[name] = true
				}
			}
			for _, item := range v {
				walk(item)
			}
		}
	}
	walk(schema)
	var all []string
	for name := range keys {
		all = append(all, name)
	}
	return all
}

// One row of one page explains each input, output, key, code and finding. No row explains a missing one.
func TestReferencePages(t *testing.T) {
	all := shown.Read(t, "../..")
	for _, ref := range references(t) {
		if len(ref.names) < 15 {
			t.Errorf("%s: only %d names were found", ref.page, len(ref.names))
		}
		held := 0
		for _, p := range all {
			for _, rows := range p.Tables {
				if rows[0] != ref.title || 2*ref.has(rows) < len(ref.names) {
					continue
				}
				if held++; p.File != ref.page || held > 1 {
					t.Errorf("%s explains each %s again", p.File, ref.title)
				}
				holdRows(t, ref, rows[1:])
			}
		}
		if held == 0 {
			t.Errorf("%s has no table for each %s", ref.page, ref.title)
		}
	}
}

// has returns the number of names for which a table has rows.
func (ref explained) has(rows []string) (n int) {
	for _, row := range rows {
		if slices.Contains(ref.names, row[strings.LastIndexByte(row, '.')+1:]) {
			n++
		}
	}
	return n
}

func holdRows(t *testing.T, ref explained, rows []string) {
	t.Helper()
	has := map[string]bool{}
	for i, row := range rows {
		if slices.Contains(rows[:i], row) {
			t.Errorf("%s explains %s twice", ref.page, row)
		}
		parts := strings.Split(strings.ReplaceAll(row, "[]", ""), ".")
		has[parts[len(parts)-1]] = true
		for _, part := range parts {
			if !slices.Contains(ref.names, part) {
				t.Errorf("%s explains %s, which does not exist", ref.page, row)
			}
		}
	}
	for _, name := range ref.names {
		if !has[name] {
			t.Errorf("%s does not explain %s", ref.page, name)
		}
	}
}

// The manual page lists exactly the flags of a verb in its section.
func TestManPageHasFlags(t *testing.T) {
	text, err := os.ReadFile("../../docs/graft.1")
	if err != nil {
		t.Fatal(err)
	}
	page, found := strings.ReplaceAll(string(text), `\-`, "-"), 0
	for name, verb := range verbTree().verbs {
		if verb.Hidden || verb.HasParent() && verb.Parent().Hidden || verb.Name() == "help" || strings.HasPrefix(name, "completion") {
			continue
		}
		_, part, ok := strings.Cut(page, "\n.SS graft "+strings.TrimPrefix(strings.TrimSuffix(verb.UseLine(), " [flags]"), "graft ")+"\n")
		if !ok {
			t.Errorf("the manual page lacks graft %s", name)
			continue
		}
		part, _, _ = strings.Cut(part, "\n.S")
		var has, want []string
		for _, m := range regexp.MustCompile(`(?m)^\.B (?:-[a-z], )?--([a-z-]+)`).FindAllStringSubmatch(part, -1) {
			has = append(has, m[1])
		}
		verb.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && f.Name != "help" {
				want = append(want, f.Name)
			}
		})
		if found += len(has); !slices.Equal(has, want) {
			t.Errorf("the manual page of graft %s has the flags %q, want %q", name, has, want)
		}
	}
	if found < 200 {
		t.Errorf("only %d flags were found", found)
	}
}

var (
	bareFlag = regexp.MustCompile(`^--([a-z][a-z-]*)`)
	likeKey  = regexp.MustCompile(`^([a-z]+(?:[A-Z][a-z]*)+|[a-z]+(?:\.[a-z][A-Za-z]*)+)(?:: .*)?$`)
)

// namesOfOthers maps the flags and keys of other programs that pages mention to the program.
var namesOfOthers = map[string]string{
	"--env": "docker", "--cache-dir": "opm",
	"envFrom": "Kubernetes", "holderIdentity": "Kubernetes", "renewTime": "Kubernetes", "installPlanApproval": "OLM",
}

// Flags and keys in the pages' code exist.
func TestPagesNameWhatExists(t *testing.T) {
	tree := verbTree()
	flags := map[string]bool{"help": true, "version": true}
	for name := range tree.others {
		_, flag, _ := strings.Cut(name, " --")
		flags[flag] = true
	}
	found := 0
	for _, p := range shown.Read(t, "../..") {
		for _, s := range p.Spans {
			if m := bareFlag.FindStringSubmatch(s.Text); m != nil {
				found++
				if !flags[m[1]] && !tree.anyHas(m[1]) && namesOfOthers["--"+m[1]] == "" {
					t.Errorf("%s:%d: no verb has the flag --%s", p.File, s.Line, m[1])
				}
			}
			if m := likeKey.FindStringSubmatch(s.Text); m != nil && !isFile.MatchString(m[1]) {
				found++
				if namesOfOthers[m[1]] == "" && !strings.Contains(tree.sources, m[1]) && slices.ContainsFunc(strings.Split(m[1], "."), func(part string) bool { return !tree.knows(part) }) {
					t.Errorf("%s:%d: nothing is named %s", p.File, s.Line, s.Text)
				}
			}
		}
	}
	if found < 200 {
		t.Errorf("only %d names were found", found)
	}
}

var isFile = regexp.MustCompile(`\.(mod|yaml|yml|json|jsonl|md|go|lock|sum|conf|crt|key|tar|png|io|com|invalid|svg|html|env|txtar|toml)$`)

func (tr *tree) anyHas(flag string) bool {
	for _, verb := range tr.verbs {
		if verb.Flag(flag) != nil {
			return true
		}
	}
	return false
}
