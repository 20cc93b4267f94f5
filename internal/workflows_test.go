package internal_test

import (
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mayWrite lists the permissions to write of the jobs of each file. No other job may write.
var mayWrite = map[string]string{
	".github/workflows/catalog-image.yml":  "contents packages pull-requests",
	".github/workflows/graft-packages.yml": "contents pull-requests",
	".github/workflows/graft-sweep.yml":    "contents pull-requests",
	".github/workflows/graft.yml":          "contents pull-requests",
	".github/workflows/release.yml":        "attestations contents id-token packages pull-requests",
	"internal/cli/workflow.yml":            "contents pull-requests",
	"README.md":                            "contents pull-requests",
	"docs/action.md":                       "contents pull-requests",
	"docs/publish.md":                      "contents pull-requests",
}

var (
	usesPinned = regexp.MustCompile(`uses: ([\w./-]+)@([0-9a-f]{40}) # (v\d+\.\d+\.\d+)$`)
	usesHere   = regexp.MustCompile(`uses: \./[\w./-]*$`)
	ours       = regexp.MustCompile(`olmgraft/graft(?:/[\w./-]*)?@(\S+(?: # .*)?)`)
	oursPinned = regexp.MustCompile(`^[0-9a-f]{40} # (v\d+\.\d+\.\d+|no release yet)$`)
	yamlBlock  = regexp.MustCompile("(?s)```yaml\n(.*?)```")
)

// copied returns the files with workflows: ours, and those that people copy.
func copied(t *testing.T, root string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, file)
		name = filepath.ToSlash(name)
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && name != ".github" && name != "internal" && name != "internal/cli" && name != ".github/workflows" && !strings.HasPrefix(name, "docs"):
			return filepath.SkipDir
		case strings.HasPrefix(name, ".github/workflows/") || name == "internal/cli/workflow.yml" || strings.HasSuffix(name, ".md"):
			files = append(files, name)
		}
		return nil
	})
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	return files
}

// workflowsIn returns the workflows of a file: the file itself, or the examples of a page.
func workflowsIn(name, text string) (all []string) {
	if !strings.HasSuffix(name, ".md") {
		return []string{text}
	}
	for _, m := range yamlBlock.FindAllStringSubmatch(text, -1) {
		if strings.Contains(m[1], "\njobs:") {
			all = append(all, m[1])
		}
	}
	return all
}

// In our workflows and in those that people copy: each action is named by its commit, one commit for each
// version; each job declares its token's permissions, and none exceeds the list in mayWrite; and no rule of
// breaches is broken.
func TestWorkflows(t *testing.T) {
	commits, examples, read := map[string]string{}, 0, map[string]bool{}
	for _, name := range copied(t, "..") {
		text, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		holdUses(t, name, string(text), commits)
		writes := map[string]bool{}
		for _, source := range workflowsIn(name, string(text)) {
			examples++
			for _, b := range breaches(t, source, writes) {
				t.Errorf("%s: %s", name, b)
			}
		}
		read[name] = true
		if got := strings.Join(slices.Sorted(maps.Keys(writes)), " "); got != mayWrite[name] {
			t.Errorf("%s: tokens may write %q, and %q is needed", name, got, mayWrite[name])
		}
	}
	for name := range mayWrite {
		if !read[name] {
			t.Errorf("%s was not read", name)
		}
	}
	if examples < len(mayWrite) {
		t.Errorf("only %d workflows were read", examples)
	}
}

// holdUses checks that Graft itself is named by one release too.
func holdUses(t *testing.T, name, text string, commits map[string]string) {
	t.Helper()
	hold := func(of, commit string) {
		if commits[of] == "" {
			commits[of] = commit
		} else if commits[of] != commit {
			t.Errorf("%s: %s is %s, and %s elsewhere", name, of, commit, commits[of])
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if m := ours.FindStringSubmatch(line); m != nil && !strings.HasPrefix(m[1], "latest") {
			if hold("olmgraft/graft", m[1]); !oursPinned.MatchString(m[1]) {
				t.Errorf("%s: %q names Graft by no commit with its version", name, line)
			}
			continue
		}
		_, uses, ok := strings.Cut(strings.TrimLeft(line, "#- "), "uses: ")
		if !ok || strings.Contains(uses, "`") {
			continue
		}
		line = "uses: " + strings.TrimSpace(uses)
		if m := usesPinned.FindStringSubmatch(line); m != nil {
			hold(m[1]+" "+m[3], m[2])
		} else if !usesHere.MatchString(line) {
			t.Errorf("%s: %q names no commit with its version", name, line)
		}
	}
}

// A release sets its own version in all copied workflows and changes nothing else.
func TestPin(t *testing.T) {
	dir := t.TempDir()
	before := map[string]string{}
	for _, name := range append(copied(t, ".."), ".ci/pin") {
		text, err := os.ReadFile(filepath.Join("..", name))
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		before[name] = string(text)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}} {
		if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	commit := strings.Repeat("0123456789", 4)
	for _, args := range [][]string{{commit[1:], "v1.2.3"}, {commit, "1.2.3"}, {"main", "v1.2.3"}} {
		if out, err := exec.Command("sh", append([]string{filepath.Join(dir, ".ci/pin")}, args...)...).CombinedOutput(); err == nil {
			t.Errorf("%v is taken: %s", args, out)
		}
	}
	if out, err := exec.Command("sh", filepath.Join(dir, ".ci/pin"), commit, "v1.2.3").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	stood, pinned := regexp.MustCompile(`(olmgraft/graft(?:/[\w./-]*)?)@[0-9a-f]{40} # .*`), 0
	for name, text := range before {
		after, err := os.ReadFile(filepath.Join(dir, name))
		if want := stood.ReplaceAllString(text, "${1}@"+commit+" # v1.2.3"); err != nil || string(after) != want {
			t.Errorf("%s: %v, it is\n%s", name, err, after)
		} else if want != text {
			pinned++
		}
	}
	if pinned < 8 {
		t.Errorf("only %d files were pinned", pinned)
	}
}
