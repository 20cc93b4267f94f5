package cli

import "github.com/spf13/cobra"

// groups lists the verbs as help and the manual page show them, most needed first.
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

func init() { cobra.EnableCommandSorting = false } // group orders them

// group assigns the verbs to their groups in this order.
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
