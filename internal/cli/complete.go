package cli

import (
	"regexp"

	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/cli/files"
	"github.com/olmgraft/graft/internal/template/kind"
)

// complete adds shell completion: for flags with few values, for channels of the templates on the line, and for
// files that may be templates or catalogs.
func complete(cmd *cobra.Command) {
	for flag, values := range choices(cmd) {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
	if cmd.LocalFlags().Lookup("channel") != nil {
		_ = cmd.RegisterFlagCompletionFunc("channel", channels)
	}
	if cmd.ValidArgsFunction == nil && regexp.MustCompile(`TEMPLATE|CATALOG|FILE|OLD`).MatchString(cmd.Use) {
		cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"yaml", "yml", "json"}, cobra.ShellCompDirectiveFilterFileExt
		}
	}
	for _, sub := range cmd.Commands() {
		complete(sub)
	}
}

// channels returns those of the templates among the arguments.
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
