package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/cli/files"
	"github.com/olmgraft/graft/internal/cli/output"
	"github.com/olmgraft/graft/internal/cli/registry"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/operand"
	"github.com/olmgraft/graft/internal/template/kind"
)

type pinOptions struct {
	registry        registry.Options
	check           bool
	lock, writeLock string
	writing         files.Writing
}

func (a *app) pinCommand() *cobra.Command {
	o := &pinOptions{}
	cmd := &cobra.Command{
		Use:   "pin BUNDLE_DIR|FILE|TEMPLATE...",
		Short: "Replace the tags of images with digests, in place",
		Long: "Pin replaces the tags of images with digests and changes no other byte. In a bundle's\n" +
			"ClusterServiceVersion it pins related images, containers and init containers, and variables and\n" +
			"annotations that are images. In semver and basic templates and in catalogs it pins bundles, their related\n" +
			"images, and the images of operands. The digest of an image for several platforms is that of its index.\n\n" +
			"With --check, pin contacts no registry and writes nothing: an image that is named by tag is a failure\n" +
			"(image-unpinned). Pin writes all files or none. With -, it reads standard input and writes standard output.",
		Example: "  graft pin bundle/\n  graft pin --check bundle/ catalog-templates/semver.yaml\n" +
			"  graft pin --write-lock images.lock bundle/ && graft pin --lock images.lock other-bundle/",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.pin(cmd.Context(), o, kind.Unique(args)) },
	}
	f := cmd.Flags()
	o.registry.Flags(f)
	f.BoolVar(&o.check, "check", false, "fail if an image is named by tag, and change nothing")
	f.StringVar(&o.lock, "lock", "", "take the digests from this file, and contact no registry")
	f.StringVar(&o.writeLock, "write-lock", "", "add the digests to this file")
	o.writing.Flags(f)
	return cmd
}

func (a *app) pin(ctx context.Context, o *pinOptions, names []string) error {
	if err := o.contradiction(names, a.JSON); err != nil {
		return err
	}
	repos := files.Repositories{}
	var all []pinnable
	var errs []error
	for _, name := range names {
		more, err := a.pinnables(repos, o, name)
		all, errs = append(all, more...), append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if o.check {
		return a.checkPins(all)
	}
	digests, err := o.digests(ctx, all)
	if err != nil {
		return err
	}
	rep := report{Report: output.NewReport("unchanged")}
	for _, f := range all {
		after, err := operand.Pin(f.text, f.places, digests)
		if err != nil {
			return err
		}
		if f.repo == nil {
			_, err = a.Out.Documents().Write(after)
			return err
		}
		f.repo.Set(f.path, f.text.Src, after, false)
		p := f.report(digests)
		if rep.Pinned = append(rep.Pinned, p); p.Result == "updated" {
			rep.Result = "updated"
		}
	}
	return a.finishPin(o, repos, digests, rep)
}

func (o *pinOptions) contradiction(names []string, json bool) error {
	wrong := ""
	switch {
	case o.check && (o.lock != "" || o.writeLock != "" || o.writing.DryRun):
		wrong = "--check contradicts --lock, --write-lock and --dry-run"
	case o.lock != "" && o.writeLock != "":
		wrong = "--lock contradicts --write-lock"
	case slices.Contains(names, "-") && !o.check && (len(names) > 1 || json || o.writing.DryRun || o.writeLock != ""):
		wrong = "- excludes other files, --json, --dry-run and --write-lock"
	}
	if wrong == "" {
		return nil
	}
	return failure.New(failure.Usage, "reading the command line: %s", wrong)
}

// checkPins returns a failure for each image that is named by tag.
func (a *app) checkPins(all []pinnable) error {
	var errs []error
	rep := report{Report: output.NewReport("ok")}
	for _, f := range all {
		for _, p := range f.places {
			if !p.Pinned() {
				errs = append(errs, p.Unpinned())
			}
		}
		rep.Pinned = append(rep.Pinned, f.report(nil))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if a.JSON {
		a.PrintReport(rep)
		return nil
	}
	for _, p := range rep.Pinned {
		fmt.Fprintf(a.Out, "%s: %d named by digest, none by tag\n", p.File, p.Images)
	}
	return nil
}

func (a *app) finishPin(o *pinOptions, repos files.Repositories, digests map[string]string, rep report) error {
	lock, err := o.lockFile(digests)
	if err != nil {
		return err
	}
	if err := repos.Finish(a.App, "files", o.writing.DryRun, lock...); err != nil {
		return err
	}
	if o.writing.DryRun {
		rep.Planned()
	}
	if a.JSON {
		a.PrintReport(rep)
	} else if !o.writing.DryRun {
		a.printPins(rep)
	}
	return nil
}

func (a *app) printPins(rep report) {
	for _, p := range rep.Pinned {
		fmt.Fprintf(a.Out, "%s: %s\n", p.File, p.Result)
		for _, c := range p.Changes {
			fmt.Fprintf(a.Out, "  %d:%d %s: %s to %s\n", c.Line, c.Col, c.Field, c.From, c.To)
		}
	}
}
