package catalogsource

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/catalogsource"
	"github.com/olmgraft/graft/internal/cli/output"
	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/failure"
)

func validateCommand(a *command.App) *cobra.Command {
	return &cobra.Command{
		Use:   "validate FILE...|-",
		Short: "Check CatalogSources and ClusterCatalogs as an API server does",
		Long: "Validate finds what an API server with deploy/crds/catalogsources.yaml refuses: no source or several,\n" +
			"fields that mean nothing beside others, values of the wrong type. Deprecated fields, unknown fields, and\n" +
			"texts that only look like templates are warnings. Validate checks ClusterCatalogs of OLM v1 against the\n" +
			"definition that comes with it.",
		Example: "  graft catalogsource validate catalogsource.yaml",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			files, err := openManifests(a, args, nil, false)
			if err != nil {
				return err
			}
			var sources []sourceReport
			errs := files.each(args, func(name string, m *catalogsource.Manifest) ([]byte, error) {
				found, err := check(a.Err, name, m)
				sources = append(sources, found...)
				return nil, err
			})
			if err := errors.Join(errs...); err != nil {
				return err
			}
			if a.JSON {
				a.PrintReport(report{output.NewReport("ok"), sources})
				return nil
			}
			for _, s := range sources {
				fmt.Fprintf(a.Out, "%s: %s: ok\n", s.File, s.fullName())
			}
			return nil
		},
	}
}

func check(errs io.Writer, name string, m *catalogsource.Manifest) ([]sourceReport, error) {
	if len(m.Sources) == 0 {
		return nil, failure.New(failure.CatalogSourceInvalid, "checking %s: it has no CatalogSource of %s and no ClusterCatalog of %s", name, catalogsource.Group, catalogsource.ClusterGroup).At(name, 1, 1).
			Fix("Write apiVersion: %s/%s and kind: %s.", catalogsource.Group, catalogsource.Stored, catalogsource.Kind)
	}
	var out []sourceReport
	var faulty []error
	for _, s := range m.Sources {
		rep := sourceReport{File: name, Name: s.Name, Namespace: s.Namespace, Result: "ok"}
		faults, warnings := s.Check()
		for _, f := range faults {
			faulty = append(faulty, f)
		}
		for _, w := range warnings {
			fmt.Fprintf(errs, "graft: %s: warning: %s\n       %s\n", w.Place(), w.Message, w.Remedy)
			rep.Warnings = append(rep.Warnings, warningReport{Message: w.Message, Remedy: w.Remedy, Line: w.Line, Col: w.Col})
		}
		out = append(out, rep)
	}
	return out, errors.Join(faulty...)
}
