package cli

import (
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/olmgraft/graft/internal/cli/files"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
)

// groups are the verbs as help and the manual page list them, what most people need first.
var groups = []struct {
	title string
	verbs []string
}{
	{"From an event to a pull request:", []string{"publish", "init"}},
	{"Templates:", []string{"detect", "insert", "remove", "edges", "deprecate", "convert"}},
	{"Catalogs:", []string{"render", "verify", "diff", "graph", "path", "image"}},
	{"Beside them:", []string{"catalogsource", "operand", "pin", "formulary"}},
	{"Help:", []string{"explain", "man", "completion", "version", "help"}},
}

func init() { cobra.EnableCommandSorting = false } // group does it

// group puts the verbs in their groups, and in this order.
func group(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	verbs := map[string]*cobra.Command{}
	for _, c := range root.Commands() {
		verbs[c.Name()] = c
	}
	var ordered []*cobra.Command
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, name := range g.verbs {
			if c := verbs[name]; c != nil {
				c.GroupID = g.title
				ordered = append(ordered, c)
				delete(verbs, name)
			}
		}
	}
	root.RemoveCommand(ordered...)
	root.AddCommand(ordered...)
}

// oneOf are the values of flags that take one of a few; --output says its own in its usage.
var oneOf = map[string][]string{
	"commit-method": {"git", "api"},
	"rebuild":       {"refuse", "replace"},
	"drift":         {"warn", "refuse"},
	"new-channel":   {"empty", "like-previous"},
	"semver-skips":  {"major", "minor", "channel"},
	"auto-merge":    {"merge", "squash", "rebase"},
	"strays":        {"warn", "refuse", "include"},
	"to":            {"basic", "goodstuff", "semver"}, // of convert
}

var (
	inBrackets = regexp.MustCompile(`\s*\([^)]*\)`)
	separator  = regexp.MustCompile(`,\s*|\s+or\s+`)
)

// complete has a shell complete values: of flags that take one of a few, channels of the templates
// that the line names, and files that may be templates or catalogs.
func complete(cmd *cobra.Command) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		values := oneOf[f.Name]
		switch {
		case f.Name == "output" && strings.Contains(f.Usage, " or "):
			values = separator.Split(inBrackets.ReplaceAllString(f.Usage, ""), -1)
		case f.Name == "create":
			values = template.Creatable()
		case f.Name == "to" && cmd.Name() != "convert":
			values = nil
		case f.Name == "channel":
			_ = cmd.RegisterFlagCompletionFunc(f.Name, channels)
			return
		}
		if values != nil {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
		}
	})
	if cmd.ValidArgsFunction == nil && regexp.MustCompile(`TEMPLATE|CATALOG|FILE|OLD`).MatchString(cmd.Use) {
		cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"yaml", "yml", "json"}, cobra.ShellCompDirectiveFilterFileExt
		}
	}
	for _, sub := range cmd.Commands() {
		complete(sub)
	}
}

// channels are those of the templates among the arguments.
func channels(_ *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
	for _, arg := range args {
		if arg == "-" {
			continue
		}
		t, err := files.OpenTemplate(nil, arg)
		if err != nil {
			continue
		}
		for _, c := range t.Describe().Channels {
			names = append(names, c.Name)
		}
	}
	return kind.Unique(names), cobra.ShellCompDirectiveNoFileComp
}
