package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/catalogsource"
	"github.com/olmgraft/graft/internal/failure"
)

func (a *app) validateSourceCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "validate FILE...|-",
		Short: "Check CatalogSources as an API server does, and say what to do",
		Long: "Validate finds what an API server with deploy/crds/catalogsources.yaml refuses: no source or\n" +
			"several, fields that have no meaning beside others, values of the wrong type. Deprecated fields,\n" +
			"unknown ones, and what looks like a template and is none, are warnings.",
		Example: "  graft catalogsource validate catalogsource.yaml",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			files, err := a.openManifests(args, false)
			if err != nil {
				return err
			}
			var sources []catalogSourceReport
			errs := files.each(args, func(name string, m *catalogsource.Manifest) ([]byte, error) {
				found, err := a.checkSources(name, m)
				sources = append(sources, found...)
				return nil, err
			})
			if err := errors.Join(errs...); err != nil {
				return err
			}
			if a.JSON {
				a.printReport(report{Result: "ok", CatalogSources: sources})
				return nil
			}
			for _, s := range sources {
				fmt.Fprintf(a.Out, "%s: %s: ok\n", s.File, s.fullName())
			}
			return nil
		},
	}
}

func (a *app) checkSources(name string, m *catalogsource.Manifest) ([]catalogSourceReport, error) {
	if len(m.Sources) == 0 {
		return nil, failure.New(failure.CatalogSourceInvalid, "checking %s: it has no CatalogSource of %s", name, catalogsource.Group).At(name, 1, 1).
			Fix("Write apiVersion: %s/%s and kind: %s.", catalogsource.Group, catalogsource.Stored, catalogsource.Kind)
	}
	var out []catalogSourceReport
	var errs []error
	for _, s := range m.Sources {
		rep := catalogSourceReport{File: name, Name: s.Name, Namespace: s.Namespace, Result: "ok"}
		faults, warnings := s.Check()
		for _, f := range faults {
			errs = append(errs, f)
		}
		for _, w := range warnings {
			fmt.Fprintf(a.Err, "graft: %s: warning: %s\n       %s\n", w.Place(), w.Message, w.Remedy)
			rep.Warnings = append(rep.Warnings, warningReport{Message: w.Message, Remedy: w.Remedy, Line: w.Line, Col: w.Col})
		}
		out = append(out, rep)
	}
	return out, errors.Join(errs...)
}

func (a *app) convertSourceCommand() *cobra.Command {
	var to string
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "convert --to new|legacy FILE...|-",
		Short: "Convert CatalogSources between the new and the deprecated form of the spec, in place",
		Long: "Convert says the same in the other form: catalogImageSource, catalogServiceSource and\n" +
			"configMapSource, or sourceType with image, address and configMap. Comments stay, there and back is\n" +
			"the same, and no other byte changes. What a form cannot say is catalogsource-invalid.",
		Example: "  graft catalogsource convert --to new catalogsource.yaml",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			form := catalogsource.Form(to)
			if form != catalogsource.New && form != catalogsource.Legacy {
				return failure.New(failure.Usage, "reading the command line: --to %q", to).Fix("Give --to with new or legacy.")
			}
			return a.convertSources(args, form, dryRun)
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "form of the spec: new or legacy")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "print the difference and write nothing")
	return cmd
}

func (a *app) convertSources(names []string, to catalogsource.Form, dryRun bool) error {
	files, err := a.openManifests(names, dryRun)
	if err != nil {
		return err
	}
	var sources []catalogSourceReport
	errs := files.each(names, func(name string, m *catalogsource.Manifest) ([]byte, error) {
		text, changed, err := m.Convert(to)
		for _, s := range m.Sources {
			rep := catalogSourceReport{File: name, Name: s.Name, Namespace: s.Namespace, Result: "unchanged"}
			for _, c := range changed {
				if c == s {
					rep.Result = "updated"
				}
			}
			sources = append(sources, rep)
		}
		return text, err
	})
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if err := files.finish(dryRun); err != nil || files.stdin {
		return err
	}
	a.reportSources(sources, dryRun)
	return nil
}
