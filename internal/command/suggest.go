package command

import (
	"regexp"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var unknownFlag = regexp.MustCompile(`^unknown flag: --([a-z0-9-]+)`)

// meant is the verb or flag that somebody may have meant; "" where none is close.
func meant(cmd *cobra.Command, err error, args []string) string {
	if m := unknownFlag.FindStringSubmatch(err.Error()); m != nil {
		best, least := "", 3
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if d := distance(m[1], f.Name); d < least && !f.Hidden {
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

// distance is how many letters are to be added, removed or changed between two words.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			next := diagonal
			if a[i] != b[j] {
				next = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], next
		}
	}
	return row[len(b)]
}
