package cli

import (
	"github.com/blang/semver/v4"
	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/cli/files"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
)

type edgesOptions struct {
	edges     kind.Edges
	replaces  string
	skips     []string
	skipRange string
	catalogs  []string
	writing   files.Writing
}

func (a *app) edgesCommand() *cobra.Command {
	o := &edgesOptions{}
	cmd := &cobra.Command{
		Use:   "edges --bundle NAME [--channel C,...] [--replaces NAME] [--skips NAME,...] [--skip-range RANGE] TEMPLATE...",
		Short: "Change what a bundle replaces and skips in catalog templates, in place",
		Long: "Edges changes what the entries of a bundle replace and skip, in all channels that list the bundle or in\n" +
			"those that --channel names. An edge without a flag stays as it is; an empty value removes it. No other\n" +
			"byte changes.\n\n" +
			"If a version could reach the head of its channel before and could not afterwards, edges refuses\n" +
			"(upgrade-path-lost), unless --allow-stranded is given. Setting the same edges again changes nothing.\n\n" +
			"Edges writes all templates or none. With - for TEMPLATE, it reads the template from standard input and\n" +
			"writes the result to standard output.",
		Example: "  graft edges --bundle op.v1.2.3 --skip-range '>=1.0.0 <1.2.3' catalog-templates/*.yaml\n" +
			"  graft edges --bundle op.v1.2.3 --channel stable --replaces '' --allow-stranded catalog-templates/basic.yaml",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.edges(cmd, o, args) },
	}
	f, e := cmd.Flags(), &o.edges
	f.StringVar(&e.Bundle, "bundle", "", "bundle, by the name of its CSV (required)")
	f.StringSliceVar(&e.Channels, "channel", nil, "channels in which to change the edges. Defaults to all that list the bundle")
	f.StringVar(&e.Package, "package", "", "package, if a template has several")
	f.StringVar(&o.replaces, "replaces", "", "bundle that it replaces")
	f.StringSliceVar(&o.skips, "skips", nil, "all bundles that it skips")
	f.StringVar(&o.skipRange, "skip-range", "", "range of versions that it skips")
	f.StringSliceVar(&o.catalogs, "catalog", nil, "catalogs of a composite template. Defaults to all")
	f.BoolVar(&e.AllowMissingPredecessor, "allow-missing-predecessor", false, "accept a --replaces that the channel does not have")
	f.BoolVar(&e.AllowStranded, "allow-stranded", false, "change edges even if an installed version can then no longer upgrade")
	o.writing.Flags(f)
	return cmd
}

func (a *app) edges(cmd *cobra.Command, o *edgesOptions, names []string) error {
	e := &o.edges
	if cmd.Flags().Changed("replaces") {
		e.Replaces = &o.replaces
	}
	if cmd.Flags().Changed("skips") {
		e.Skips = &o.skips
	}
	if cmd.Flags().Changed("skip-range") {
		e.SkipRange = &o.skipRange
	}
	e.Channels = kind.Unique(e.Channels)
	switch {
	case e.Bundle == "":
		return failure.New(failure.Usage, "reading the command line: --bundle is missing").Fix("Give --bundle with the bundle to change.")
	case e.Replaces == nil && e.Skips == nil && e.SkipRange == nil:
		return failure.New(failure.Usage, "reading the command line: none of --replaces, --skips and --skip-range is given").Fix("Give --replaces, --skips or --skip-range.")
	case o.skipRange != "":
		if _, err := semver.ParseRange(o.skipRange); err != nil {
			return failure.New(failure.Usage, "reading the command line: --skip-range: invalid value %q: %w", o.skipRange, err).Fix("Give a range such as %q.", ">=1.0.0 <1.2.3")
		}
	}
	return a.editOrStdin(names, o.writing,
		func(at files.Located) (*kind.Outcome, error) {
			return template.SetEdges(at.Repo, at.Path, at.Name, o.catalogs, *e)
		},
		func(t *template.Template) (*kind.Outcome, error) { return t.SetEdges(*e) })
}
