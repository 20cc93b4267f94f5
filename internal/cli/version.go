package cli

import (
	"cmp"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/command"
)

// opmVersion is the opm whose output Graft reproduces.
const opmVersion = "v1.73.0"

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, the commit, and the version of opm that Graft reproduces",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			var source command.Source
			if info, ok := debug.ReadBuildInfo(); ok {
				source = command.SourceOf(info)
			}
			if a.JSON {
				a.PrintJSON(map[string]any{
					"schemaVersion": 1, "version": command.Version, "commit": cmp.Or(source.Commit, "unknown"),
					"time": source.Time, "modified": source.Modified, "opm": opmVersion,
				})
				return nil
			}
			fmt.Fprintf(a.Out, "graft %s%s, compatible with opm %s\n", command.Version, source, opmVersion)
			return nil
		},
	}
}
