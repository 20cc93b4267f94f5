package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/cli/files"
	"github.com/olmgraft/graft/internal/cli/registry"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
)

type removeOptions struct {
	removal  kind.Removal
	catalogs []string
	base     []string
	registry registry.Options
	writing  files.Writing
}

func (a *app) removeCommand() *cobra.Command {
	o := &removeOptions{}
	cmd := &cobra.Command{
		Use:   "remove --bundle NAME[,NAME...] [--channel C[,C...]] TEMPLATE...",
		Short: "Take bundles or channels out of catalog templates, in place",
		Long: "Remove takes bundles out of catalog templates and touches no byte that is not theirs: their entries,\n" +
			"in all channels or those named; their images and deprecations when no channel lists them any more.\n" +
			"What replaced a bundle that goes replaces what that replaced. With --channel and no --bundle the\n" +
			"channels go, with the bundles that no other channel has.\n\n" +
			"Where somebody could reach the head of a channel before and could not after, it is refused\n" +
			"(upgrade-path-lost) without --allow-stranded. A default channel never goes: --default-channel\n" +
			"makes another one the default. With --tombstone the entries of a goodstuff template stay: the bundle\n" +
			"goes, and the next version skips it, so that who has it is upgraded. What is not there is not removed: the same remove again\n" +
			"changes nothing.\n\n" +
			"All templates are written or none. With - for TEMPLATE the template is read from standard input\n" +
			"and the result goes to standard output.",
		Example: "  graft remove --bundle op.v1.2.3 --allow-stranded catalog-templates/*.yaml\n" +
			"  graft remove --channel alpha --allow-stranded --base catalog.yaml catalog-templates/basic.yaml",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.remove(cmd.Context(), o, args) },
	}
	f, r := cmd.Flags(), &o.removal
	o.registry.Flags(f)
	f.StringSliceVar(&r.Bundles, "bundle", nil, "the bundles to remove, by the names of their CSVs")
	f.StringSliceVar(&r.Channels, "channel", nil, "channels or archetypes to remove them from (all); without --bundle, channels to remove")
	f.StringVar(&r.Package, "package", "", "the package, where a template holds several")
	f.StringVar(&r.DefaultChannel, "default-channel", "", "make this the package's default channel")
	f.StringSliceVar(&o.base, "base", nil, "rendered catalogs, which tell names and images of bundles")
	f.StringSliceVar(&o.catalogs, "catalog", nil, "catalogs of a composite template (all)")
	f.BoolVar(&r.Tombstone, "tombstone", false, "leave the entries of a goodstuff template where they are, as tombstones that the next version skips")
	f.BoolVar(&r.AllowStranded, "allow-stranded", false, "remove even what somebody may have installed and could not upgrade from")
	o.writing.Flags(f)
	return cmd
}

func (a *app) remove(ctx context.Context, o *removeOptions, names []string) error {
	r := &o.removal
	r.Bundles, r.Channels = kind.Unique(r.Bundles), kind.Unique(r.Channels)
	if len(r.Bundles)+len(r.Channels) == 0 {
		return failure.New(failure.Usage, "reading the command line: neither --bundle nor --channel is given").Fix("Say what is to go.")
	}
	if r.Tombstone && len(r.Bundles) == 0 {
		return failure.New(failure.Usage, "reading the command line: --tombstone without --bundle").Fix("Give --bundle.")
	}
	var err error
	if r.Names, r.NamesOf, err = a.bundleNames(ctx, o.base, o.registry); err != nil {
		return err
	}
	return a.editOrStdin(names, o.writing,
		func(at files.Located) (*kind.Outcome, error) {
			return template.Remove(at.Repo, at.Path, at.Name, o.catalogs, *r)
		},
		func(t *template.Template) (*kind.Outcome, error) { return t.Remove(*r) })
}
