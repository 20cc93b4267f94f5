package internal_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// workflow is of a workflow what says whom it trusts with what.
type workflow struct {
	Permissions any `yaml:"permissions"`
	Jobs        map[string]struct {
		Permissions any    `yaml:"permissions"`
		Uses        string `yaml:"uses"`
		Steps       []struct {
			Uses string `yaml:"uses"`
		} `yaml:"steps"`
	} `yaml:"jobs"`
}

// mayWrite is what the token of a job may change beyond nothing, by file: no job of another one
// writes.
var mayWrite = map[string]string{
	".github/workflows/catalog-image.yml":  "contents packages pull-requests",
	".github/workflows/graft-packages.yml": "contents pull-requests",
	".github/workflows/graft-sweep.yml":    "contents pull-requests",
	".github/workflows/graft.yml":          "contents pull-requests",
	".github/workflows/release.yml":        "attestations contents id-token packages",
	"internal/cli/workflow.yml":            "contents pull-requests",
	"README.md":                            "contents pull-requests",
	"docs/action.md":                       "contents pull-requests",
	"docs/publish.md":                      "contents pull-requests",
}

var (
	usesPinned = regexp.MustCompile(`uses: ([\w./-]+)@([0-9a-f]{40}) # (v\d+\.\d+\.\d+)$`)
	usesOurs   = regexp.MustCompile(`uses: (olmgraft/graft(/\.github/workflows/[\w-]+\.yml)?@main|\./[\w./-]*)$`)
	yamlBlock  = regexp.MustCompile("(?s)```yaml\n(.*?)```")
)

// Each action of others is named by its commit, one commit for each version, in our own
// workflows and in those that people copy; each job says what its token may do, and no token
// may do more than the file's jobs are known to need.
func TestWorkflows(t *testing.T) {
	var files []string
	for _, pattern := range []string{"../.github/workflows/*.yml", "../internal/cli/workflow.yml", "../*.md", "../docs/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(found), err)
		}
		files = append(files, found...)
	}
	commits, examples := map[string]string{}, 0
	for _, file := range files {
		name := filepath.ToSlash(strings.TrimPrefix(file, ".."+string(filepath.Separator)))
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		holdUses(t, name, string(text), commits)
		sources := []string{string(text)}
		if strings.HasSuffix(name, ".md") {
			sources = nil
			for _, m := range yamlBlock.FindAllStringSubmatch(string(text), -1) {
				if strings.Contains(m[1], "\njobs:") {
					sources = append(sources, m[1])
				}
			}
		}
		writes := map[string]bool{}
		for _, source := range sources {
			examples++
			holdPermissions(t, name, source, writes)
		}
		if got := strings.Join(slices.Sorted(maps.Keys(writes)), " "); got != mayWrite[name] {
			t.Errorf("%s: tokens may write %q, and %q is needed", name, got, mayWrite[name])
		}
	}
	if examples < len(mayWrite) {
		t.Errorf("only %d workflows were read", examples)
	}
}

func holdUses(t *testing.T, name, text string, commits map[string]string) {
	t.Helper()
	for line := range strings.Lines(text) {
		_, uses, ok := strings.Cut(strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "#- ")), "uses: ")
		if !ok || strings.Contains(uses, "`") {
			continue
		}
		line = "uses: " + strings.TrimSpace(uses)
		m := usesPinned.FindStringSubmatch(line)
		switch {
		case m == nil && !usesOurs.MatchString(line):
			t.Errorf("%s: %q names no commit with its version", name, line)
		case m == nil:
		case commits[m[1]+m[3]] == "":
			commits[m[1]+m[3]] = m[2]
		case commits[m[1]+m[3]] != m[2]:
			t.Errorf("%s: %s %s is another commit elsewhere", name, m[1], m[3])
		}
	}
}

func holdPermissions(t *testing.T, name, source string, writes map[string]bool) {
	t.Helper()
	var w workflow
	if err := yaml.Unmarshal([]byte(source), &w); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if len(w.Jobs) == 0 {
		t.Errorf("%s has no jobs", name)
	}
	for job, of := range w.Jobs {
		if w.Permissions == nil && of.Permissions == nil {
			t.Errorf("%s: job %s does not say what its token may do", name, job)
		}
		for _, said := range []any{w.Permissions, of.Permissions} {
			all, ok := said.(map[string]any)
			if said != nil && !ok {
				t.Errorf("%s: job %s may %v", name, job, said)
			}
			for what, level := range all {
				if level == "write" {
					writes[what] = true
				}
			}
		}
	}
}
