package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/cli/output"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/oci"
)

// imageReport is a catalog image that was built, pushed or inspected.
type imageReport struct {
	Image       string            `json:"image,omitempty"`
	Digest      string            `json:"digest"`
	MediaType   string            `json:"mediaType"`
	Platforms   []string          `json:"platforms"`
	Output      string            `json:"output,omitempty"`
	Tags        []tagReport       `json:"tags,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
	Configs     string            `json:"configs,omitempty"`
	Files       []string          `json:"files,omitempty"`
	Command     []string          `json:"command,omitempty"`
	Packages    []imagePackage    `json:"packages"`
}

// tagReport is what became of one tag.
type tagReport struct {
	Tag    string `json:"tag"`
	Result string `json:"result"`
	Was    string `json:"was,omitempty"`
}

type imagePackage struct {
	Name           string         `json:"name"`
	DefaultChannel string         `json:"defaultChannel,omitempty"`
	Channels       []imageChannel `json:"channels"`
}

type imageChannel struct {
	Name    string `json:"name"`
	Head    string `json:"head"`
	Entries int    `json:"entries"`
}

func (d *draft) report(image *oci.Image) *imageReport {
	return &imageReport{Digest: image.Digest, MediaType: image.MediaType, Platforms: image.Platforms, Packages: imagePackages(d.catalog)}
}

func imagePackages(c *graph.Catalog) []imagePackage {
	all := []imagePackage{}
	for _, p := range c.Packages {
		one := imagePackage{Name: p.Name, DefaultChannel: p.DefaultChannel, Channels: []imageChannel{}}
		for _, ch := range p.Channels {
			one.Channels = append(one.Channels, imageChannel{ch.Name, ch.Head(), len(ch.Entries)})
		}
		all = append(all, one)
	}
	return all
}

func (a *app) imageInspectCommand() *cobra.Command {
	catalogs := catalogReader{app: a}
	cmd := &cobra.Command{
		Use:     "inspect IMAGE|OCI_LAYOUT_DIR|FILE.tar",
		Short:   "Tell what a catalog image holds",
		Example: "  graft image inspect quay.io/example/catalog:v4.20\n  graft image inspect catalog.tar",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := catalogs.inspect(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if a.JSON {
				a.printReport(report{Result: "ok", Image: r})
				return nil
			}
			a.printImage(args[0], r)
			return nil
		},
	}
	catalogs.Flags(cmd.Flags())
	return cmd
}

func (c *catalogReader) inspect(ctx context.Context, name string) (*imageReport, error) {
	client, err := c.Client()
	if err != nil {
		return nil, err
	}
	image, err := client.Catalog(ctx, name)
	if err != nil {
		return nil, err
	}
	docs, err := fbc.ReadMap(image.Files)
	if err != nil {
		return nil, failure.New(failure.BundleInvalid, "%s: reading its catalog: %w", name, err)
	}
	b := graph.Builder{Light: true}
	b.Add(docs)
	r := &imageReport{
		Digest: image.Digest, MediaType: image.MediaType, Platforms: image.Platforms, Annotations: image.Annotations,
		Configs: image.Dir, Files: slices.Sorted(maps.Keys(image.Files)), Command: append(image.Entrypoint, image.Cmd...),
		Packages: imagePackages(b.Catalog()),
	}
	return r, nil
}

// printImage prints what an image says of itself, which may come from anybody: none of it
// reaches the terminal as a command.
func (a *app) printImage(name string, r *imageReport) {
	var out strings.Builder
	defer func() {
		for line := range strings.Lines(out.String()) {
			fmt.Fprintln(a.Out, output.Printable(strings.TrimSuffix(line, "\n")))
		}
	}()
	fmt.Fprintf(&out, "%s\n  digest     %s\n  type       %s\n  platforms  %s\n  configs    %s, %d files\n", name,
		r.Digest, r.MediaType, strings.Join(r.Platforms, ", "), r.Configs, len(r.Files))
	if len(r.Command) > 0 {
		fmt.Fprintf(&out, "  command    %s\n", strings.Join(r.Command, " "))
	}
	for _, key := range slices.Sorted(maps.Keys(r.Annotations)) {
		fmt.Fprintf(&out, "  %s  %s\n", key, r.Annotations[key])
	}
	for _, p := range r.Packages {
		fmt.Fprintf(&out, "%s, default channel %s\n", p.Name, p.DefaultChannel)
		for _, ch := range p.Channels {
			fmt.Fprintf(&out, "  %s: head %s, %d entries\n", ch.Name, ch.Head, ch.Entries)
		}
	}
}
