// Package image implements graft image: catalog images without a container engine.
package image

import (
	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/command"
)

// Command returns the family of verbs.
func Command(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "image",
		Short: "Build, push and inspect catalog images without a container engine",
		Long: "Image builds a catalog image from the directory of a file-based catalog: one layer with /configs on top of\n" +
			"a base image, or on top of nothing for OLM v1. It verifies the catalog first. The same catalog gives the\n" +
			"same digest, and an image that is already published is not pushed again.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(buildCommand(a), pushCommand(a), inspectCommand(a))
	return cmd
}
