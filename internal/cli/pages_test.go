package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// pages returns the documents for people.
func pages(t *testing.T) []string {
	t.Helper()
	all := []string{"../../README.md", "../../CONTRIBUTING.md", "../../SECURITY.md"}
	for _, pattern := range []string{"../../docs/*.md", "../../docs/*/*.md", "../../formulary/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("there are no pages %s", pattern)
		}
		all = append(all, found...)
	}
	return all
}

var (
	pageLink   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	pageTitle  = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notInTitle = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	fenced     = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
)

// Every link within the repository leads to a file and to an existing title.
func TestPageLinks(t *testing.T) {
	checked := 0
	for _, file := range pages(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range pageLink.FindAllStringSubmatch(fenced.ReplaceAllString(string(text), ""), -1) {
			name, title, _ := strings.Cut(m[1], "#")
			if strings.Contains(name, "://") {
				continue
			}
			checked++
			to := file
			if name != "" {
				to = filepath.Join(filepath.Dir(file), name)
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: the link to %s leads nowhere", file, m[1])
			} else if title != "" && !hasTitle(t, to, title) {
				t.Errorf("%s: %s has no title for the link %s", file, to, m[1])
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d links were found", checked)
	}
}

// hasTitle reports whether a page has a title with this anchor on GitHub.
func hasTitle(t *testing.T, file, anchor string) bool {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range pageTitle.FindAllStringSubmatch(fenced.ReplaceAllString(string(text), ""), -1) {
		if strings.ReplaceAll(strings.ToLower(notInTitle.ReplaceAllString(m[1], "")), " ", "-") == anchor {
			return true
		}
	}
	return false
}

var testCommand = regexp.MustCompile("(?:cd ([a-z/]+) && )?(?:[A-Z_]+=[a-z=-]+ )?go test ([^`\n]*)")

// Every figure of a page names a command. Its folder and its tests exist.
func TestPagesNameTests(t *testing.T) {
	checked := 0
	for _, file := range append(pages(t), "../../testdata/corpus/README.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range testCommand.FindAllStringSubmatch(string(text), -1) {
			checked++
			if fault := namesTests(filepath.Join("../..", m[1]), strings.ReplaceAll(m[2], `\|`, "|")); fault != "" {
				t.Errorf("%s: %s: %s", file, m[0], fault)
			}
		}
	}
	if checked < 30 {
		t.Errorf("only %d commands were found", checked)
	}
}

// namesTests returns the fault in the arguments of go test, or "".
func namesTests(dir, args string) string {
	wanted := map[string]string{}
	words := strings.Fields(args)
	for i, word := range words {
		if (word == "-run" || word == "-bench") && i+1 < len(words) {
			wanted[word] = strings.Trim(words[i+1], "'")
		}
		if word == "." || strings.HasPrefix(word, "./") && !strings.Contains(word, "...") {
			dir = filepath.Join(dir, word)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil || len(files) == 0 && dir != "../.." {
		return "there are no tests in " + dir
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err.Error()
		}
		all.Write(text)
	}
	for flag, prefix := range map[string]string{"-run": "Test", "-bench": "Benchmark"} {
		pattern := wanted[flag]
		if pattern == "" || pattern == "^$" || pattern == "-" {
			continue
		}
		for part := range strings.SplitSeq(pattern, "|") {
			if !regexp.MustCompile(`func ` + prefix + `\w*` + strings.TrimPrefix(part, prefix)).MatchString(all.String()) {
				return "no " + prefix + " in " + dir + " matches " + part
			}
		}
	}
	return ""
}

// habits are expressions that CONTRIBUTING.md asks writers to avoid.
var habits = regexp.MustCompile(`(?i:\b(?:stands? (?:there|in|at|beside|alone)|where (?:it|they) stands?|nobody (?:says|tells)|(?:is|are) (?:owed|told|due)|by its own kind|met by|in doubt|that is how|` +
	`keeps? to|(?:holds?|held) to|in place of|shall|upon|(?:goes|go) by|hears? of|so that you can go back)\b)|(?:^|\. )What [a-z ]+ (?:is|are|says|has)\b`)

func TestPagesAvoidHabits(t *testing.T) {
	for _, file := range append(pages(t), "../../docs/graft.1", "../../action.yml") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		page := fenced.ReplaceAllString(string(text), "")
		if _, list, ok := strings.Cut(page, "| instead of | write |\n"); ok {
			list, _, _ = strings.Cut(list, "\n\n")
			page = strings.Replace(page, list, "", 1)
		}
		for line := range strings.Lines(page) {
			if m := habits.FindString(line); m != "" && !strings.HasPrefix(line, "    ") {
				t.Errorf("%s: %q in %s", file, m, line)
			}
		}
	}
}

// Comments, descriptions, messages and notes of the manifests and charts avoid them too.
func TestManifestsAvoidHabits(t *testing.T) {
	checked := 0
	err := filepath.WalkDir("../../deploy", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(file) == ".svg" {
			return err
		}
		checked++
		text, err := os.ReadFile(file)
		for line := range strings.Lines(string(text)) {
			if m := habits.FindString(strings.TrimLeft(line, " #-\"")); m != "" {
				t.Errorf("%s: %q in %s", file, m, line)
			}
		}
		return err
	})
	if err != nil || checked < 50 {
		t.Errorf("%d files were checked: %v", checked, err)
	}
}
