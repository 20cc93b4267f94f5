package command

import (
	"regexp"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/olmgraft/graft/internal/failure"
)

var unknownFlag = regexp.MustCompile(`^unknown flag: --([a-z0-9-]+)`)

// meant returns the closest verb or flag, or "" if none is close.
func meant(cmd *cobra.Command, err error, args []string) string {
	if m := unknownFlag.FindStringSubmatch(err.Error()); m != nil {
		best, least := "", 3
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if d := failure.Distance(m[1], f.Name); d < least && !f.Hidden {
				best, least = "--"+f.Name, d
			}
		})
		return best
	}
	if len(args) > 0 && cmd.HasSubCommands() {
		cmd.SuggestionsMinimumDistance = 2
		if all := cmd.SuggestionsFor(args[0]); len(all) > 0 {
			return cmd.CommandPath() + " " + all[0]
		}
	}
	return ""
}
