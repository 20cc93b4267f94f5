package image

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/cli/output"
	"github.com/olmgraft/graft/internal/cli/registry"
	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/oci"
)

// report is the output of --json; docs/report.schema.json describes it.
type report struct {
	output.Report
	Image *imageReport `json:"image,omitempty"`
}

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
	Packages    []packageReport   `json:"packages"`
}

// tagReport is the result for one tag.
type tagReport struct {
	Tag    string `json:"tag"`
	Result string `json:"result"`
	Was    string `json:"was,omitempty"`
}

type packageReport struct {
	Name           string          `json:"name"`
	DefaultChannel string          `json:"defaultChannel,omitempty"`
	Channels       []channelReport `json:"channels"`
}

type channelReport struct {
	Name    string `json:"name"`
	Head    string `json:"head"`
	Entries int    `json:"entries"`
}

func (d *draft) report(image *oci.Image) *imageReport {
	return &imageReport{Digest: image.Digest, MediaType: image.MediaType, Platforms: image.Platforms, Packages: packagesOf(d.catalog)}
}

func packagesOf(c *graph.Catalog) []packageReport {
	all := []packageReport{}
	for _, p := range c.Packages {
		one := packageReport{Name: p.Name, DefaultChannel: p.DefaultChannel, Channels: []channelReport{}}
		for _, ch := range p.Channels {
			one.Channels = append(one.Channels, channelReport{ch.Name, ch.Head(), len(ch.Entries)})
		}
		all = append(all, one)
	}
	return all
}

func inspectCommand(a *command.App) *cobra.Command {
	var from registry.Options
	cmd := &cobra.Command{
		Use:     "inspect IMAGE|OCI_LAYOUT_DIR|FILE.tar",
		Short:   "Show what a catalog image holds",
		Example: "  graft image inspect quay.io/example/catalog:v4.20\n  graft image inspect catalog.tar",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := inspect(cmd.Context(), &from, args[0])
			if err != nil {
				return err
			}
			if a.JSON {
				a.PrintReport(report{output.NewReport("ok"), r})
				return nil
			}
			printImage(a.Out, args[0], r)
			return nil
		},
	}
	from.Flags(cmd.Flags())
	return cmd
}

func inspect(ctx context.Context, from *registry.Options, name string) (*imageReport, error) {
	client, err := from.Client()
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
		Packages: packagesOf(b.Catalog()),
	}
	return r, nil
}

// printImage prints an image's metadata, which may come from anyone, without control sequences for the terminal.
func printImage(w io.Writer, name string, r *imageReport) {
	var out strings.Builder
	defer func() {
		for line := range strings.Lines(out.String()) {
			fmt.Fprintln(w, output.Printable(strings.TrimSuffix(line, "\n")))
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
