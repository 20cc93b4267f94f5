package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/cli/catalogs"
	"github.com/olmgraft/graft/internal/cli/output"
	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/event"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/plan"
)

type pathOptions struct {
	catalogs  catalogs.Reader
	query     graph.PathQuery
	platforms string
	olm       string
	image     string
	output    string
}

// platformCatalog is the catalog of one platform. Only one package counts.
type platformCatalog struct {
	name     string
	platform plan.Platform
	docs     []fbc.Doc
	graph    *graph.Catalog
}

func (a *app) pathCommand() *cobra.Command {
	o := &pathOptions{catalogs: catalogs.Reader{In: a.In, Progress: output.NewProgress(a.App)}}
	cmd := &cobra.Command{
		Use:   "path --from BUNDLE --to BUNDLE [PLATFORM=]CATALOG...",
		Short: "Find the upgrades that lead from one bundle to another, across platforms",
		Long: "Path prints the upgrades to make in order, with the cluster upgrades and channel changes between them. It\n" +
			"prefers the path with the fewest deprecated bundles, then the fewest bundle upgrades, channel changes and\n" +
			"cluster upgrades. Each catalog is for one platform, which comes from its path or tag, or from PLATFORM=\n" +
			"before it. Without --platform, the cluster begins at the lowest platform, and ends where the path does. If\n" +
			"there is no path, path explains why, and names an edge that would give one.\n\n" +
			"With -o images and -o imageset it lists the images that a disconnected site must mirror for the path.",
		Example: "  graft path --from op.v1.2.3 --to op.v2.0.1 --platform 4.16..4.18 catalogs/v4.16 catalogs/v4.17 catalogs/v4.18\n" +
			"  graft path --from op.v1.2.3 --to op.v2.0.1 -o imageset quay.io/example/catalog:v4.16 quay.io/example/catalog:v4.17",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.path(cmd.Context(), o, args) },
	}
	f := cmd.Flags()
	o.catalogs.Flags(f)
	f.StringVar(&o.query.From, "from", "", "installed bundle (required)")
	f.StringVar(&o.query.To, "to", "", "bundle to reach (required)")
	f.StringVar(&o.query.Package, "package", "", "package. Defaults to the one that has the bundles")
	f.StringVar(&o.query.Channel, "channel", "", "channel that the subscription follows at the start. Defaults to any that has the bundle")
	f.StringVar(&o.platforms, "platform", "", "platform at the start, such as 4.16, or at the start and the end, such as 4.16..4.20")
	f.StringVar(&o.olm, "olm", "v0", "rules of OLM: v0 or v1")
	f.StringVar(&o.image, "image", "", "with -o imageset, the image of a catalog that is a file, such as quay.io/example/catalog:v{platform}")
	f.StringVarP(&o.output, "output", "o", "text", "text, json, mermaid, svg, images or imageset (for oc-mirror)")
	return cmd
}

func (a *app) path(ctx context.Context, o *pathOptions, names []string) error {
	if a.JSON {
		o.output = "json"
	}
	if o.query.From == "" || o.query.To == "" {
		return failure.New(failure.Usage, "reading the command line: --from or --to is missing").Fix("Give both, with names of bundles such as op.v1.2.3.")
	}
	o.query.Rules = map[string]graph.Generation{"v0": graph.V0, "v1": graph.V1}[o.olm]
	all, err := platformsOf(names)
	if err != nil {
		return err
	}
	if all, err = o.within(all); err != nil {
		return err
	}
	if err := o.read(ctx, all); err != nil {
		return err
	}
	stages := make([]graph.Stage, len(all))
	for i, c := range all {
		stages[i] = graph.Stage{Name: c.platform.String(), Catalog: c.graph}
	}
	found, none := graph.FindPath(stages, o.query)
	if none != nil {
		return a.noPath(o, none)
	}
	return a.printPath(o, all, found)
}

// noPath returns the failure that explains why there is no path.
func (a *app) noPath(o *pathOptions, none *graph.NoPath) error {
	fault := failure.New(failure.UpgradePathLost, "looking for upgrades from %s to %s under OLM %s: %s", o.query.From, o.query.To, o.olm, none.Why)
	if none.Edge != nil {
		fault = fault.Fix("Change an entry so that %s.", none.Edge)
	} else {
		fault = fault.Fix("Name another bundle with --to, or more catalogs.")
	}
	if o.output != "json" {
		return fault
	}
	a.PrintReport(newPathReport("failed", o, nil, none, nil))
	a.PrintFailures(fault)
	return command.Printed(fault)
}

// platformsOf returns the named catalogs in the order of their platforms.
func platformsOf(names []string) ([]*platformCatalog, error) {
	var all []*platformCatalog
	for _, name := range names {
		c := &platformCatalog{name: name}
		said, rest, given := strings.Cut(name, "=")
		platform, ok := plan.ParsePlatform(said)
		if given && ok {
			c.name = rest
		} else if p, err := event.ParseReference(name); err == nil && p.Tag != "" {
			platform, ok = plan.PlatformOf(p.Tag + "/")
		} else {
			platform, ok = plan.PlatformOf(strings.TrimSuffix(name, "/"))
		}
		if !ok {
			return nil, failure.New(failure.Usage, "reading the command line: of which platform is catalog %s", name).
				Fix("Write the platform before it, such as 4.16=%s.", name)
		}
		c.platform = platform
		all = append(all, c)
	}
	slices.SortStableFunc(all, func(a, b *platformCatalog) int { return a.platform.Compare(b.platform) })
	for i := 1; i < len(all); i++ {
		if all[i].platform == all[i-1].platform {
			return nil, failure.New(failure.Usage, "reading the command line: catalogs %s and %s are both of platform %s", all[i-1].name, all[i].name, all[i].platform).
				Fix("Name one catalog for each platform.")
		}
	}
	return all, nil
}

// within returns the catalogs of --platform: the only ones that the cluster passes through.
func (o *pathOptions) within(all []*platformCatalog) ([]*platformCatalog, error) {
	o.query.Anywhere = true
	if o.platforms == "" {
		return all, nil
	}
	first, last, both := strings.Cut(o.platforms, "..")
	o.query.Anywhere = !both
	ends := []int{0, len(all) - 1}
	for i, text := range []string{first, last} {
		if i == 1 && !both {
			continue
		}
		p, ok := plan.ParsePlatform(text)
		if !ok {
			return nil, failure.New(failure.Usage, "reading the command line: --platform: invalid value %q", o.platforms).Fix("Give --platform such as 4.16 or 4.16..4.20.")
		}
		ends[i] = slices.IndexFunc(all, func(c *platformCatalog) bool { return c.platform == p })
		if ends[i] < 0 {
			return nil, failure.New(failure.Usage, "reading the command line: --platform %s, and no catalog is of platform %s", o.platforms, p).
				Fix("Name the catalog of platform %s.", p)
		}
	}
	if ends[0] > ends[1] {
		return nil, failure.New(failure.Usage, "reading the command line: --platform %s goes backwards", o.platforms).Fix("Give the lower platform first.")
	}
	return all[ends[0] : ends[1]+1], nil
}

// meant begins a remedy with the bundles that have the given names as versions, such as v1.2.3.
func (o *pathOptions) meant(names []string) string {
	var found []string
	for _, version := range []string{o.query.From, o.query.To} {
		version = ".v" + strings.TrimPrefix(version, "v")
		if i := slices.IndexFunc(names, func(name string) bool { return strings.HasSuffix(name, version) }); i >= 0 {
			found = append(found, names[i])
		}
	}
	if len(found) == 0 {
		return ""
	}
	return "Did you mean " + strings.Join(found, " and ") + "? "
}

// read reads the package of each catalog. Without --package it is the first one with one of the bundles.
func (o *pathOptions) read(ctx context.Context, all []*platformCatalog) error {
	var names []string
	for i := 0; i < len(all) && o.query.Package == ""; i++ {
		docs, err := o.catalogs.Docs(ctx, all[i].name)
		if err != nil {
			return err
		}
		for _, d := range docs {
			if d.Schema == fbc.SchemaBundle {
				names = append(names, d.Name)
			}
			if d.Schema == fbc.SchemaBundle && (d.Name == o.query.From || d.Name == o.query.To) {
				o.query.Package = d.Package
			}
		}
	}
	if o.query.Package == "" {
		return failure.New(failure.Usage, "looking for upgrades from %s to %s: no catalog has either bundle", o.query.From, o.query.To).
			Fix("%sName bundles as the catalogs do; graft graph -o json lists them.", o.meant(names))
	}
	for _, c := range all {
		var err error
		if c.docs, err = o.catalogs.Packages(ctx, c.name, o.query.Package); err != nil {
			return err
		}
		c.graph = graph.FromDocs(c.docs)
	}
	if o.query.Channel != "" && !slices.ContainsFunc(all, func(c *platformCatalog) bool {
		p := c.graph.Package(o.query.Package)
		return p != nil && p.Channel(o.query.Channel) != nil
	}) {
		return failure.New(failure.ChannelUnknown, "looking for upgrades in channel %s: package %s has no such channel in these catalogs", o.query.Channel, o.query.Package).
			Fix("Give --channel with a channel of the package.")
	}
	return nil
}

// pathLine describes a step for a person.
func pathLine(s graph.PathStep) string {
	switch s.Kind {
	case graph.UpgradeCluster:
		return "upgrade the cluster to " + s.Platform
	case graph.ChangeChannel:
		return "follow channel " + s.Channel
	}
	text := "upgrade to " + s.Bundle
	if s.Deprecated {
		text += ", which is deprecated"
	}
	if s.Pinned {
		text += ", by its version: OLM v1 would choose another"
	}
	return text
}

func pathCount(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
