package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/atomicfile"
	"github.com/olmgraft/graft/internal/bundle"
	"github.com/olmgraft/graft/internal/cli/catalogs"
	"github.com/olmgraft/graft/internal/cli/files"
	"github.com/olmgraft/graft/internal/cli/output"
	"github.com/olmgraft/graft/internal/cli/registry"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/oci"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/reference"
	"github.com/olmgraft/graft/internal/render"
	"github.com/olmgraft/graft/internal/template"
)

type renderOptions struct {
	registry      registry.Options
	output        string
	write         string
	writing       files.Writing
	toFile, toSum atomicfile.Place // the files of --write and --sum
	base          string
	full          bool
	migrateLevel  string
	levelGiven    bool // otherwise the base decides
	sum           string
	updateSum     bool
	refresh       string
	cache         string
	semverSkips   string
	strays        string
	catalogs      []string
	timeout       time.Duration
	rewrite       []string
	// imageTemplate names the image of a bundle that is rendered from a directory.
	imageTemplate string
}

func (a *app) renderCommand() *cobra.Command {
	o := &renderOptions{}
	cmd := &cobra.Command{
		Use:   "render [KIND] TEMPLATE|BUNDLE_DIR|IMAGE...|-",
		Short: "Render a template to a file-based catalog, byte for byte as opm does",
		Long: "Render turns a template of any kind into the file-based catalog that opm " + opmVersion + " renders, byte\n" +
			"for byte. With --base, an earlier output, it copies that catalog's bundles and pulls only new ones. Without\n" +
			"--migrate-level, the bundles keep the metadata format that the base has. Render writes\n" +
			"the catalog to standard output, or with --write to a file, which it replaces as a whole. In a directory\n" +
			"it writes only the files whose documents change, and names new files like the existing ones. Given\n" +
			"images of bundles or catalogs, it writes their documents together.",
		Example: "  graft render catalog-templates/basic.yaml > catalog.yaml\n" +
			"  graft render --base catalog.yaml --write catalog.yaml catalog-templates/basic.yaml\n" +
			"  graft render --base catalog-4-20 --write catalog-4-20 catalog-template.yaml",
		Aliases: []string{"render-template"},
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			o.levelGiven = cmd.Flags().Changed("migrate-level")
			if o.timeout > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, o.timeout)
				defer cancel()
			}
			if areImages(args) {
				return a.renderImages(ctx, o, args)
			}
			kindName, name, err := kindFirst(args)
			if err != nil {
				return err
			}
			return a.render(ctx, o, kindName, name)
		},
	}
	f := cmd.Flags()
	o.registry.Flags(f)
	f.StringVarP(&o.output, "output", "o", "yaml", "yaml, json or mermaid")
	f.StringVar(&o.write, "write", "", "write the catalog to this file, or into this directory")
	f.StringVar(&o.base, "base", "", "earlier output to copy bundles from: a file, a directory or a catalog image")
	o.writing.OutsideFlag(f)
	f.BoolVar(&o.full, "full", false, "pull every bundle, even if --base has it")
	f.StringVar(&o.migrateLevel, "migrate-level", "none", "none, or bundle-object-to-csv-metadata. With --base, defaults to the form of its bundles")
	f.StringVar(&o.sum, "sum", "", "catalog.sum, the file that records digests and documents")
	f.BoolVar(&o.updateSum, "update-sum", false, "where --sum differs, record the new digest or document")
	f.StringVar(&o.refresh, "refresh", "", "tags: check whether the tags of copied bundles have moved since --sum recorded them")
	f.StringVar(&o.cache, "cache", "", "directory that keeps rendered bundles by digest")
	catalogs.SkipsFlag(f, &o.semverSkips)
	f.StringVar(&o.strays, "strays", "warn", "what to do with bundles that a goodstuff template finds in the registry and no entry names: warn and leave them out, refuse, or include them in the default channel")
	f.StringSliceVar(&o.catalogs, "catalog", nil, "catalogs of a composite template to render")
	f.StringArrayVar(&o.rewrite, "rewrite", nil, "FROM=TO: in the catalog, begin image names with TO instead of FROM, as rewrite in graft.yaml does. Repeatable")
	f.StringVar(&o.imageTemplate, "image-ref-template", "", "image of a bundle directory, with the variables {{.Package}}, {{.Name}} and {{.Version}}")
	f.DurationVar(&o.timeout, "timeout", 0, "stop after this time")
	return cmd
}

// kindFirst accepts FILE, or KIND FILE as opm's render-template and convert-template do.
func kindFirst(args []string) (kindName, name string, err error) {
	if len(args) == 1 {
		return "", args[0], nil
	}
	if len(args) > 2 || template.Named(args[0]) == nil {
		return "", "", failure.New(failure.Usage, "reading the command line: %s is no kind of template with its file", strings.Join(args, " ")).
			Fix("Name one file, or the kind of its template before it; of images, several.")
	}
	return args[0], args[1], nil
}

func (a *app) render(ctx context.Context, o *renderOptions, kindName, name string) error {
	ro, err := o.options()
	if err == nil {
		err = o.locate()
	}
	if err != nil {
		return err
	}
	if isBundleDir(name) {
		return a.renderBundleDir(ctx, o, ro, name)
	}
	t, err := files.OpenTemplate(a.In, name)
	if err != nil {
		return err
	}
	if is := t.Kind.Traits().Name; kindName != "" && is != kindName {
		return failure.New(failure.Usage, "rendering %s: it is a %s template, and %s is asked for", name, is, kindName).At(name, 1, 1).Fix("Leave out the kind: the file has it.")
	}
	t.Source.Catalogs, t.Source.Strays = o.catalogs, o.strays
	if err := catalogs.SetSkips(t, o.semverSkips); err != nil {
		return err
	}
	progress := output.NewProgress(a.App)
	progress.Begin("rendering %s", name)
	defer progress.End()
	if err := a.readBase(ctx, o, &ro, t); err != nil {
		return err
	}
	ro.Progress = progress.Step
	result, err := render.Render(ctx, t, ro)
	progress.End()
	if err != nil {
		return timedOut(ctx, err)
	}
	for _, n := range append(t.Notes(), result.Catalog.Notes...) {
		fmt.Fprintf(a.Err, "graft: %s: warning: %s\n", name, n)
	}
	return a.writeRendered(o, ro, name, result)
}

// locate finds the files of --write and --sum before any request to a registry.
func (o *renderOptions) locate() (err error) {
	if o.write != "" {
		o.toFile, err = atomicfile.Locate(o.write, o.writing.Outside)
	}
	if o.sum != "" && err == nil {
		o.toSum, err = atomicfile.Locate(o.sum, o.writing.Outside)
	}
	return err
}

// options returns the options of rendering that the flags ask for.
func (o *renderOptions) options() (render.Options, error) {
	ro := render.Options{Jobs: o.registry.Jobs, UpdateSum: o.updateSum, RefreshTags: o.refresh == "tags"}
	if (o.updateSum || o.refresh != "") && o.sum == "" {
		return ro, failure.New(failure.Usage, "reading the command line: --update-sum and --refresh need --sum").Fix("Give --sum FILE.")
	}
	var err error
	if ro.Rewrite, err = rewrites(o.rewrite); err != nil {
		return ro, err
	}
	if o.output == "json" {
		ro.Format = fbc.JSON
	}
	if o.migrateLevel != "none" {
		ro.Metadata = bundle.CSVMetadata
	}
	if ro.Registry, err = o.registry.Client(); err != nil {
		return ro, err
	}
	if o.cache != "" {
		if ro.Cache, err = oci.OpenCache(o.cache); err != nil {
			return ro, failure.New(failure.Usage, "opening the cache: %w", err).Fix("Give --cache with a writable directory.")
		}
	}
	return ro, nil
}

func rewrites(rules []string) (all reference.Rewrites, err error) {
	for _, rule := range rules {
		from, to, ok := strings.Cut(rule, "=")
		if !ok || from == "" || to == "" {
			return nil, failure.New(failure.Usage, "reading the command line: --rewrite: invalid value %q", rule).Fix("Give --rewrite FROM=TO, such as quay.io/tenant/op=registry.example.com/org/op.")
		}
		all = append(all, reference.Rewrite{From: from, To: to})
	}
	if again := all.Check(); again != nil {
		return nil, failure.New(failure.Usage, "reading the command line: what --rewrite %s=%s gives would be rewritten again", again.From, again.To).Fix("Change the rules so that none matches the result of another.")
	}
	return all, nil
}

// readBase reads --base and --sum. A missing base is empty, so that the same command makes the first catalog
// and each later one.
func (a *app) readBase(ctx context.Context, o *renderOptions, ro *render.Options, t *template.Template) error {
	if o.base != "" && (!o.full || !o.levelGiven) {
		reader := catalogs.Reader{Options: o.registry, In: a.In, Err: a.Err}
		docs, err := reader.AsItStands(ctx, o.base)
		if err != nil && (!failure.Is(err, failure.TemplateNotFound) || o.base != o.write) {
			for _, f := range failure.All(err) {
				if o.full {
					f.Remedy += " Or give --migrate-level: then --full does not read the base."
				}
			}
			return err
		}
		if !o.levelGiven {
			ro.Metadata = a.levelOf(o.base, docs, t)
		}
		if !o.full {
			ro.Base = render.NewBase(docs)
		}
	}
	if o.sum == "" {
		return nil
	}
	text, err := os.ReadFile(o.sum)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failure.New(failure.Config, "reading the sum: %w", err).At(o.sum, 0, 0)
	}
	ro.Sum, err = render.ParseSum(o.sum, text)
	return err
}

// levelOf returns the metadata format of the base's bundles, and notes one that opm does not default to. In a base
// with both formats, only the template's package counts.
func (a *app) levelOf(base string, docs []fbc.Doc, t *template.Template) bundle.MetadataFormat {
	format, mixed := plan.MetadataOf(docs)
	if mixed {
		if pkg := t.Describe().Package; pkg != "" {
			format, mixed = plan.MetadataOf(fbc.OfPackage(docs, pkg))
		}
	}
	switch {
	case mixed:
		fmt.Fprintf(a.Err, "graft: note: %s has bundles with olm.bundle.object and others with olm.csv.metadata, so --migrate-level defaults to none\n", base)
	case format == bundle.CSVMetadata:
		fmt.Fprintf(a.Err, "graft: note: %s has olm.csv.metadata, so --migrate-level defaults to bundle-object-to-csv-metadata\n", base)
	}
	return format
}

func timedOut(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) && !failure.Is(err, failure.RegistryUnavailable) {
		return failure.New(failure.RegistryUnavailable, "rendering: the time given with --timeout is over: %w", err)
	}
	return err
}

func (a *app) writeRendered(o *renderOptions, ro render.Options, name string, r *render.Result) error {
	write := r.Write
	if o.output == "mermaid" {
		write = r.WriteMermaid
	}
	state := "ok"
	if o.write == "" {
		if err := write(a.Out.Documents()); err != nil {
			return err
		}
	} else {
		put := func() (bool, error) { return atomicfile.Stream(o.toFile, write) }
		if info, err := os.Stat(o.write); err == nil && info.IsDir() {
			put = func() (bool, error) { return a.writeParts(o, r) }
		}
		changed, err := put()
		if errors.As(err, new(*failure.Error)) {
			return err
		}
		if err != nil {
			return failure.New(failure.RenderFailed, "writing %s: %w", o.write, err).At(o.write, 0, 0).Fix("Make the file and its directory writable.")
		}
		state = map[bool]string{true: "updated", false: "unchanged"}[changed]
	}
	if ro.Sum != nil {
		if _, err := atomicfile.Stream(o.toSum, func(w io.Writer) error { _, err := w.Write(ro.Sum.Text()); return err }); err != nil {
			return failure.New(failure.RenderFailed, "writing %s: %w", o.sum, err).At(o.sum, 0, 0)
		}
	}
	if o.write == "" {
		return nil
	}
	if a.JSON {
		a.PrintReport(report{Report: output.NewReport(state), Catalogs: []output.Catalog{{File: o.write, Template: name, Result: state, Reused: r.Reused, Pulled: r.Pulled}}})
		return nil
	}
	fmt.Fprintf(a.Out, "%s: %s, %s\n", o.write, state, output.Copied(r.Reused, r.Pulled))
	return nil
}
