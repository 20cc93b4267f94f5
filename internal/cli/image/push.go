package image

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/action"
	"github.com/olmgraft/graft/internal/catalogimage"
	"github.com/olmgraft/graft/internal/cli/catalogs"
	"github.com/olmgraft/graft/internal/cli/output"
	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/plan"
)

type pushOptions struct {
	options
	to              string
	tags            []string
	platformVersion string
	kubeVersion     string
}

func pushCommand(a *command.App) *cobra.Command {
	o := &pushOptions{options: options{catalogs: catalogs.Reader{In: a.In, Err: a.Err, Progress: output.NewProgress(a)}}}
	cmd := &cobra.Command{
		Use:   "push --to REPOSITORY [--tag PATTERN] [--base IMAGE] CATALOG_DIR",
		Short: "Build a catalog image and push it, unless it is already published",
		Long: "Push builds a catalog image and points the tags at it. It leaves a tag alone that already has the same\n" +
			"content, even from another commit. The pattern of a tag can contain " + strings.Join(catalogimage.Placeholders(), ", ") + ".\n" +
			"In GitHub Actions, push sets the outputs image, digest and changed.",
		Example: "  graft image push --to quay.io/example/catalog --tag 'v{platform_version}' --base quay.io/operator-framework/opm:v1.72.0 catalogs/v4.20\n" +
			"  graft image push --to quay.io/example/catalog --tag 'v{kube_major_version}.{kube_minor_version}' --kube-version v1.30.2 catalog",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			runner := action.Running(a.Env, a.Err)
			r, err := push(cmd.Context(), a, o, runner, args[0])
			if runner != nil {
				err = errors.Join(err, tellRunner(runner, r, err))
			}
			if err != nil {
				return err
			}
			printPushed(a, o.to, r)
			return nil
		},
	}
	o.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.to, "to", "", "repository to push to, without a tag")
	f.StringSliceVar(&o.tags, "tag", []string{"latest"}, "tags, with placeholders")
	f.StringVar(&o.platformVersion, "platform-version", "", "value of {platform_version}. Defaults to the version in the name of a folder of the path")
	f.StringVar(&o.kubeVersion, "kube-version", "", "version of Kubernetes, for {kube_major_version} and the like")
	return cmd
}

func push(ctx context.Context, a *command.App, o *pushOptions, runner *action.Action, dir string) (*report, error) {
	if o.to == "" {
		return nil, failure.New(failure.Usage, "reading the command line: there is no --to").Fix("Give --to with a repository, such as quay.io/example/catalog.")
	}
	d, err := newDraft(ctx, a, &o.options, dir)
	if err != nil {
		return nil, err
	}
	tags, err := o.values(d, dir).Tags(o.tags)
	if err != nil {
		return nil, err
	}
	target, err := d.client.Target(ctx, o.to, d.Base, !o.dryRun)
	if err != nil {
		return nil, err
	}
	progress := o.catalogs.Progress
	defer progress.End()
	progress.Begin("comparing the image with the tags of %s", o.to)
	target.Pushing = func(tag string, n, total int) {
		what := "pushing " + o.to + ":" + tag
		if runner != nil {
			fmt.Fprintf(a.Err, "graft: %s\n", what)
		}
		progress.Of(what, n, total)
	}
	image, published, err := target.Publish(ctx, d.CatalogImage, tags, o.dryRun)
	if err != nil {
		return nil, err
	}
	r := d.report(image)
	r.Image = o.to + "@" + image.Digest
	result := "unchanged"
	for _, t := range published {
		if r.Tags = append(r.Tags, tagReport(t)); t.Result != "unchanged" && result != "updated" {
			result = t.Result
		}
	}
	return &report{output.NewReport(result), r}, nil
}

// values returns the values of the placeholders in tags.
func (o *pushOptions) values(d *draft, dir string) catalogimage.Values {
	v := catalogimage.Values{PlatformVersion: o.platformVersion, Revision: d.Origin.Revision, KubeVersion: o.kubeVersion}
	if abs, err := filepath.Abs(dir); err == nil && v.PlatformVersion == "" {
		if p, ok := plan.PlatformOf(filepath.ToSlash(abs) + "/catalog"); ok {
			v.PlatformVersion = p.String()
		}
	}
	if len(d.catalog.Packages) != 1 {
		return v
	}
	p := d.catalog.Packages[0]
	v.Package = p.Name
	if head := p.Head(); head != nil && head.HasVersion {
		v.Version = head.Version.String()
	}
	return v
}

func printPushed(a *command.App, to string, r *report) {
	if a.JSON {
		a.PrintReport(r)
		return
	}
	for _, t := range r.Image.Tags {
		fmt.Fprintf(a.Out, "%s:%s: %s, %s\n", to, t.Tag, t.Result, r.Image.Digest)
	}
}

// tellRunner sets the outputs of the step and annotates failures.
func tellRunner(runner *action.Action, r *report, failed error) error {
	var image, digest string
	changed := false
	if r != nil {
		image, digest, changed = r.Image.Image, r.Image.Digest, r.Result == "created" || r.Result == "updated"
	}
	runner.Fail(failure.All(failed))
	return errors.Join(runner.Output("image", image), runner.Output("digest", digest), runner.Output("changed", strconv.FormatBool(changed)))
}
