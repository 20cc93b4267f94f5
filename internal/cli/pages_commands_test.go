package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/command"
	shown "github.com/olmgraft/graft/internal/testkit/pages"
)

// Every graft command in a page's code block has an existing verb, existing flags with valid values, and the
// right number of arguments. Another test runs the commands of the layouts, the recipes and docs/seeds.md.
func TestPageCommands(t *testing.T) {
	checked := 0
	for _, p := range shown.Read(t, "../..") {
		for _, c := range p.Commands {
			if c.Words[0] == "graft" {
				checked++
				if err := parses(c.Words[1:]); err != nil {
					t.Errorf("%s:%d: %s: %v", c.File, c.Line, strings.Join(c.Words, " "), err)
				}
			}
		}
	}
	if checked < 80 {
		t.Errorf("only %d commands were found", checked)
	}
}

// parses returns the reason if graft does not accept a command line. Brackets around optional words are ignored.
func parses(words []string) error {
	for i, w := range words {
		words[i] = strings.NewReplacer("[", "", "]", "").Replace(w)
	}
	root := root(&command.App{Env: func(string) (string, bool) { return "", false }})
	verb, rest, err := root.Find(words)
	if err != nil {
		return err
	}
	if verb == root && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
		return fmt.Errorf("there is no such verb")
	}
	if err := verb.ParseFlags(rest); err != nil {
		return err
	}
	if err := verb.ValidateArgs(verb.Flags().Args()); err != nil {
		return err
	}
	for flag, values := range choices(verb) {
		if f := verb.Flag(flag); f.Changed && !slices.Contains(values, f.Value.String()) {
			return fmt.Errorf("--%s %s is none of %s", flag, f.Value, strings.Join(values, ", "))
		}
	}
	return nil
}

// parses finds wrong commands.
func TestPageCommandsAreHeld(t *testing.T) {
	for _, line := range []string{"publsh", "detect", "verify a b", "verify -o html a", "insert --chanel x a", "convert --to composite a", "catalogsource convert --to newer a", "diff a"} {
		if parses(strings.Fields(line)) == nil {
			t.Errorf("graft %s is a command", line)
		}
	}
}

// A go command names an existing package, and a bash command an existing script. For any other program the page
// says, in the block or before it, what the program needs.
func TestPageCommandsOfOthers(t *testing.T) {
	needs := map[string]*regexp.Regexp{
		"kubectl": regexp.MustCompile(`(?i)cluster`), "helm": regexp.MustCompile(`(?i)cluster`), "oc": regexp.MustCompile(`(?i)cluster`),
		"docker": regexp.MustCompile(`(?i)account|push|container engine`), "podman": regexp.MustCompile(`(?i)account|container engine`),
		"act": regexp.MustCompile(`\bact\b`), "gh": regexp.MustCompile(`(?i)account|token`), "nats": regexp.MustCompile(`(?i)server`),
	}
	tree := verbTree()
	for _, p := range shown.Read(t, "../..") {
		for _, c := range p.Commands {
			var err error
			switch program := c.Words[0]; {
			case program == "graft":
			case strings.HasPrefix(program, "graft-"):
				err = tree.hasFlags(c)
			case program == "go":
				err = leads(c)
			case program == "bash":
				_, err = os.Stat(filepath.Join("../..", c.Dir, c.Words[1]))
			case needs[program] == nil && !slices.Contains([]string{"git", "yq", "jq"}, program): // recipes run these
				err = fmt.Errorf("say here what %s needs", program)
			case needs[program] != nil && !needs[program].MatchString(c.Around):
				err = fmt.Errorf("the page does not say that it needs %s", needs[program])
			}
			if err != nil {
				t.Errorf("%s:%d: %s: %v", c.File, c.Line, strings.Join(c.Words, " "), err)
			}
		}
		for _, s := range p.Spans {
			if strings.HasPrefix(s.Text, "go run ") {
				if err := leads(shown.Command{Words: strings.Fields(s.Text)}); err != nil {
					t.Errorf("%s:%d: %s: %v", p.File, s.Line, s.Text, err)
				}
			}
		}
	}
}

// hasFlags returns an error if another program of the project lacks a flag of the command.
func (tr *tree) hasFlags(c shown.Command) error {
	for _, w := range c.Words {
		flag, _, _ := strings.Cut(w, "=")
		if strings.HasPrefix(flag, "--") && !tr.others[c.Words[0]+" "+flag] {
			return fmt.Errorf("%s has no flag %s", c.Words[0], flag)
		}
	}
	return nil
}

// leads returns an error if a go command names a missing folder. TestPagesNameTests checks the tests that it
// names.
func leads(c shown.Command) error {
	for _, w := range c.Words {
		dir, ok := strings.CutPrefix(w, "github.com/olmgraft/graft/")
		if dir, _, _ = strings.Cut(dir, "@"); !ok && !strings.HasPrefix(w, ".") {
			continue
		}
		if _, err := os.Stat(filepath.Join("../..", c.Dir, strings.TrimSuffix(dir, "..."))); err != nil {
			return err
		}
	}
	return nil
}

// A verb accepts every value that the shell completes for a flag. It refuses any other value with the flag's name.
func TestCompletedValues(t *testing.T) {
	lines := map[string][]string{
		"insert":  {"--image", "quay.io/example/op:v1.1.0", "--name", "op.v1.1.0", "--version", "1.1.0", "--package", "op", "missing.yaml"},
		"convert": {"missing.yaml"}, "render": {"missing.yaml"}, "verify": {"missing.yaml"}, "diff": {"missing.yaml", "missing.yaml"},
		"graph": {"missing.yaml"}, "path": {"--from", "a", "--to", "b", "missing.yaml"}, "publish": {"--event", "missing.json"},
		"image build": {"--dry-run", "missing"}, "image push": {"--dry-run", "--to", "localhost:1/op", "missing"},
		"catalogsource convert": {"missing.yaml"}, "operand resolve": {"--bundle", "a", "--operand", "b", "missing.yaml"}, "operand images": {"missing.yaml"},
		"operand add": {"--name", "a", "--version", "1.0.0", "--image", "a=quay.io/example/a:v1", "missing.yaml"},
	}
	t.Chdir(t.TempDir())
	found := 0
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
		for flag, values := range choices(cmd) {
			if strings.HasPrefix(cmd.CommandPath(), "graft alpha ") {
				continue // these only name other verbs, which run here themselves
			}
			verb := strings.TrimPrefix(cmd.CommandPath(), "graft ")
			args := append(strings.Fields(verb), lines[verb]...)
			if lines[verb] == nil {
				t.Errorf("graft %s --%s is not run here", verb, flag)
				continue
			}
			for _, value := range append(values, "not-a-value") {
				found++
				refused := refusal(append(slices.Clone(args), "--"+flag, value), flag)
				if refused == (value != "not-a-value") {
					t.Errorf("graft %s --%s %s: refused is %v", verb, flag, value, refused)
				}
			}
		}
	}
	walk(root(&command.App{Env: func(string) (string, bool) { return "", false }}))
	if found < 60 {
		t.Errorf("only %d values were found", found)
	}
}

// refusal reports whether a command line fails because of a flag's value.
func refusal(args []string, flag string) bool {
	var out, errs strings.Builder
	code := Main(context.Background(), args, command.IO{In: strings.NewReader(""), Out: &out, Err: &errs, Env: func(string) (string, bool) { return "", false }})
	return code == 2 && strings.Contains(errs.String(), "--"+flag+": invalid value")
}
