package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/catalogimage"
	"github.com/olmgraft/graft/internal/cli/output"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	graphreport "github.com/olmgraft/graft/internal/graph/report"
	"github.com/olmgraft/graft/internal/oci"
)

// imageOptions are the flags of graft image build and graft image push.
type imageOptions struct {
	catalogs  catalogReader
	base      string
	platforms []string
	source    string
	revision  string
	verify    verifyOptions
	dryRun    bool
}

// scratch names the base that holds nothing.
const scratch = "scratch"

func (a *app) imageCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "image",
		Short: "Build, push and inspect catalog images without a container engine",
		Long: "Image makes a catalog image of the directory of a file-based catalog: one layer with /configs upon a\n" +
			"base, or upon nothing for OLM v1. The catalog is verified first. The same catalog gives the same\n" +
			"digest, and what is published already is not pushed again.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.imageBuildCommand(), a.imagePushCommand(), a.imageInspectCommand())
	return cmd
}

func (o *imageOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	o.catalogs.Flags(f)
	f.StringVar(&o.base, "base", scratch, "image to build upon: an opm image for OLM v0, by reference, OCI layout or tarball")
	f.StringSliceVar(&o.platforms, "platform", nil, "platforms of the base to build for, in place of all; upon scratch, those of the index")
	f.StringVar(&o.source, "source", "", "address of the sources; in GitHub Actions the repository")
	f.StringVar(&o.revision, "revision", "", "commit of the sources; in GitHub Actions that of the run")
	f.StringVar(&o.verify.base, "base-catalog", "", "the catalog as published, of which no installed version may be left behind")
	f.BoolVar(&o.verify.strict, "strict", false, "fail on warnings of the catalog as well")
	f.StringSliceVar(&o.verify.levels, "level", nil, "set the level of a finding: ID=error, ID=warning or ID=off")
	f.BoolVar(&o.dryRun, "dry-run", false, "verify and build, and change nothing")
}

func (a *app) imageBuildCommand() *cobra.Command {
	var output string
	o := &imageOptions{catalogs: catalogReader{app: a}}
	cmd := &cobra.Command{
		Use:   "build --output OCI_LAYOUT_DIR|FILE.tar [--base IMAGE] CATALOG_DIR",
		Short: "Write a catalog image as an OCI layout, in a directory or a tarball",
		Example: "  graft image build --output catalog.tar catalogs/v4.20\n" +
			"  graft image build --base quay.io/operator-framework/opm:v1.72.0 --output layout catalogs/v4.20",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if output == "" && !o.dryRun {
				return failure.New(failure.Usage, "reading the command line: there is no --output").Fix("Give --output with a directory or FILE.tar, or --dry-run.")
			}
			d, err := a.draft(cmd.Context(), o, args[0])
			if err != nil {
				return err
			}
			return a.writeImage(d, output, o.dryRun)
		},
	}
	o.flags(cmd)
	cmd.Flags().StringVarP(&output, "output", "o", "", "OCI layout directory, or FILE.tar, to write")
	return cmd
}

func (a *app) writeImage(d *draft, output string, dryRun bool) error {
	image, err := d.build(d.origin)
	if err != nil {
		return err
	}
	result, where := "planned", output
	if !dryRun {
		result = "created"
		if oci.OnDisk(output) {
			result = "updated"
		}
		changed, err := image.Write(output)
		if err != nil {
			return err
		}
		if !changed {
			result = "unchanged"
		}
	}
	if where == "" {
		where = "image"
	}
	r := d.report(image)
	r.Output = output
	if a.JSON {
		a.printReport(report{Result: result, Image: r})
		return nil
	}
	fmt.Fprintf(a.Out, "%s: %s, %s\n", where, result, image.Digest)
	return nil
}

// draft is a catalog that was verified, and all that an image is made of besides.
type draft struct {
	options *imageOptions
	files   map[string][]byte
	catalog *graph.Catalog
	base    *oci.Base
	origin  catalogimage.Origin
	client  *oci.Client
}

func (a *app) draft(ctx context.Context, o *imageOptions, dir string) (*draft, error) {
	d := &draft{options: o}
	var err error
	if d.files, err = catalogFiles(dir); err != nil {
		return nil, err
	}
	if d.catalog, err = a.verified(ctx, o, dir); err != nil {
		return nil, err
	}
	if d.client, err = o.catalogs.Client(); err != nil {
		return nil, err
	}
	if o.base == scratch {
		d.base, err = oci.Scratch(o.platforms)
	} else {
		d.base, err = d.client.Base(ctx, o.base, o.platforms)
	}
	if err != nil {
		return nil, err
	}
	d.origin, err = a.origin(o, d.base)
	return d, err
}

// catalogFiles reads what opm would read of the directory. Links that lead out of it are
// refused.
func catalogFiles(dir string) (map[string][]byte, error) {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() || oci.OnDisk(dir) {
		return nil, failure.New(failure.TemplateNotFound, "opening the catalog %s: it is no directory of a file-based catalog", dir).At(dir, 0, 0).
			Fix("Name the directory that holds the catalog's files.")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, failure.New(failure.TemplateNotFound, "opening the catalog: %w", err).At(dir, 0, 0)
	}
	defer root.Close()
	names, err := fbc.Files(root.FS(), ".")
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, name := range names {
		if files[name], err = fs.ReadFile(root.FS(), name); err != nil {
			return nil, failure.New(failure.TemplateMalformed, "reading the catalog: %w", err).At(dir+"/"+name, 0, 0).
				Fix("Make it a file that can be read, or name it in .indexignore.")
		}
	}
	return files, nil
}

// verified is the catalog, if it has no errors. Warnings are told.
func (a *app) verified(ctx context.Context, o *imageOptions, dir string) (*graph.Catalog, error) {
	levels, err := graph.ParseLevels(o.verify.levels, o.verify.strict)
	if err != nil {
		return nil, err
	}
	if err := a.configuredLevels(dir, levels); err != nil {
		return nil, err
	}
	var published *graph.Catalog
	if o.verify.base != "" {
		if published, err = o.catalogs.graph(ctx, o.verify.base, &graph.Builder{Light: true}); err != nil {
			return nil, err
		}
	}
	c, err := o.catalogs.graph(ctx, dir, &graph.Builder{Known: published})
	if err != nil {
		return nil, err
	}
	found := graph.Verify(c, published, levels)
	if published != nil {
		found = append(found, graph.CompareBase(published, c, levels)...)
	}
	graph.Sort(found)
	var errs []error
	for _, f := range graph.Failures(found) {
		errs = append(errs, f)
	}
	warnings := slices.DeleteFunc(found, func(f graph.Finding) bool { return f.Level != graph.Warning })
	if len(warnings) > 0 {
		_ = graphreport.Text(a.Err, warnings, graphreport.Style{Color: output.IsTerminal(a.Err)}) // nobody is there to be told
	}
	if len(errs) == 0 && len(c.Packages) == 0 {
		return nil, failure.New(failure.TemplateNotFound, "verifying the catalog: the directory holds no package").At(dir, 0, 0).
			Fix("Name the directory of a file-based catalog.")
	}
	return c, errors.Join(errs...)
}

// origin is where the image comes from, as flags and the workflow's environment say.
func (a *app) origin(o *imageOptions, base *oci.Base) (catalogimage.Origin, error) {
	env := func(key string) string {
		v, _ := a.Env(key)
		return v
	}
	at, err := catalogimage.Epoch(env("SOURCE_DATE_EPOCH"))
	origin := catalogimage.Origin{Source: o.source, Revision: o.revision, Created: at, BaseDigest: base.Digest}
	if server, repository := env("GITHUB_SERVER_URL"), env("GITHUB_REPOSITORY"); origin.Source == "" && server != "" && repository != "" {
		origin.Source = server + "/" + repository
	}
	if origin.Revision == "" {
		origin.Revision = env("GITHUB_SHA")
	}
	if o.base != scratch && !oci.OnDisk(o.base) {
		origin.BaseName = o.base
	}
	return origin, err
}

// build makes the image. The same draft and origin give the same digest.
func (d *draft) build(origin catalogimage.Origin) (*oci.Image, error) {
	uponBase := d.options.base != scratch
	layer, err := catalogimage.Layer(d.files, origin.Created, uponBase)
	if err != nil {
		return nil, err
	}
	r := oci.Recipe{Layer: layer, Labels: origin.Labels(), Annotations: origin.Annotations(), Created: origin.Created}
	if uponBase {
		r.Entrypoint, r.Cmd = catalogimage.Entrypoint, catalogimage.Cmd
	}
	return d.base.Build(r)
}
