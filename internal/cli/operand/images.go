package operand

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/cli/catalogs"
	"github.com/olmgraft/graft/internal/cli/output"
	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/oci"
	"github.com/olmgraft/graft/internal/operand"
)

type imagesOptions struct {
	catalogs  catalogs.Reader
	selection operand.Selection
	operands  []string
	output    string
	expand    bool
}

func imagesCommand(a *command.App) *cobra.Command {
	o := &imagesOptions{catalogs: catalogs.Reader{In: a.In, Err: a.Err}}
	cmd := &cobra.Command{
		Use:   "images [--bundle NAME] [--package P] [--operand NAME[@RANGE]] CATALOG...",
		Short: "List the images that a site must mirror",
		Long: "Images lists the images that a set of operators needs: those of the bundles, their related images, the\n" +
			"sets of related images and the operands that they use, and the same for what they require. Without\n" +
			"--bundle and --package it lists everything in the catalogs. With --operand, only these operands count,\n" +
			"each at the highest version in its range; repeat it for each version.",
		Example: "  graft operand images catalog.yaml\n" +
			"  graft operand images --bundle etcdoperator.v0.6.1 --operand 'etcd@3.x' -o imageset catalog.yaml operands.yaml",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return images(cmd.Context(), a, o, args) },
	}
	f := cmd.Flags()
	o.catalogs.Flags(f)
	f.StringSliceVar(&o.selection.Bundles, "bundle", nil, "bundles to install")
	f.StringSliceVar(&o.selection.Packages, "package", nil, "packages whose bundles all count")
	f.StringArrayVar(&o.operands, "operand", nil, "operand or set of related images to use, NAME or NAME@RANGE")
	f.StringVarP(&o.output, "output", "o", "list", "list, imageset (for oc-mirror) or skopeo (for skopeo sync)")
	f.BoolVar(&o.expand, "expand", false, "also list the images in manifest lists, from the registries")
	return cmd
}

func images(ctx context.Context, a *command.App, o *imagesOptions, names []string) error {
	formats := map[string]func([]string) string{
		"list": func(images []string) string {
			return strings.Join(append(images, ""), "\n")
		},
		"imageset": operand.ImageSet, "skopeo": operand.Skopeo,
	}
	var err error
	if o.selection.Operands, err = parseRequests(o.operands); err != nil {
		return err
	}
	set, err := read(ctx, &o.catalogs, names)
	if err != nil {
		return err
	}
	found, err := set.Mirror(o.selection)
	if err == nil && o.expand {
		found, err = o.expanded(ctx, found)
	}
	if err != nil {
		return err
	}
	if a.JSON {
		a.PrintReport(report{Report: output.NewReport("ok"), Mirror: found})
		return nil
	}
	_, err = fmt.Fprint(a.Out.Documents(), formats[o.output](found))
	return err
}

// expanded adds the images in manifest lists.
func (o *imagesOptions) expanded(ctx context.Context, images []string) ([]string, error) {
	client, err := o.catalogs.Client()
	if err != nil {
		return nil, err
	}
	members, err := oci.ForEach(o.catalogs.Jobs, images, func(image string) ([]string, error) { return client.Members(ctx, image) })
	if err != nil {
		return nil, err
	}
	for image, digests := range members {
		for _, digest := range digests {
			images = append(images, operand.ByDigest(image, digest))
		}
	}
	slices.Sort(images)
	return slices.Compact(images), nil
}
