package cli

import (
	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/cli/files"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
)

type deprecateOptions struct {
	deprecation kind.Deprecation
	catalogs    []string
	writing     files.Writing
}

func (a *app) deprecateCommand() *cobra.Command {
	o := &deprecateOptions{}
	cmd := &cobra.Command{
		Use:   "deprecate [--bundle NAME,...] [--channel C,...] --message TEXT TEMPLATE...",
		Short: "Deprecate a package, channels or bundles in catalog templates, in place",
		Long: "Deprecate writes the olm.deprecations of catalog templates: for the bundles and channels that the flags\n" +
			"name, or for the package if they name none. It changes the message of an existing deprecation, and adds\n" +
			"the document if there is none. No other byte changes.\n\n" +
			"Deprecate writes all templates or none. With - for TEMPLATE, it reads the template from standard input and\n" +
			"writes the result to standard output.",
		Example: "  graft deprecate --bundle op.v1.2.3 --message 'op.v1.2.3 is broken. Use op.v1.2.4.' catalog-templates/*.yaml\n" +
			"  graft deprecate --channel alpha --message 'Use the channel stable.' catalog-templates/basic.yaml",
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return a.deprecate(o, args) },
	}
	f, d := cmd.Flags(), &o.deprecation
	f.StringSliceVar(&d.Bundles, "bundle", nil, "bundles to deprecate, by the names of their CSVs")
	f.StringSliceVar(&d.Channels, "channel", nil, "channels to deprecate")
	f.StringVar(&d.Package, "package", "", "package, if a template has several")
	f.StringVar(&d.Message, "message", "", "message for users (required)")
	f.StringSliceVar(&o.catalogs, "catalog", nil, "catalogs of a composite template. Defaults to all")
	o.writing.Flags(f)
	return cmd
}

func (a *app) deprecate(o *deprecateOptions, names []string) error {
	d := &o.deprecation
	d.Bundles, d.Channels = kind.Unique(d.Bundles), kind.Unique(d.Channels)
	if d.Message == "" {
		return failure.New(failure.Usage, "reading the command line: --message is missing").Fix("Give --message with a message for users.")
	}
	return a.editOrStdin(names, o.writing,
		func(at files.Located) (*kind.Outcome, error) {
			return template.Deprecate(at.Repo, at.Path, at.Name, o.catalogs, *d)
		},
		func(t *template.Template) (*kind.Outcome, error) { return t.Deprecate(*d) })
}
