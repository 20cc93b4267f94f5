package cli

import (
	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/failure"
)

// moved returns verbs that became programs of their own. They print where to find the program.
func moved() (verbs []*cobra.Command) {
	for _, v := range []struct{ name, remedy string }{
		{"demo", "Run go run github.com/olmgraft/graft/cmd/graft-demo@latest."},
		{"relay", "Run graft-relay, from the image ghcr.io/olmgraft/graft-relay or by go install github.com/olmgraft/graft/cmd/graft-relay@latest."},
	} {
		verbs = append(verbs, &cobra.Command{
			Use: v.name, Short: "Went to graft-" + v.name, Long: v.remedy, Hidden: true,
			FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
			RunE: func(*cobra.Command, []string) error {
				return failure.New(failure.Usage, "running graft %s: it is a program of its own now, graft-%s", v.name, v.name).Fix("%s", v.remedy)
			},
		})
	}
	return verbs
}
