package formulary

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
	"gopkg.in/yaml.v3"

	"github.com/olmgraft/graft/formulary"
)

// runner runs the blocks of one kind of a recipe.
type runner struct {
	*tools
	kind      formulary.Kind
	variables string
	inputs    map[string]string
	// done holds, for each tool, the files after its command.
	done map[string]map[string]string
	// said holds each tool's output with its exit code.
	said map[string]string
	// published is the catalog of the first input, once a command has used it.
	published string
	// kept is the folder of the last command.
	kept string
}

// run returns the page with the real output. A wrong claim is an error of the test.
func (c *runner) run(t *testing.T, page string) string {
	c.inputs, c.done, c.said = map[string]string{}, map[string]map[string]string{}, map[string]string{}
	now := make([]string, len(c.kind.Blocks))
	for i, b := range c.kind.Blocks {
		now[i] = b.Text
		switch b.Language {
		case "yaml":
			c.inputs[b.Role] = b.Text
		case "sh":
			c.command(t, b)
		case "diff":
			now[i] = c.difference(c.done[b.Role])
			if b.Role == "graft" {
				c.meaning(t, b)
			}
		case "text":
			now[i] = c.said[b.Role]
		}
	}
	for i, b := range slices.Backward(c.kind.Blocks) {
		if now[i] != b.Text {
			t.Logf("%s %s is now\n%s", b.Language, b.Role, now[i])
		}
		page = page[:b.Begin] + now[i] + page[b.End:]
	}
	return page
}

// command runs a block. A block marked as idempotent must change nothing when run again, and others must change
// something, so that the mark is never forgotten. graft is always idempotent.
func (c *runner) command(t *testing.T, b formulary.Block) {
	switch b.Role {
	case "variables":
		c.variables += b.Text
		return
	case "check":
		c.publish(t, c.kept, b)
		c.said[b.Role] = c.sh(t, c.kept, b.Text)
		return
	case "jq":
		second := b
		second.Text = asGojq + b.Text
		for _, jq := range []formulary.Block{b, second} {
			_, after, _ := c.perform(t, jq)
			c.sameAsYQ(t, jq, after)
		}
		return
	}
	dir, after, said := c.perform(t, b)
	switch before := c.done[b.Role]; {
	case b.Role == "refused":
		c.said[b.Role] = said
		if !maps.Equal(after, c.inputs) {
			t.Errorf("it is refused, and changes\n%s", c.difference(after))
		}
	case before != nil && !maps.Equal(before, after):
		t.Errorf("two commands for %s do not give the same:\n%s", b.Role, c.difference(after))
	default:
		c.done[b.Role], c.kept = after, dir
	}
}

// asGojq replaces jq by another program for the same language, so that a recipe does not depend on one of them.
const asGojq = `jq() { gojq "$@"; }` + "\n"

// perform runs a command on the inputs in a new folder. It returns the files afterwards and the output.
func (c *runner) perform(t *testing.T, b formulary.Block) (dir string, after map[string]string, said string) {
	dir = t.TempDir()
	write(t, dir, c.inputs)
	if b.Role == "jq" {
		c.toJSON(t, dir)
	}
	c.publish(t, dir, b)
	said = c.sh(t, dir, b.Text)
	after = read(t, dir)
	delete(after, "published.yaml")
	c.again(t, b, after)
	if b.Role == "refused" == strings.HasSuffix(said, "exit 0\n") {
		t.Errorf("%s:\n%s%s", b.Role, b.Text, said)
	}
	return dir, after, said
}

// publish puts the catalog of the first input into a folder as published.yaml, if the command needs it.
func (c *runner) publish(t *testing.T, dir string, b formulary.Block) {
	if !strings.Contains(b.Text, "published.yaml") {
		return
	}
	if c.published == "" {
		from := t.TempDir()
		write(t, from, c.inputs)
		if said := c.sh(t, from, "graft render "+c.firstInput()+" > published.yaml"); said != "exit 0\n" {
			t.Fatal(said)
		}
		c.published = read(t, from)["published.yaml"]
	}
	write(t, dir, map[string]string{"published.yaml": c.published})
}

// again runs a command on its own result.
func (c *runner) again(t *testing.T, b formulary.Block, after map[string]string) {
	if b.Role != "jq" && b.Role != "yq" && b.Role != "graft" {
		return
	}
	dir := t.TempDir()
	write(t, dir, after)
	said := c.sh(t, dir, b.Text)
	same := maps.Equal(after, read(t, dir))
	if want := b.Is("idempotent") || b.Role == "graft"; want != same {
		t.Errorf("run again, %s changes nothing: %v\n%s%s", b.Role, same, b.Text, said)
	}
}

// sh runs commands in a shell and returns their output.
func (c *runner) sh(t *testing.T, dir, text string) string {
	t.Helper()
	cmd := exec.Command("sh", "-c", c.variables+text)
	cmd.Dir, cmd.Env = dir, c.env
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return fmt.Sprintf("%sexit %d\n", out, cmd.ProcessState.ExitCode())
}

func (c *runner) firstInput() string {
	for _, b := range c.kind.Blocks {
		if b.Language == "yaml" {
			return b.Role
		}
	}
	return ""
}

// difference returns a command's changes, file by file.
func (c *runner) difference(after map[string]string) string {
	var out strings.Builder
	names := slices.Sorted(maps.Keys(after))
	for name := range c.inputs {
		if _, ok := after[name]; !ok {
			names = append(names, name)
		}
	}
	for _, name := range names {
		before, stood := c.inputs[name]
		old := name
		if !stood {
			old = "/dev/null"
		}
		text := string(diff.Diff(old, []byte(before), name, []byte(after[name])))
		if _, body, ok := strings.Cut(text, "\n"); ok { // without the line "diff a b"
			out.WriteString(body)
		}
	}
	return out.String()
}

// meaning checks what a recipe claims about yq's and graft's results: they are the same, differ only in the
// order of list items, or differ.
func (c *runner) meaning(t *testing.T, b formulary.Block) {
	is := "differs"
	switch yq, graft := c.done["yq"], c.done["graft"]; {
	case maps.Equal(parsed(t, yq, inOrder), parsed(t, graft, inOrder)):
		is = "same"
	case maps.Equal(parsed(t, yq, inAnyOrder), parsed(t, graft, inAnyOrder)):
		is = "reordered"
	}
	if !slices.Equal(b.Words, []string{is}) {
		t.Errorf("yq's and graft's results are said to be %q, and are %q", b.Words, is)
	}
}

// sameAsYQ checks that jq's JSON equals yq's YAML.
func (c *runner) sameAsYQ(t *testing.T, b formulary.Block, after map[string]string) {
	want := parsed(t, c.done["yq"], inOrder)
	got := parsed(t, after, inOrder)
	if !maps.Equal(want, got) {
		t.Errorf("jq's result is not yq's:\n%s%v\n%v", b.Text, got, want)
	}
}

// toJSON converts the inputs to JSON as README.md describes.
func (c *runner) toJSON(t *testing.T, dir string) {
	for name := range c.inputs {
		to := strings.TrimSuffix(name, ".yaml") + ".json"
		if said := c.sh(t, dir, "yq -o json "+name+" > "+to+" && rm "+name); said != "exit 0\n" {
			t.Fatal(said)
		}
	}
}

// parsed returns the documents of each file, by its name without extension, as JSON with sorted keys.
func parsed(t *testing.T, files map[string]string, arrange func(any) any) map[string]string {
	t.Helper()
	all := map[string]string{}
	for name, text := range files {
		next := yaml.NewDecoder(strings.NewReader(text)).Decode
		if filepath.Ext(name) == ".json" {
			next = json.NewDecoder(strings.NewReader(text)).Decode
		}
		var docs strings.Builder
		for {
			var doc any
			err := next(&doc)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, text)
			}
			line, err := json.Marshal(arrange(doc))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			docs.Write(append(line, '\n'))
		}
		all[strings.TrimSuffix(name, filepath.Ext(name))] = docs.String()
	}
	return all
}

func inOrder(v any) any { return v }

// inAnyOrder sorts lists, except the documents themselves.
func inAnyOrder(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			v[key] = inAnyOrder(value)
		}
	case []any:
		slices.SortFunc(v, func(a, b any) int {
			return strings.Compare(fmt.Sprint(inAnyOrder(a)), fmt.Sprint(inAnyOrder(b)))
		})
	}
	return v
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func read(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(at string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(at)
		name, _ := filepath.Rel(dir, at)
		files[filepath.ToSlash(name)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
