// Package cli is the command line of graft: a file for each verb, a folder for a family of them.
package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/cli/catalogsource"
	"github.com/olmgraft/graft/internal/cli/image"
	"github.com/olmgraft/graft/internal/cli/operand"
	"github.com/olmgraft/graft/internal/cli/publish"
	"github.com/olmgraft/graft/internal/cli/registry"
	"github.com/olmgraft/graft/internal/command"
)

// Main runs the command line and returns its exit code.
func Main(ctx context.Context, args []string, stdio command.IO) (code int) {
	return command.Main(ctx, args, stdio, root)
}

// app is the state of one run.
type app struct{ *command.App }

func root(run *command.App) *cobra.Command {
	a := &app{run}
	root := run.Root(&cobra.Command{
		Use:   "graft",
		Short: "Put operator bundles on the upgrade graphs of OLM catalogs",
		Long:  "Graft inserts newly published operator bundles into OLM catalogs. It changes only the lines that\na bundle needs.",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	})
	root.AddCommand(
		a.insertCommand(), a.removeCommand(), a.deprecateCommand(), a.edgesCommand(), a.renderCommand(), a.verifyCommand(), publish.Command(run), a.initCommand(),
		a.detectCommand(), a.diffCommand(), a.graphCommand(), a.pathCommand(), a.convertCommand(),
		image.Command(run), catalogsource.Command(run), operand.Command(run), a.pinCommand(),
		a.explainCommand(), a.formularyCommand(), a.manCommand(), a.versionCommand(), a.alphaCommand(),
	)
	for _, verb := range moved() {
		root.AddCommand(verb)
	}
	registry.RefuseBoth(root)
	refuseOthers(root)
	group(root)
	complete(root)
	return root
}
