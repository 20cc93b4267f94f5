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
		Short: "Remove bundles or channels from catalog templates, in place",
		Long: "Remove takes bundles out of catalog templates and changes no other byte. It removes their entries from\n" +
			"all channels, or from those that --channel names, and their images and deprecations once no channel\n" +
			"lists them. An entry that replaced a removed bundle then replaces what that bundle replaced. With\n" +
			"--channel and without --bundle, it removes channels, and the bundles that no other channel has.\n\n" +
			"If a version could reach the head of its channel before and could not afterwards, remove refuses\n" +
			"(upgrade-path-lost), unless --allow-stranded is given. It never removes the default channel: give\n" +
			"--default-channel to choose another one. With --tombstone, the entries of a goodstuff template stay: the\n" +
			"bundle goes, and the next version skips it, so that its users can upgrade. Removing what the template\n" +
			"does not have changes nothing.\n\n" +
			"Remove writes all templates or none. With - for TEMPLATE, it reads the template from standard input and\n" +
			"writes the result to standard output.",
		Example: "  graft remove --bundle op.v1.2.3 --allow-stranded catalog-templates/*.yaml\n" +
			"  graft remove --channel alpha --allow-stranded --base catalog.yaml catalog-templates/basic.yaml",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.remove(cmd.Context(), o, args) },
	}
	f, r := cmd.Flags(), &o.removal
	o.registry.Flags(f)
	f.StringSliceVar(&r.Bundles, "bundle", nil, "bundles to remove, by the names of their CSVs")
	f.StringSliceVar(&r.Channels, "channel", nil, "channels or archetypes to remove the bundles from. Defaults to all. Without --bundle, channels to remove")
	f.StringVar(&r.Package, "package", "", "package, if a template has several")
	f.StringVar(&r.DefaultChannel, "default-channel", "", "make this the package's default channel")
	f.StringSliceVar(&o.base, "base", nil, "rendered catalogs, from which Graft takes the names of bundle images")
	f.StringSliceVar(&o.catalogs, "catalog", nil, "catalogs of a composite template. Defaults to all")
	f.BoolVar(&r.Tombstone, "tombstone", false, "leave the entries of a goodstuff template in place, as tombstones that the next version skips")
	f.BoolVar(&r.AllowStranded, "allow-stranded", false, "remove even if an installed version can then no longer upgrade")
	o.writing.Flags(f)
	return cmd
}

func (a *app) remove(ctx context.Context, o *removeOptions, names []string) error {
	r := &o.removal
	r.Bundles, r.Channels = kind.Unique(r.Bundles), kind.Unique(r.Channels)
	if len(r.Bundles)+len(r.Channels) == 0 {
		return failure.New(failure.Usage, "reading the command line: neither --bundle nor --channel is given").Fix("Give --bundle or --channel.")
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
