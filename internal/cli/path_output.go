package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/cli/output"
	"github.com/olmgraft/graft/internal/draw"
	"github.com/olmgraft/graft/internal/event"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/operand"
	"github.com/olmgraft/graft/internal/yamledit"
)

// pathReport is the output of graft path --json; docs/report.schema.json describes it.
type pathReport struct {
	output.Report
	Path pathDetails `json:"path"`
}

type pathDetails struct {
	From    string   `json:"from"`
	To      string   `json:"to"`
	Package string   `json:"package"`
	OLM     string   `json:"olm"`
	Images  []string `json:"images,omitempty"`
	*graph.Path
	None *graph.NoPath `json:"none,omitempty"`
}

func newPathReport(result string, o *pathOptions, found *graph.Path, none *graph.NoPath, images []string) pathReport {
	return pathReport{output.NewReport(result), pathDetails{o.query.From, o.query.To, o.query.Package, o.olm, images, found, none}}
}

func (a *app) printPath(o *pathOptions, all []*platformCatalog, found *graph.Path) error {
	var text string
	switch o.output {
	case "text":
		text = pathText(found)
	case "mermaid":
		text = string(draw.MermaidPath(pathNodes(found)))
	case "svg":
		text = string(draw.SVGPath(pathNodes(found)))
	case "imageset":
		var err error
		if text, err = o.imageSet(all, found); err != nil {
			return err
		}
	default:
		images, err := pathImages(all, found)
		if err != nil {
			return err
		}
		if o.output == "json" {
			a.PrintReport(newPathReport("ok", o, found, nil, images))
			return nil
		}
		text = strings.Join(append(images, ""), "\n")
	}
	_, err := fmt.Fprint(a.Out, text)
	return err
}

func pathText(p *graph.Path) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s, channel %s\n", output.Printable(p.Start.Bundle), p.Start.Platform, output.Printable(p.Start.Channel))
	count := map[graph.StepKind]int{}
	for _, s := range p.Steps {
		count[s.Kind]++
		b.WriteString("  " + output.Printable(pathLine(s)) + "\n")
	}
	fmt.Fprintf(&b, "%s, %s, %s\n", pathCount(count[graph.UpgradeBundle], "bundle upgrade"),
		pathCount(count[graph.ChangeChannel], "channel change"), pathCount(count[graph.UpgradeCluster], "cluster upgrade"))
	return b.String()
}

func pathNodes(p *graph.Path) []draw.PathNode {
	nodes := []draw.PathNode{{Platform: p.Start.Platform, Channel: p.Start.Channel, Bundle: p.Start.Bundle}}
	for _, s := range p.Steps {
		nodes = append(nodes, draw.PathNode{Platform: s.Platform, Channel: s.Channel, Bundle: s.Bundle, By: string(s.Kind), Deprecated: s.Deprecated})
	}
	return nodes
}

// places returns the states on a path, including the start.
func places(p *graph.Path) []graph.PathPlace {
	all := []graph.PathPlace{p.Start}
	for _, s := range p.Steps {
		all = append(all, s.PathPlace)
	}
	return all
}

// pathImages returns the images of the bundles on the path, each once, sorted.
func pathImages(all []*platformCatalog, found *graph.Path) ([]string, error) {
	images := []string{}
	for _, c := range all {
		var set operand.Set
		if err := set.Add(c.docs); err != nil {
			return nil, err
		}
		var selection operand.Selection
		for _, at := range places(found) {
			if at.Platform == c.platform.String() && slices.ContainsFunc(set.Bundles, func(b operand.Bundle) bool { return b.Name == at.Bundle }) {
				selection.Bundles = append(selection.Bundles, at.Bundle)
			}
		}
		if len(selection.Bundles) == 0 {
			continue
		}
		more, err := set.Mirror(selection)
		if err != nil {
			return nil, err
		}
		images = append(images, more...)
	}
	slices.Sort(images)
	return slices.Compact(images), nil
}

// imageSet returns an ImageSetConfiguration of oc-mirror: for each channel of each catalog, the lowest to the
// highest version on the path, so that the edges between them stay.
func (o *pathOptions) imageSet(all []*platformCatalog, found *graph.Path) (string, error) {
	var b strings.Builder
	b.WriteString("kind: ImageSetConfiguration\napiVersion: mirror.openshift.io/v2alpha1\nmirror:\n  operators:")
	some := false
	for _, c := range all {
		channels := o.mirrored(c, found)
		if len(channels) == 0 {
			continue
		}
		some = true
		image, err := o.imageOf(c)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "\n  - catalog: %s\n    packages:\n    - name: %s\n", yamledit.Quote(image), yamledit.Quote(o.query.Package))
		if usual := c.graph.Package(o.query.Package).DefaultChannel; !slices.ContainsFunc(channels, func(m mirroredChannel) bool { return m.name == usual }) {
			// oc-mirror refuses a package without its default channel.
			fmt.Fprintf(&b, "      defaultChannel: %s\n", yamledit.Quote(channels[len(channels)-1].name))
		}
		b.WriteString("      channels:")
		for _, m := range channels {
			fmt.Fprintf(&b, "\n      - name: %s\n        minVersion: %s\n        maxVersion: %s", yamledit.Quote(m.name), yamledit.Quote(m.lowest.String()), yamledit.Quote(m.highest.String()))
		}
	}
	if !some {
		b.WriteString(" []")
	}
	return b.String() + "\n", nil
}

// mirroredChannel is a channel with the versions that a path needs.
type mirroredChannel struct {
	name            string
	lowest, highest graph.Version
}

func (o *pathOptions) mirrored(c *platformCatalog, found *graph.Path) (all []mirroredChannel) {
	p := c.graph.Package(o.query.Package)
	for _, at := range places(found) {
		if at.Platform != c.platform.String() || p == nil || p.Channel(at.Channel) == nil || p.Channel(at.Channel).Entry(at.Bundle) == nil {
			continue
		}
		bundle := p.Bundle(at.Bundle)
		if bundle == nil || !bundle.HasVersion {
			continue
		}
		i := slices.IndexFunc(all, func(m mirroredChannel) bool { return m.name == at.Channel })
		if i < 0 {
			all = append(all, mirroredChannel{at.Channel, bundle.Version, bundle.Version})
			continue
		}
		if bundle.Version.Compare(all[i].lowest) < 0 {
			all[i].lowest = bundle.Version
		}
		if bundle.Version.Compare(all[i].highest) > 0 {
			all[i].highest = bundle.Version
		}
	}
	return all
}

// imageOf returns the image of a catalog: the one that was read, or the one that --image names.
func (o *pathOptions) imageOf(c *platformCatalog) (string, error) {
	if o.image != "" {
		return strings.ReplaceAll(o.image, "{platform}", c.platform.String()), nil
	}
	if p, err := event.ParseReference(c.name); err == nil && (p.Tag != "" || p.Digest != "") {
		return c.name, nil
	}
	return "", failure.New(failure.Usage, "writing an ImageSetConfiguration: catalog %s is not an image, and oc-mirror reads images only", c.name).
		Fix("Give --image with the images of the catalogs, such as quay.io/example/catalog:v{platform}.")
}
