// Package image is graft image: catalog images, without a container engine.
package image

import (
	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/command"
)

// Command is the family.
func Command(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "image",
		Short: "Build, push and inspect catalog images without a container engine",
		Long: "Image makes a catalog image of the directory of a file-based catalog: one layer with /configs upon a\n" +
			"base, or upon nothing for OLM v1. The catalog is verified first. The same catalog gives the same\n" +
			"digest, and what is published already is not pushed again.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(buildCommand(a), pushCommand(a), inspectCommand(a))
	return cmd
}
