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
		Short: "Change what an entry of catalog templates replaces and skips, in place",
		Long: "Edges has the entries of a bundle, in all channels that list it or those named, replace and skip\n" +
			"what is asked for. An edge that no flag names stays as it is; one that is given empty goes. No\n" +
			"other byte is touched.\n\n" +
			"Where somebody could reach the head of a channel before and could not after, it is refused\n" +
			"(upgrade-path-lost) without --allow-stranded. The same edges again change nothing.\n\n" +
			"All templates are written or none. With - for TEMPLATE the template is read from standard input\n" +
			"and the result goes to standard output.",
		Example: "  graft edges --bundle op.v1.2.3 --skip-range '>=1.0.0 <1.2.3' catalog-templates/*.yaml\n" +
			"  graft edges --bundle op.v1.2.3 --channel stable --replaces '' --allow-stranded catalog-templates/basic.yaml",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.edges(cmd, o, args) },
	}
	f, e := cmd.Flags(), &o.edges
	f.StringVar(&e.Bundle, "bundle", "", "the bundle, by the name of its CSV (required)")
	f.StringSliceVar(&e.Channels, "channel", nil, "channels in which to change them (all that list it)")
	f.StringVar(&e.Package, "package", "", "the package, where a template holds several")
	f.StringVar(&o.replaces, "replaces", "", "the bundle that it is to replace")
	f.StringSliceVar(&o.skips, "skips", nil, "all bundles that it is to skip")
	f.StringVar(&o.skipRange, "skip-range", "", "range of versions that it is to skip")
	f.StringSliceVar(&o.catalogs, "catalog", nil, "catalogs of a composite template (all)")
	f.BoolVar(&e.AllowMissingPredecessor, "allow-missing-predecessor", false, "accept a --replaces that the channel does not know")
	f.BoolVar(&e.AllowStranded, "allow-stranded", false, "change even what somebody may have installed and could not upgrade from")
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
		return failure.New(failure.Usage, "reading the command line: --bundle is missing").Fix("Name the bundle whose edges are to change.")
	case e.Replaces == nil && e.Skips == nil && e.SkipRange == nil:
		return failure.New(failure.Usage, "reading the command line: none of --replaces, --skips and --skip-range is given").Fix("Say which edges are to change.")
	case o.skipRange != "":
		if _, err := semver.ParseRange(o.skipRange); err != nil {
			return failure.New(failure.Usage, "reading the command line: --skip-range %q: %w", o.skipRange, err).Fix("Give a range such as %q.", ">=1.0.0 <1.2.3")
		}
	}
	return a.editOrStdin(names, o.writing,
		func(at files.Located) (*kind.Outcome, error) {
			return template.SetEdges(at.Repo, at.Path, at.Name, o.catalogs, *e)
		},
		func(t *template.Template) (*kind.Outcome, error) { return t.SetEdges(*e) })
}
