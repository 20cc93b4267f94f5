package image

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/atomicfile"
	"github.com/olmgraft/graft/internal/cli/catalogs"
	"github.com/olmgraft/graft/internal/cli/files"
	"github.com/olmgraft/graft/internal/cli/output"
	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/oci"
)

// options are the flags of graft image build and graft image push.
type options struct {
	catalogs  catalogs.Reader
	base      string
	platforms []string
	source    string
	revision  string
	verify    catalogs.Verification
	dryRun    bool
}

// scratch names the empty base.
const scratch = "scratch"

func (o *options) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	o.catalogs.Flags(f)
	f.StringVar(&o.base, "base", scratch, "base image: an opm image for OLM v0, by reference, OCI layout or tarball")
	f.StringSliceVar(&o.platforms, "platform", nil, "platforms of the base to build for. Defaults to all. Without a base, the platforms of the index")
	f.StringVar(&o.source, "source", "", "address of the sources; in GitHub Actions the repository")
	f.StringVar(&o.revision, "revision", "", "commit of the sources. In GitHub Actions, defaults to the run's")
	o.verify.Flags(f, "fail on warnings of the catalog as well")
	f.StringVar(&o.verify.Base, "base-catalog", "", "published catalog, of which every installed version must still upgrade")
	f.BoolVar(&o.dryRun, "dry-run", false, "verify and build, and change nothing")
}

func buildCommand(a *command.App) *cobra.Command {
	var to string
	var writing files.Writing
	o := &options{catalogs: catalogs.Reader{In: a.In, Err: a.Err, Progress: output.NewProgress(a)}}
	cmd := &cobra.Command{
		Use:   "build --output OCI_LAYOUT_DIR|FILE.tar [--base IMAGE] CATALOG_DIR",
		Short: "Write a catalog image as an OCI layout, in a directory or a tarball",
		Example: "  graft image build --output catalog.tar catalogs/v4.20\n" +
			"  graft image build --base quay.io/operator-framework/opm:v1.72.0 --output layout catalogs/v4.20",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if to == "" && !o.dryRun {
				return failure.New(failure.Usage, "reading the command line: there is no --output").Fix("Give --output with a directory or FILE.tar, or --dry-run.")
			}
			var at atomicfile.Place
			if to != "" {
				var err error
				if at, err = atomicfile.Locate(to, writing.Outside); err != nil {
					return err
				}
			}
			d, err := newDraft(cmd.Context(), a, o, args[0])
			if err != nil {
				return err
			}
			return write(a, d, to, at, o.dryRun)
		},
	}
	o.flags(cmd)
	writing.OutsideFlag(cmd.Flags())
	cmd.Flags().StringVarP(&to, "output", "o", "", "OCI layout directory to write, or FILE.tar")
	return cmd
}

func write(a *command.App, d *draft, to string, at atomicfile.Place, dryRun bool) error {
	image, err := d.Build()
	if err != nil {
		return err
	}
	result, where := "planned", to
	if !dryRun {
		result = "created"
		if oci.OnDisk(to) {
			result = "updated"
		}
		changed, err := image.Write(at)
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
	r.Output = to
	if a.JSON {
		a.PrintReport(report{output.NewReport(result), r})
		return nil
	}
	fmt.Fprintf(a.Out, "%s: %s, %s\n", where, result, image.Digest)
	return nil
}
