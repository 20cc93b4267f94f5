package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/testkit/corpus"
)

// commit is a change of one template in the history of a public repository.
type commit struct {
	Repository, Commit, Path, Kind, Change, Package string
	Added, Removed                                  []commitImage
	NewEntries, GoneEntries                         []commitEntry

	DefaultChannel string // where it moved

	before, after, made []byte
	names               map[string]string // by image, as far as the repository's catalogs tell
}

type commitImage struct{ Image, Name string }

type commitEntry struct {
	Channel, Name, Replaces, SkipRange string
	Skips                              []string
}

// TestCommits makes changes again that people made: with one or a few commands a template
// comes to mean what it meant after the commit, with no more lines than the change has,
// and the same commands again change nothing.
func TestCommits(t *testing.T) {
	t.Parallel()
	all := readCommits(t, corpus.Large(t))
	type tally struct{ tried, made int }
	share := map[string]*tally{}
	reasons := map[string][]string{}
	for _, c := range all {
		s := share[c.Change]
		if s == nil {
			s = &tally{}
			share[c.Change] = s
		}
		s.tried++
		if err := c.make(t); err != nil {
			reasons[c.Change] = append(reasons[c.Change], fmt.Sprintf("%s %s %s: %v", c.Repository, c.Commit, c.Path, err))
			continue
		}
		s.made++
	}
	// What is made today stays made; the reasons why the rest is not are in the log.
	least := map[string]int{"add": 190, "add+swap": 48, "add-many": 4, "edges": 0, "remove": 59, "replace-entry": 23, "swap": 198, "swap-many": 16}
	for _, change := range slices.Sorted(maps.Keys(share)) {
		s := share[change]
		if s.made < least[change] {
			t.Errorf("of %s, %d are made; they were %d", change, s.made, least[change])
		}
		t.Logf("%s: %d of %d, %.1f %%", change, s.made, s.tried, 100*float64(s.made)/float64(s.tried))
		for _, r := range reasons[change] {
			t.Log("  " + r)
		}
	}
}

func readCommits(t *testing.T, c corpus.Corpus) []*commit {
	t.Helper()
	blobs := c.Archive(t, "histories/blobs")
	blob := func(name string) []byte {
		file := blobs["blobs/"+name]
		if file == nil {
			t.Fatalf("the histories have no blob %s", name)
		}
		return file.Data
	}
	var all []*commit
	names := map[string]map[string]string{}
	for line := range bytes.Lines(c.Read(t, c.Files(t, "histories/cases.jsonl")[0])) {
		var one struct {
			commit
			Before, After string
		}
		if err := json.Unmarshal(line, &one); err != nil {
			t.Fatal(err)
		}
		c := &one.commit
		c.before, c.after = blob(one.Before), blob(one.After)
		if names[c.Repository] == nil {
			names[c.Repository] = map[string]string{}
		}
		c.names = names[c.Repository]
		for _, image := range slices.Concat(c.Added, c.Removed) {
			if image.Name != "" {
				c.names[image.Image] = image.Name
			}
		}
		all = append(all, c)
	}
	return all
}

// make makes the change by commands, twice.
func (c *commit) make(t *testing.T) error {
	dir := t.TempDir()
	file := filepath.Join(dir, filepath.Base(c.Path))
	base := filepath.Join(dir, "base.yaml")
	if err := errors.Join(os.WriteFile(file, c.before, 0o600), os.WriteFile(base, c.base(), 0o600)); err != nil {
		t.Fatal(err)
	}
	commands, err := c.commands()
	if err != nil {
		return err
	}
	for again := range 2 {
		for _, args := range commands {
			args = append(slices.Clone(args), file)
			args = append(args, "--base", base)
			var out bytes.Buffer
			if code := Main(context.Background(), args, command.IO{In: strings.NewReader(""), Out: io.Discard, Err: &out, Env: func(string) (string, bool) { return "", false }}); code != 0 {
				return fmt.Errorf("graft %s: %d: %s", strings.Join(args[:len(args)-3], " "), code, out.String())
			}
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if again == 0 {
			if a, b := c.meaning(got), c.meaning(c.after); !slices.Equal(a, b) {
				return fmt.Errorf("only we say %q, only they say %q", without(a, b), without(b, a))
			}
			if err := os.WriteFile(base, c.base(), 0o600); err != nil {
				t.Fatal(err)
			}
			c.made = got
		} else if !bytes.Equal(got, c.made) {
			return errors.New("the second run changed something")
		}
	}
	return c.noMore()
}

// commands are what a person would type.
func (c *commit) commands() ([][]string, error) {
	var all [][]string
	removed, replaced := slices.Clone(c.Removed), []string(nil)
	for _, a := range c.Added {
		name := a.Name
		was := slices.IndexFunc(removed, func(r commitImage) bool { return r.Name == name && name != "" })
		if was < 0 && len(c.Added) == 1 && len(removed) == 1 && (name == "" || removed[0].Name == "") {
			was = 0
			name = cmp.Or(name, removed[0].Name)
		}
		if name == "" {
			return nil, fmt.Errorf("nothing tells the name of %s", a.Image)
		}
		var edit []string
		switch {
		case was >= 0:
			edit = []string{"--rebuild", "replace"}
			if channels := c.channelsWith(c.before, name, removed[was].Image); len(channels) > 0 {
				edit = append(edit, "--channel", strings.Join(channels, ","))
			}
			removed = slices.Delete(removed, was, was+1)
			all = append(all, c.insert(a.Image, name, edit))
		default:
			if i := slices.IndexFunc(removed, func(r commitImage) bool { return c.takesPlace(name, r.Name) }); i >= 0 {
				edit = []string{"--instead-of", removed[i].Name, "--channel", strings.Join(c.channelsWith(c.before, removed[i].Name, removed[i].Image), ",")}
				replaced = append(replaced, removed[i].Name)
				removed = slices.Delete(removed, i, i+1)
				all = append(all, c.insert(a.Image, name, edit))
				continue
			}
		}
		for _, e := range c.entries(a.Image, name) {
			all = append(all, c.insert(a.Image, name, e))
		}
	}
	inserts := len(all)
	for _, r := range removed {
		if r.Name == "" {
			return nil, fmt.Errorf("nothing tells the name of %s", r.Image)
		}
	}
	if all = append(all, c.removals(removed, replaced)...); len(all) == 0 {
		return nil, errors.New("no command does this")
	}
	if c.DefaultChannel != "" && c.Kind != "olm.semver" {
		at := max(0, inserts-1)
		all[at] = append(all[at], "--default-channel", c.DefaultChannel)
	}
	return all, nil
}

func (c *commit) insert(image, name string, more []string) []string {
	version := "0.0.0"
	if v, ok := graph.VersionOf(name); ok {
		version = v.String()
	}
	return append([]string{"insert", "--image", image, "--name", name, "--version", version, "--package", c.Package}, more...)
}

// entries are the new entries of a bundle, those with the same edges in one command.
func (c *commit) entries(image, name string) [][]string {
	if c.Kind == "olm.semver" {
		return [][]string{{"--channel", strings.Join(c.channelsWith(c.after, "", image), ",")}}
	}
	channels := map[string][]string{}
	var order []string
	for _, e := range c.NewEntries {
		if e.Name != name {
			continue
		}
		var edges []string
		if e.Replaces != "" {
			edges = append(edges, "--replaces", e.Replaces)
		}
		if len(e.Skips) > 0 {
			edges = append(edges, "--skips", strings.Join(e.Skips, ","))
		}
		if e.SkipRange != "" {
			edges = append(edges, "--skip-range", e.SkipRange)
		}
		key := strings.Join(edges, "\x00")
		if !slices.Contains(order, key) {
			order = append(order, key)
		}
		channels[key] = append(channels[key], e.Channel)
	}
	var all [][]string
	for _, key := range order {
		edges := []string{"--channel", strings.Join(channels[key], ",")}
		if key != "" {
			edges = append(edges, strings.Split(key, "\x00")...)
		}
		all = append(all, edges)
	}
	return all
}

// channelsWith are the channels of a template in which a name has an entry, and the archetypes in which
// an image stands.
func (c *commit) channelsWith(text []byte, name, image string) []string {
	var channels []string
	for _, doc := range documents(text) {
		channel, _ := doc["name"].(string)
		entries, _ := doc["entries"].([]any)
		for _, e := range entries {
			if e, ok := e.(map[string]any); ok && doc["schema"] == "olm.channel" && e["name"] == name {
				channels = append(channels, channel)
			}
		}
		for key, value := range doc {
			if strings.Contains(fmt.Sprint(value), image) && slices.Contains([]string{"candidate", "fast", "stable"}, strings.ToLower(key)) {
				channels = append(channels, strings.ToLower(key))
			}
		}
	}
	slices.Sort(channels)
	return channels
}

// documents are those of a template, whether they stand in a stream or under entries.
func documents(text []byte) (all []map[string]any) {
	for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var doc map[string]any
		if d.Decode(&doc) != nil {
			return all
		}
		all = append(all, doc)
		list, _ := doc["entries"].([]any)
		for _, item := range list {
			if item, ok := item.(map[string]any); ok && item["schema"] != nil {
				all = append(all, item)
			}
		}
	}
}

// base is a catalog that tells the names of images which stand in the template.
func (c *commit) base() []byte {
	var out strings.Builder
	told := map[string]bool{}
	for _, image := range imagesIn(string(c.before)) {
		if name := c.names[image]; name != "" && !told[name] {
			told[name] = true
			fmt.Fprintf(&out, "---\nschema: olm.bundle\nname: %s\npackage: %s\nimage: %s\n", name, c.Package, image)
		}
	}
	return []byte(out.String())
}

// meaning is what a template says, a line each, in a fixed order.
func (c *commit) meaning(text []byte) []string {
	var all []string
	for _, doc := range documents(text) {
		about := fmt.Sprint(doc["schema"], " ", doc["name"])
		list, _ := doc["entries"].([]any)
		switch doc["schema"] {
		case "olm.template.basic":
		case "olm.channel":
			for _, e := range list {
				all = append(all, about+" "+jsonOf(e))
			}
			delete(doc, "entries")
			all = append(all, jsonOf(doc))
		default:
			all = append(all, jsonOf(sortedLists(doc)))
		}
	}
	slices.Sort(all)
	return all
}

func jsonOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// without are the lines that the others lack.
func without(lines, others []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return slices.Contains(others, line) })
}

// noMore refuses lines that the change does not need: more than its author took.
func (c *commit) noMore() error {
	if ours, theirs := linesChanged(c.before, c.made), linesChanged(c.before, c.after); ours > theirs {
		return fmt.Errorf("it changes %d lines, its author changed %d", ours, theirs)
	}
	return nil
}

// linesChanged counts lines that come or go, wherever they stand.
func linesChanged(before, after []byte) (n int) {
	count := map[string]int{}
	for line := range bytes.Lines(before) {
		count[string(line)]--
	}
	for line := range bytes.Lines(after) {
		count[string(line)]++
	}
	for _, c := range count {
		n += max(c, -c)
	}
	return n
}
