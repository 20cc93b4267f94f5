package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/cli/catalogs"
	"github.com/olmgraft/graft/internal/cli/output"
	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/graph"
	graphreport "github.com/olmgraft/graft/internal/graph/report"
)

type verifyOptions struct {
	catalogs.Verification
	catalogs catalogs.Reader
	output   string
}

func (a *app) verifyCommand() *cobra.Command {
	o := &verifyOptions{}
	cmd := &cobra.Command{
		Use:   "verify [--base CATALOG] [--next CATALOG] [CATALOG|TEMPLATE]",
		Short: "Check the upgrade graph of a catalog",
		Long: "Verify checks the upgrade graph of a catalog, or of the catalog that a template renders to. A fault\n" +
			"that opm validate rejects is an error. A fault that it accepts, and that harms users, is a warning. With --base,\n" +
			"the published catalog, verify also checks that every version that could upgrade still can, under the\n" +
			"rules of OLM v0 and v1. --published does the same for the packages of CATALOG only, for example against\n" +
			"the catalog image of a whole platform. With --next, the catalogs of later platform versions in order,\n" +
			"verify checks that every version has a way forward after a cluster upgrade.\n\n" +
			"Without CATALOG, verify checks each catalog that .github/graft.yaml, or the layout of the community\n" +
			"catalogs, configures in the repository of the working directory.",
		Example: "  graft verify\n  graft verify catalog.yaml\n  graft verify --base published.yaml --next v4.21/catalog.yaml catalog.yaml\n" +
			"  graft verify --published quay.io/operatorhubio/catalog:latest catalog.yaml\n  graft verify -o sarif catalogs/ > graft.sarif",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.verifyConfigured(cmd.Context(), o)
			}
			return a.verify(cmd.Context(), o, args[0])
		},
	}
	f := cmd.Flags()
	o.catalogs = catalogs.Reader{In: a.In, Err: a.Err, Progress: output.NewProgress(a.App)}
	o.catalogs.Flags(f)
	o.Flags(f, "fail on warnings as well")
	f.StringVar(&o.Base, "base", "", "published catalog")
	f.StringSliceVar(&o.Published, "published", nil, "catalogs that users have. No version that they have of the packages of CATALOG may lose its upgrades")
	f.StringSliceVar(&o.Next, "next", nil, "catalogs of later platform versions, in order")
	f.StringVarP(&o.output, "output", "o", "text", "text, json or sarif")
	return cmd
}

func (a *app) verify(ctx context.Context, o *verifyOptions, name string) error {
	levels, err := o.Levels(name)
	if err != nil {
		return err
	}
	found, err := o.catalogs.Verify(ctx, name, &o.Verification, levels)
	if err != nil {
		return err
	}
	return a.reportFindings(o.output, name, found)
}

// verifyConfigured verifies all catalogs that the repository configures, and reports the findings together.
func (a *app) verifyConfigured(ctx context.Context, o *verifyOptions) error {
	if o.Base != "" || len(o.Published)+len(o.Next) > 0 {
		return failure.New(failure.Usage, "reading the command line: --base, --published and --next need CATALOG").Fix("Name the catalog to compare.")
	}
	names, err := catalogs.Configured()
	if err != nil {
		return err
	}
	const few = 10
	shown := strings.Join(names, ", ")
	if len(names) > few {
		shown = fmt.Sprintf("%d catalogs", len(names))
	}
	fmt.Fprintf(a.Err, "graft: verifying %s\n", shown)
	var found []graph.Finding
	var errs []error
	for _, name := range names {
		levels, err := o.Levels(name)
		if err != nil {
			return err
		}
		own, err := o.catalogs.Verify(ctx, name, &o.Verification, levels)
		for i := range own {
			own[i].File = cmp.Or(own[i].File, name)
		}
		found, errs = append(found, own...), append(errs, err)
	}
	err = errors.Join(errs...)
	switch {
	case err == nil:
		return a.reportFindings(o.output, "", found)
	case len(found) > 0 && !a.JSON && o.output == "text": // a document for programs would pass for that of all catalogs
		return errors.Join(a.printFindings(o.output, "", found), err)
	}
	return err
}

// reportFindings fails if one is an error. name is the file for findings without one.
func (a *app) reportFindings(output, name string, found []graph.Finding) error {
	if a.JSON {
		output = "json"
	}
	if err := a.printFindings(output, name, found); err != nil {
		return failure.New(failure.Internal, "writing the findings: %w", err)
	}
	var errs []error
	for _, f := range graph.Failures(found) {
		errs = append(errs, f)
	}
	return command.Printed(errors.Join(errs...))
}

func (a *app) printFindings(output, name string, found []graph.Finding) error {
	switch output {
	case "json":
		a.Reported = true
		return graphreport.JSON(a.Out, found)
	case "sarif":
		a.Reported = true
		return graphreport.SARIF(a.Out, found, graphreport.Tool{Version: command.Version, Catalog: name})
	}
	return graphreport.Text(a.Out, found, graphreport.Style{Color: a.Colour()})
}

func (a *app) diffCommand() *cobra.Command {
	reader := catalogs.Reader{In: a.In, Err: a.Err, Progress: output.NewProgress(a.App)}
	var output string
	cmd := &cobra.Command{
		Use:     "diff OLD NEW",
		Short:   "Show what changed between two catalogs: bundles, edges, and upgrade paths gained and lost",
		Example: "  graft diff published.yaml catalog.yaml\n  graft diff -o markdown published.yaml catalog.yaml",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			old, err := reader.Graph(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			now, err := reader.Graph(cmd.Context(), args[1])
			if err != nil {
				return err
			}
			changes := graph.Diff(old, now)
			if a.JSON {
				output = "json"
			}
			switch output {
			case "text":
				return graphreport.ChangesText(a.Out, changes, graphreport.Style{Color: a.Colour()})
			case "json":
				return graphreport.ChangesJSON(a.Out, changes)
			}
			return graphreport.ChangesMarkdown(a.Out.Documents(), changes)
		},
	}
	reader.Flags(cmd.Flags())
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text, json or markdown")
	return cmd
}
