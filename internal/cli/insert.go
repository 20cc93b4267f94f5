package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/cli/catalogs"
	"github.com/olmgraft/graft/internal/cli/files"
	"github.com/olmgraft/graft/internal/cli/registry"
	"github.com/olmgraft/graft/internal/config"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
)

type insertOptions struct {
	request       kind.Request
	version       string
	create        string
	releaseConfig string
	bundleFile    string
	catalogs      []string
	base          []string
	published     []string
	rebuild       string
	newChannel    string
	registry      registry.Options
	writing       files.Writing
}

func (a *app) insertCommand() *cobra.Command {
	o := &insertOptions{}
	cmd := &cobra.Command{
		Use:   "insert [--channel C[,C...]] TEMPLATE... IMAGE",
		Short: "Insert a bundle into catalog templates, in place",
		Long: "Insert adds a bundle to catalog templates and changes only the lines that the bundle needs. With\n" +
			"--name, --version and --package it pulls no image; otherwise it reads them from the image. If a\n" +
			"template names all bundles by digest, insert asks the registry for the digest of a tag. Existing\n" +
			"entries stay, and inserting the same bundle again changes nothing.\n\n" +
			"Without --replaces, --skips and --skip-range, the bundle takes its place by version in each channel.\n" +
			"Without --channel, it goes into the only channel of its package, or else into the default channel; in a\n" +
			"semver template, into the least stable archetype that the template has. A note names the choice.\n\n" +
			"If the template has the bundle with another image, --rebuild replace puts the new image in its place.\n" +
			"A template that names images by digest does not show which bundle an image is: give --base.\n\n" +
			"Insert writes all templates or none. With - for TEMPLATE, it reads the template from standard input and\n" +
			"writes the result to standard output.",
		Example: "  graft insert catalog-templates/basic.yaml quay.io/example/op-bundle:v1.2.3\n" +
			"  graft insert --image quay.io/example/op-bundle:v1.2.3 --name op.v1.2.3 --version 1.2.3 \\\n" +
			"    --package op --channel stable catalog-templates/basic.yaml\n" +
			"  graft insert --image quay.io/example/op-bundle:v1.2.3 --name op.v1.2.3 --version 1.2.3 \\\n" +
			"    --package op --release-config release-config.yaml catalog-templates/*.yaml",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			names, err := o.templates(args)
			if err != nil {
				return err
			}
			return a.insert(cmd, o, names)
		},
	}
	f, r := cmd.Flags(), &o.request
	o.registry.Flags(f)
	f.StringVar(&r.Bundle.Image, "image", "", "bundle image, by tag or digest, instead of IMAGE")
	f.StringVar(&r.Bundle.Name, "name", "", "name of the bundle, as in its CSV")
	f.StringVar(&o.version, "version", "", "version of the bundle")
	f.StringVar(&r.Bundle.Package, "package", "", "package of the bundle")
	f.StringSliceVar(&r.Channels, "channel", nil, "channels or archetypes for the bundle. Defaults to the template's own choice")
	f.StringVar(&r.Replaces, "replaces", "", "bundle that it replaces")
	f.StringSliceVar(&r.Skips, "skips", nil, "bundles that it skips")
	f.StringVar(&r.SkipRange, "skip-range", "", "range of versions that it skips")
	f.StringVar(&r.DefaultChannel, "default-channel", "", "make this the package's default channel")
	f.StringVar(&o.newChannel, "new-channel", "empty", "how a channel for a new version begins: empty, or like-previous with the entries of the channel before it")
	f.StringVar(&r.SubstitutesFor, "substitutes-for", "", "bundle that it substitutes, in a substitutes template")
	f.StringSliceVar(&o.catalogs, "catalog", nil, "catalogs of a composite template. Defaults to all")
	f.StringVar(&o.create, "create", "", "create a template of this kind if there is none: "+strings.Join(template.Creatable(), ", "))
	f.StringVar(&o.releaseConfig, "release-config", "", "file with the channels and edges for each template")
	f.StringVar(&o.bundleFile, "bundle-file", "", "file with the rendered bundle, for templates that contain it")
	f.BoolVar(&r.NoRewire, "no-rewire", false, "fail instead of changing an existing entry")
	f.BoolVar(&r.AllowMissingPredecessor, "allow-missing-predecessor", false, "accept a --replaces that the channel does not have")
	f.BoolVar(&r.Promote, "promote", false, "if the template names the same digest in another repository, use the new repository")
	f.StringSliceVar(&o.base, "base", nil, "rendered catalogs, from which Graft takes the names of bundle images")
	f.StringSliceVar(&o.published, "published", nil, "catalogs that users have. Graft neither rebuilds nor replaces the bundles in them")
	f.StringVar(&o.rebuild, "rebuild", "refuse", "what to do if the template has the bundle with another image: refuse, or replace it")
	f.StringVar(&r.InsteadOf, "instead-of", "", "unreleased bundle whose place it takes")
	o.writing.Flags(f)
	return cmd
}

// templates returns the arguments without the image, which it takes as that of the bundle. An existing file is never
// an image.
func (o *insertOptions) templates(args []string) (names []string, err error) {
	image := &o.request.Bundle.Image
	for _, arg := range args {
		_, missing := os.Stat(arg)
		switch {
		case missing == nil || !catalogs.IsImage(arg):
			names = append(names, arg)
		case *image != "":
			return nil, failure.New(failure.Usage, "reading the command line: there are two images, %s and %s", *image, arg).Fix("Give one of them.")
		default:
			*image = arg
		}
	}
	if len(names) == 0 {
		return nil, failure.New(failure.Usage, "reading the command line: no template is given for %s", *image).Fix("Name the template before the image.")
	}
	return names, nil
}

func (a *app) insert(cmd *cobra.Command, o *insertOptions, names []string) error {
	if err := o.check(cmd); err != nil {
		return err
	}
	notes, err := o.facts(cmd.Context())
	if err == nil {
		o.request.Resolve = digests(cmd.Context(), o.registry)
		o.request.Names, o.request.NamesOf, err = a.bundleNames(cmd.Context(), o.base, o.registry)
	}
	if err == nil {
		o.request.Published, err = a.publishedIn(cmd.Context(), o.published, o.request.Bundle.Package, o.registry)
	}
	if err != nil {
		return err
	}
	for _, n := range notes {
		fmt.Fprintf(a.Err, "graft: note: %s\n", n)
	}
	if slices.Contains(names, "-") {
		return a.insertStdin(o, names)
	}
	return a.editTemplates(names, o.writing, o.edits)
}

// check parses the flags and refuses contradictory ones.
func (o *insertOptions) check(cmd *cobra.Command) error {
	b := &o.request.Bundle
	if b.Image == "" {
		return failure.New(failure.Usage, "reading the command line: no bundle image is given").Fix("Give the image, with its tag or digest, as an argument or with --image.")
	}
	if o.releaseConfig != "" {
		for _, flag := range []string{"channel", "replaces", "skips", "skip-range", "default-channel"} {
			if cmd.Flags().Changed(flag) {
				return failure.New(failure.Usage, "reading the command line: --%s contradicts --release-config, which says it for each template", flag).
					Fix("Leave out one of the two.")
			}
		}
	}
	o.request.Rebuild = o.rebuild == "replace"
	o.request.LikePrevious = o.newChannel == "like-previous"
	if o.bundleFile != "" {
		doc, err := os.ReadFile(o.bundleFile)
		if err != nil {
			return failure.New(failure.Usage, "reading the rendered bundle: %w", err).Fix("Give --bundle-file with a file that exists.")
		}
		b.Document = func(string, bool) ([]byte, error) { return doc, nil }
	}
	if o.request.SkipRange != "" {
		if _, err := semver.ParseRange(o.request.SkipRange); err != nil {
			return failure.New(failure.Usage, "reading the command line: --skip-range: invalid value %q: %w", o.request.SkipRange, err).Fix("Give a range such as %q.", ">=1.0.0 <1.2.3")
		}
	}
	return nil
}

// edits returns the inserts into one template.
func (o *insertOptions) edits(name string) (all []edit, err error) {
	requests, err := o.requests(filepath.Base(name))
	for _, r := range requests {
		all = append(all, func(at files.Located) (*kind.Outcome, error) { return o.insertInto(at, r) })
	}
	return all, err
}

func (o *insertOptions) requests(template string) ([]kind.Request, error) {
	if o.releaseConfig == "" {
		return []kind.Request{o.request}, nil
	}
	src, err := os.ReadFile(o.releaseConfig)
	if err != nil {
		return nil, failure.New(failure.Config, "reading the release configuration: %w", err).At(o.releaseConfig, 0, 0)
	}
	all, err := config.ParseRelease(o.releaseConfig, src)
	if err != nil {
		return nil, err
	}
	releases, err := config.ReleasesFor(all, template, o.releaseConfig)
	if err != nil {
		return nil, err
	}
	var out []kind.Request
	for _, rel := range releases {
		r := o.request
		r.Channels, r.Replaces, r.Skips, r.SkipRange, r.DefaultChannel = rel.Channels, rel.Replaces, rel.Skips, rel.SkipRange, rel.DefaultChannel
		out = append(out, r)
	}
	return out, nil
}

func (o *insertOptions) insertInto(at files.Located, r kind.Request) (*kind.Outcome, error) {
	create := o.create
	if _, standing := at.Repo.Get(at.Path); standing {
		create = "" // by an earlier release of this run
	}
	return template.Insert(at.Repo, at.Path, at.Name, create, o.catalogs, r)
}

// insertStdin edits a template from standard input to standard output.
func (a *app) insertStdin(o *insertOptions, names []string) error {
	if len(names) > 1 || a.JSON || o.writing.DryRun || o.releaseConfig != "" {
		return failure.New(failure.Usage, "reading the command line: - excludes other templates, --json, --dry-run and --release-config")
	}
	return a.editStdin(func(t *template.Template) (*kind.Outcome, error) { return t.Insert(o.request) })
}
