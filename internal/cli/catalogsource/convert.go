package catalogsource

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/catalogsource"
	"github.com/olmgraft/graft/internal/cli/files"
	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/failure"
)

func convertCommand(a *command.App) *cobra.Command {
	var to string
	var how files.Writing
	cmd := &cobra.Command{
		Use:   "convert --to new|legacy FILE...|-",
		Short: "Convert CatalogSources between the new and the deprecated form of the spec, in place",
		Long: "Convert rewrites the spec from one form to the other: from sourceType with image, address and configMap\n" +
			"to catalogImageSource, catalogServiceSource and configMapSource, or back. Comments stay, no other byte\n" +
			"changes, and converting back gives the original. If a form cannot express the spec, convert fails with\n" +
			"catalogsource-invalid.",
		Example: "  graft catalogsource convert --to new catalogsource.yaml",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			form := catalogsource.Form(to)
			if form != catalogsource.New && form != catalogsource.Legacy {
				return failure.New(failure.Usage, "reading the command line: --to: invalid value %q", to).Fix("Give --to with new or legacy.")
			}
			return convert(a, args, form, how)
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "form of the spec: new or legacy")
	how.Flags(cmd.Flags())
	return cmd
}

func convert(a *command.App, names []string, to catalogsource.Form, how files.Writing) error {
	m, err := openManifests(a, names, &how, false)
	if err != nil {
		return err
	}
	var sources []sourceReport
	errs := m.each(names, func(name string, m *catalogsource.Manifest) ([]byte, error) {
		text, changed, err := m.Convert(to)
		for _, s := range m.Sources {
			rep := sourceReport{File: name, Name: s.Name, Namespace: s.Namespace, Result: "unchanged"}
			if slices.Contains(changed, s) {
				rep.Result = "updated"
			}
			sources = append(sources, rep)
		}
		return text, err
	})
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if err := m.finish(); err != nil || m.stdin {
		return err
	}
	tell(a, sources, how.DryRun)
	return nil
}
