package cli

import (
	"bytes"
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

	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/testkit/corpus"
	"github.com/olmgraft/graft/internal/testkit/effort"
)

// commit is a change of one template in the history of a public repository.
type commit struct {
	Repository, Commit, Path, Kind, Change, Package string
	Added, Removed                                  []commitImage
	NewEntries, GoneEntries                         []commitEntry

	DefaultChannel string // if it moved

	before, after, now []byte
	names              map[string]string // by image, as far as the repository's catalogs and the commit's author can know
	dir, file          string
	target             string // the argument of commands: the file, or the catalog that it is a part of
	commands           [][]string
	lists              map[string]map[string]bool
}

type commitImage struct{ Image, Name string }

type commitEntry struct {
	Channel   string `json:"channel,omitempty"`
	Name      string
	Replaces  string
	SkipRange string
	Skips     []string
}

// TestCommits repeats changes that people made: one or a few commands give a template the same content as the
// commit, without changing more lines, and the same commands again change nothing.
func TestCommits(t *testing.T) {
	t.Parallel()
	all := readCommits(t, corpus.Large(t))
	type tally struct {
		tried, made int
		why         map[string][]string
	}
	share := map[string]*tally{}
	every := len(all) / effort.Of(t, len(all)/5, len(all)/5, len(all))
	for i, c := range all {
		if i%every != 0 {
			continue
		}
		s := share[c.Change]
		if s == nil {
			s = &tally{why: map[string][]string{}}
			share[c.Change] = s
		}
		s.tried++
		if err := c.make(t); err != nil {
			reason := c.reason(err)
			s.why[reason] = append(s.why[reason], fmt.Sprintf("%s %s %s: %v", c.Repository, c.Commit, c.Path, err))
			continue
		}
		s.made++
	}
	// The number of changes that can be made must not fall; a sample may miss a few. The log has the reasons
	// for the others.
	least := map[string]int{"add": 206, "add+swap": 64, "add-many": 9, "edges": 62, "remove": 104, "replace-entry": 34, "swap": 207, "swap-many": 16}
	for _, change := range slices.Sorted(maps.Keys(share)) {
		s := share[change]
		if few := 3; every == 1 && s.made < least[change] || every > 1 && s.made < least[change]/every-few {
			t.Errorf("of %s, %d are made; they were %d", change, s.made, least[change])
		}
		slips := 0
		for reason, all := range s.why {
			if strings.HasPrefix(reason, "a slip") {
				slips += len(all)
			}
		}
		t.Logf("%s: %d of %d, %.1f %%; without slips %.1f %%", change, s.made, s.tried, 100*float64(s.made)/float64(s.tried), 100*float64(s.made)/float64(s.tried-slips))
		for _, reason := range slices.Sorted(maps.Keys(s.why)) {
			t.Logf("  %d: %s", len(s.why[reason]), reason)
			for _, one := range s.why[reason] {
				t.Logf("    %.600s", one)
			}
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
	for _, c := range all {
		c.names = maps.Clone(c.names)
	}
	return all
}

// make makes the change with commands, twice. Later commands depend on the result of earlier ones.
func (c *commit) make(t *testing.T) error {
	c.dir = t.TempDir()
	if err := c.lay(); err != nil {
		t.Fatal(err)
	}
	if err := c.tellNames(); err != nil {
		return err
	}
	for _, stage := range []func() [][]string{c.images, c.entries, c.removals, c.edges, c.deprecations} {
		for _, args := range stage() {
			c.commands = append(c.commands, args)
			if err := c.run(args); err != nil {
				return err
			}
		}
	}
	if len(c.commands) == 0 {
		return errors.New("no command does this")
	}
	if ours, theirs := differences(meaning(c.now), meaning(c.after)); len(ours)+len(theirs) > 0 {
		return fmt.Errorf("only we say %q, only they say %q", ours, theirs)
	}
	made := c.now
	for _, args := range c.commands {
		if err := c.run(args); err != nil {
			return fmt.Errorf("the second run: %w", err)
		}
	}
	if !bytes.Equal(made, c.now) {
		return errors.New("the second run changed something")
	}
	if most := len(c.Added) + fewCommands; len(c.commands) > most {
		return fmt.Errorf("it takes %d commands", len(c.commands))
	}
	return c.noMore()
}

// fewCommands limits the commands besides one for each new bundle.
const fewCommands = 8

// run runs one command.
func (c *commit) run(args []string) error {
	base := filepath.Join(c.dir, "base.yaml")
	if err := os.WriteFile(base, c.base(), 0o600); err != nil {
		return err
	}
	words := strings.Join(args, " ")
	args = append(slices.Clone(args), c.target)
	if args[0] != "edges" && args[0] != "deprecate" {
		args = append(args, "--base", base)
	}
	var out bytes.Buffer
	if code := Main(context.Background(), args, command.IO{In: strings.NewReader(""), Out: io.Discard, Err: &out, Env: func(string) (string, bool) { return "", false }}); code != 0 {
		return fmt.Errorf("graft %s: %d: %s", words, code, strings.ReplaceAll(out.String(), c.dir, ""))
	}
	var err error
	c.now, err = os.ReadFile(c.file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// noMore refuses more changed lines than the author's.
func (c *commit) noMore() error {
	if ours, theirs := linesChanged(c.before, c.now), linesChanged(c.before, c.after); ours > theirs {
		return fmt.Errorf("the commands change %d lines, the author changed %d", ours, theirs)
	}
	return nil
}

// linesChanged counts added and removed lines, wherever they are.
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
