package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/cli/files"
	"github.com/olmgraft/graft/internal/cli/output"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
)

func (a *app) detectCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "detect FILE|DIR|-",
		Short: "Show what kind of catalog template a file is, what it holds, and what is wrong with it",
		Long: "Detect recognizes a catalog template by its content, not by its name, and prints what it holds. It\n" +
			"lists everything that opm would silently misread, with its line. If the kind is known, detect exits 0.",
		Example: "  graft detect catalog-templates/basic.yaml\n  graft detect --json - < semver.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			t, err := files.OpenTemplate(a.In, args[0])
			if err != nil {
				return err
			}
			d := t.Describe()
			if a.JSON {
				a.PrintReport(report{Report: output.NewReport("ok"), Templates: []output.Template{{File: t.Source.Name, Description: &d}}})
				return nil
			}
			a.printDescription(t.Source.Name, d)
			return nil
		},
	}
}

func (a *app) printDescription(name string, d kind.Description) {
	k := d.Kind
	if d.Form != "" {
		k += " (" + d.Form + ")"
	}
	fmt.Fprintf(a.Out, "%s: %s\n", name, k)
	if d.Package != "" {
		fmt.Fprintf(a.Out, "package: %s\n", d.Package)
	}
	if d.DefaultChannel != "" {
		fmt.Fprintf(a.Out, "default channel: %s\n", d.DefaultChannel)
	}
	for _, c := range d.Channels {
		fmt.Fprintf(a.Out, "%s: %s\n", template.Traits(d.Kind).ChannelNoun(), c.Name)
		for _, e := range c.Entries {
			fmt.Fprintf(a.Out, "  %s\n", e)
		}
	}
	if len(d.Inputs) > 0 {
		fmt.Fprintf(a.Out, "inputs: %s\n", strings.Join(d.Inputs, ", "))
	}
	if len(template.Traits(d.Kind).Archetypes) == 0 && len(d.Bundles) > 0 {
		fmt.Fprintln(a.Out, "bundles:")
		for _, b := range d.Bundles {
			fmt.Fprintf(a.Out, "  %s\n", strings.TrimSpace(b.Image+" "+b.Name))
		}
	}
	faults := slices.Concat(d.Problems, d.Warnings)
	slices.SortStableFunc(faults, func(a, b *failure.Error) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	for _, p := range faults {
		fmt.Fprintf(a.Out, "%s: %s\n  %s\n", p.Place(), p.Message, p.Remedy)
	}
}
