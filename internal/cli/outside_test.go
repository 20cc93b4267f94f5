package cli

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/failure"
)

// writer is a verb that writes files, with its arguments. OUT is the file to write.
type writer struct {
	out  string // outside of the repository: a file or a folder
	args []string
}

// writers lists all verbs that write files named by a person.
var writers = map[string][]writer{
	"insert":    {{"file.yaml", []string{"insert", "--image", "quay.io/example/op:v1.1.0", "--name", "op.v1.1.0", "--version", "1.1.0", "--package", "op", "--channel", "stable", "OUT"}}},
	"remove":    {{"file.yaml", []string{"remove", "--bundle", "op.v0.9.0", "--allow-stranded", "OUT"}}},
	"deprecate": {{"file.yaml", []string{"deprecate", "--bundle", "op.v1.0.0", "--message", "Use another.", "OUT"}}},
	"edges":     {{"file.yaml", []string{"edges", "--bundle", "op.v1.0.0", "--skip-range", "<1.0.0", "OUT"}}},
	"pin":       {{"file.yaml", []string{"pin", "--lock", "images.lock", "OUT"}}, {"images.lock", []string{"pin", "--write-lock", "OUT", "pinned.yaml"}}},
	"render": {
		{"file.yaml", []string{"render", "--write", "OUT", "raw.yaml"}}, {"parts", []string{"render", "--write", "OUT", "raw.yaml"}},
		{"catalog.sum", []string{"render", "--sum", "OUT", "raw.yaml"}},
	},
	"convert":               {{"file.yaml", []string{"convert", "--to", "basic", "--write", "OUT", "raw.yaml"}}},
	"init":                  {{"project", []string{"init", "OUT"}}},
	"image build":           {{"image.tar", []string{"image", "build", "--output", "OUT", "catalog"}}, {"empty", []string{"image", "build", "--output", "OUT", "catalog"}}},
	"operand add":           {{"file.yaml", []string{"operand", "add", "--name", "etcd", "--version", "3.1.1", "--image", "etcd=quay.io/coreos/etcd@sha256:311", "OUT"}}},
	"catalogsource resolve": {{"source.yaml", []string{"catalogsource", "resolve", "--kube-version", "v1.31.2", "OUT"}}},
	"catalogsource convert": {{"source.yaml", []string{"catalogsource", "convert", "--to", "new", "OUT"}}},
}

// readers write no file named by a person: publish commits elsewhere, and files in --cache have names that no
// one chooses.
var readers = []string{
	"publish", "verify", "detect", "diff", "graph", "explain", "formulary", "man", "version",
	"image push", "image inspect", "operand images", "operand resolve", "path", "catalogsource validate",
}

// Every verb is in one of the lists, so that a new one cannot bypass the check.
func TestWritersAreKnown(t *testing.T) {
	var walk func(cmd *cobra.Command)
	var found []string
	walk = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
		name := strings.TrimPrefix(cmd.CommandPath(), "graft ")
		if cmd.HasSubCommands() || cmd.Name() == "help" || strings.HasPrefix(name, "completion ") || strings.HasPrefix(name, "alpha ") || slices.ContainsFunc(moved(), func(m *cobra.Command) bool { return m.Name() == cmd.Name() }) {
			return
		}
		found = append(found, name)
		if _, writes := writers[name]; writes != (cmd.Flags().Lookup("allow-outside") != nil) {
			t.Errorf("%s: writes %v, and has --allow-outside or not", name, writes)
		}
	}
	walk(root(&command.App{}))
	want := slices.Concat(slices.Collect(maps.Keys(writers)), readers)
	slices.Sort(want)
	if slices.Sort(found); !slices.Equal(found, want) {
		t.Errorf("the verbs are\n%q, known are\n%q", found, want)
	}
}

// No verb follows a link, or .., out of the repository, unless allowed.
func TestOutside(t *testing.T) {
	for verb, ways := range writers {
		for _, w := range ways {
			for _, name := range []string{"link", "folder/" + w.out, "../outside/" + w.out, "ABS/../outside/" + w.out} {
				for _, allowed := range []bool{false, true} {
					t.Run(verb+" "+strings.ReplaceAll(name, "/", ":"), func(t *testing.T) { outside(t, w, name, allowed) })
				}
			}
		}
	}
}

func outside(t *testing.T, w writer, name string, allowed bool) {
	dir := t.TempDir()
	repo, out := filepath.Join(dir, "repo"), filepath.Join(dir, "outside")
	if err := os.CopyFS(dir, os.DirFS("testdata/outside")); err != nil {
		t.Fatal(err)
	}
	link := "link" + filepath.Ext(w.out)
	err := errors.Join(
		os.Mkdir(filepath.Join(repo, ".git"), 0o755), os.Mkdir(filepath.Join(out, "empty"), 0o755),
		os.Symlink(filepath.Join("..", "outside", w.out), filepath.Join(repo, link)), os.Symlink(out, filepath.Join(repo, "folder")),
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(repo)
	if name == "link" {
		name = link
	}
	args := slices.Clone(w.args)
	args[slices.Index(args, "OUT")] = strings.Replace(name, "ABS", repo, 1)
	want := int(failure.EditRefused)
	if allowed {
		args, want = append(args, "--allow-outside"), 0
	}
	before := treeOf(t, out)
	var text bytes.Buffer
	code := Main(context.Background(), args, command.IO{In: strings.NewReader(""), Out: &text, Err: &text, Env: os.LookupEnv})
	if code != want {
		t.Errorf("%q exits with %d, want %d\n%s", args, code, want, text.String())
	}
	if !allowed && !strings.Contains(text.String(), "leads out of the repository") {
		t.Errorf("%q says\n%s", args, text.String())
	}
	if after := treeOf(t, out); !allowed && before != after {
		t.Errorf("%q wrote:\n%s", args, after)
	}
}
