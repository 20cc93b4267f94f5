package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/cli/catalogs"
	"github.com/olmgraft/graft/internal/cli/output"
	"github.com/olmgraft/graft/internal/draw"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/operand"
)

type graphOptions struct {
	catalogs catalogs.Reader
	output   string
	picture  graph.PictureOptions
	draw     draw.Options
	base     string
	operand  string
	serve    string
	refresh  time.Duration
}

func (a *app) graphCommand() *cobra.Command {
	o := &graphOptions{catalogs: catalogs.Reader{In: a.In, Err: a.Err, Progress: output.NewProgress(a.App)}}
	cmd := &cobra.Command{
		Use:   "graph [PLATFORM=]CATALOG|TEMPLATE...",
		Short: "Draw the upgrade graph: mermaid, dot, svg, html, json, cincinnati",
		Long: "Graph draws the channels of a catalog. With --base, the published catalog, it marks what is new and what\n" +
			"is gone. It folds long channels to the neighbourhood of --around, of the new bundles, or of the head.\n\n" +
			"With -o html it writes the explorer: one HTML file, without dependencies, to search, zoom, compare and ask\n" +
			"for paths. The explorer takes several catalogs, one for each platform. The platform comes from the path\n" +
			"or the tag of the catalog, or from PLATFORM= before it.\n\n" +
			"With -o cincinnati and --operand it prints the versions of an operand that bundles use. With -o property\n" +
			"it prints the same as a property of a bundle, for its metadata/properties.yaml.\n\n" +
			"With --serve it serves the graph while you edit the catalogs. The explorer in the browser shows each\n" +
			"change at once. Clients of the Cincinnati protocol read a single catalog at\n" +
			"" + graphPath + "?channel=C.",
		Example: "  graft graph catalog.yaml\n  graft graph -o svg --base published.yaml catalog.yaml > graph.svg\n" +
			"  graft graph -o html --base 'published/v{platform}' catalogs/v4.19 catalogs/v4.20 > graph.html\n" +
			"  graft graph -o cincinnati --package op --channel stable catalog.yaml\n  graft graph --serve 127.0.0.1:8080 catalogs/v4.20",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.graph(cmd.Context(), o, args) },
	}
	f := cmd.Flags()
	o.catalogs.Flags(f)
	f.StringVarP(&o.output, "output", "o", "mermaid", "mermaid, dot, svg, html, json, cincinnati or property")
	f.StringVar(&o.picture.Package, "package", "", "draw only this package")
	f.StringVar(&o.picture.Channel, "channel", "", "draw only channels with this name")
	f.StringVar(&o.base, "base", "", "published catalog to compare with. With several catalogs, {platform} stands for the platform of each")
	f.StringVar(&o.operand, "operand", "", "with -o cincinnati, -o property or --serve, show versions of this operand instead of bundles")
	f.StringVar(&o.serve, "serve", "", "serve the graph at this address, such as 127.0.0.1:8080")
	f.DurationVar(&o.refresh, "refresh", time.Minute, "with --serve, read the catalogs again after this time. The explorer also reads them when their files change")
	f.StringVar(&o.draw.Around, "around", "", "show the neighbourhood of this bundle")
	f.IntVar(&o.draw.Radius, "radius", 0, "steps of the neighbourhood. -1 folds nothing")
	return cmd
}

func (a *app) graph(ctx context.Context, o *graphOptions, names []string) error {
	name := names[0]
	if o.output == "html" && o.serve == "" && !a.JSON {
		page, err := o.explorer(ctx, names)
		if err == nil {
			_, err = a.Out.Documents().Write(page)
		}
		return err
	}
	if o.serve != "" {
		return a.serveGraph(ctx, o, names)
	}
	if len(names) > 1 {
		return failure.New(failure.Usage, "reading the command line: %d catalogs, and only the explorer shows several", len(names)).Fix("Give --output html, or name one catalog.")
	}
	protocol := (o.output == "cincinnati" || o.output == "property") && !a.JSON
	if o.operand != "" && !protocol {
		return failure.New(failure.Usage, "reading the command line: --operand without --output cincinnati").Fix("Give --output cincinnati or property, or leave out --operand.")
	}
	if o.operand == "" && o.output == "property" {
		return failure.New(failure.Usage, "reading the command line: --output property without --operand").Fix("Name the operand with --operand.")
	}
	c, err := o.catalogs.Graph(ctx, name)
	if err != nil {
		return err
	}
	if o.base != "" {
		if o.picture.Base, err = o.catalogs.Graph(ctx, o.base); err != nil {
			return err
		}
	}
	if protocol {
		text, err := o.cincinnati(c)
		if err == nil {
			_, err = a.Out.Documents().Write(text)
		}
		return err
	}
	g := c.Picture(o.picture)
	if len(g.Packages) == 0 {
		return failure.New(failure.Usage, "drawing %s: it has no such package or channel", name).Fix("Run graft detect %s to see what it has.", name)
	}
	if err := o.draw.Check(g); err != nil {
		return err
	}
	if a.JSON {
		o.output = "json"
	}
	_, err = a.Out.Documents().Write(o.drawn(g))
	return err
}

func (o *graphOptions) drawn(g draw.Graph) []byte {
	switch o.output {
	case "mermaid":
		return draw.Mermaid(g, o.draw)
	case "dot":
		return draw.Dot(g, o.draw)
	case "svg":
		return draw.SVG(g, o.draw)
	}
	return draw.JSON(g)
}

// cincinnati returns the graph of the requested package, or of an operand.
func (o *graphOptions) cincinnati(c *graph.Catalog) ([]byte, error) {
	if o.operand != "" {
		if !c.HasOperand(o.operand) {
			return nil, failure.New(failure.Usage, "drawing operand %s: the catalog has no entry of it", o.operand).Fix("Name an operand that the catalog has.")
		}
		nodes, edges, err := c.OperandGraph(o.operand, o.picture.Package, o.picture.Channel)
		if err != nil {
			return nil, err
		}
		text := draw.CincinnatiOperand(o.operand, nodes, edges)
		if o.output == "property" {
			return operand.Property(o.operand, text)
		}
		return text, nil
	}
	g := c.Picture(graph.PictureOptions{Package: o.picture.Package, Base: o.picture.Base}) // a node names all of its channels
	if len(g.Packages) != 1 {
		return nil, failure.New(failure.Usage, "drawing for Cincinnati: the catalog has %d such packages, not one", len(g.Packages)).Fix("Name one with --package.")
	}
	return draw.Cincinnati(g.Packages[0], o.picture.Channel), nil
}
