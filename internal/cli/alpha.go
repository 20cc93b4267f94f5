package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// alphaCommand has opm's names of the verbs for templates: opm alpha render-template goodstuff FILE.
func (a *app) alphaCommand() *cobra.Command {
	alpha := &cobra.Command{
		Use: "alpha", Short: "What opm alpha does with templates: render, convert and graph by the names that they have there", Hidden: true,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, v := range []struct {
		name string
		verb *cobra.Command
	}{{"render-template", a.renderCommand()}, {"convert-template", a.convertCommand()}, {"render-graph", a.graphCommand()}} {
		_, operands, _ := strings.Cut(v.verb.Use, " ")
		v.verb.Use, v.verb.Aliases = v.name+" "+operands, nil
		alpha.AddCommand(v.verb)
	}
	return alpha
}
