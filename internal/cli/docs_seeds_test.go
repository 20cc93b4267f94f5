package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// docs/seeds.md names the script or test that runs each command. The script has the verb and all flags on the
// page.
func TestSeedsPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/seeds.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 6 || strings.HasPrefix(cells[1], "---") || strings.TrimSpace(cells[1]) == "request" {
			continue
		}
		asked, words, by, differs := strings.TrimSpace(cells[1]), strings.Fields(strings.Trim(cells[2], " `")), strings.TrimSpace(cells[3]), strings.TrimSpace(cells[4])
		rows++
		name, folder, isTest := strings.Cut(by, " of ")
		switch {
		case by == "" && differs != "":
		case isTest:
			if !hasTest(t, name, folder) {
				t.Errorf("%s: there is no %s", asked, by)
			}
		default:
			script, err := os.ReadFile("../../testdata/script/" + by)
			if err != nil || !runs(string(script), words) {
				t.Errorf("%s: %s does not run %v (%v)", asked, by, words, err)
			}
		}
	}
	if rows < 30 {
		t.Errorf("the page has %d rows", rows)
	}
}

// runs reports whether lines of a script run a verb with all of the named flags.
func runs(script string, words []string) bool {
	i := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "-") })
	if i < 0 {
		i = len(words)
	}
	verb := regexp.MustCompile(`(?m)^(?:!? ?exec|exitcode \d+) ` + regexp.QuoteMeta(strings.Join(words[:i], " ")) + `\b(.*)$`)
	flags := strings.Builder{}
	for _, m := range verb.FindAllStringSubmatch(script, -1) {
		flags.WriteString(m[1] + " ")
	}
	return flags.Len() > 0 && !slices.ContainsFunc(words[i:], func(f string) bool {
		return !strings.Contains(flags.String(), f+" ") && !strings.Contains(flags.String(), f+"=")
	})
}

func hasTest(t *testing.T, name, folder string) bool {
	files, err := filepath.Glob("../../" + folder + "/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(text), "func "+name+"(")
	})
}
