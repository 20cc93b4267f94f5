package publish

import (
	"fmt"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/draw"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/pullrequest"
	"github.com/olmgraft/graft/internal/template/kind"
)

// body writes the pull request's text: what a maintainer reads before the button.
// Everything in it that came from outside goes through pullrequest's escaping.
func (w *Work) body(reproduce string, warnings []string) string {
	var b strings.Builder
	w.head(&b, warnings)
	w.table(&b)
	w.pictures(&b)
	w.paths(&b)
	w.findings(&b)
	w.reasons(&b)
	fmt.Fprintf(&b, "<details><summary>Reproduce it</summary>\n\n```\n%s\n```\n\n</details>\n", strings.ReplaceAll(reproduce, "```", ""))
	return b.String()
}

func (w *Work) head(b *strings.Builder, warnings []string) {
	bundle := w.Bundle
	fmt.Fprintf(b, "Adds bundle %s, version %s of package %s.\n\n", pullrequest.Code(bundle.Name), pullrequest.Code(bundle.Version.String()), pullrequest.Code(bundle.Package))
	fmt.Fprintf(b, "- image: %s\n", pullrequest.Code(bundle.Image))
	if bundle.Digest != "" {
		fmt.Fprintf(b, "- digest: %s\n", pullrequest.Code(bundle.Digest))
	}
	b.WriteString("\n")
	for _, warning := range warnings {
		fmt.Fprintf(b, "> [!WARNING]\n> %s\n\n", pullrequest.Escape(warning))
	}
}

// table has a row for each edge that was made or moved.
func (w *Work) table(b *strings.Builder) {
	b.WriteString("| template | channel | bundle | before | after |\n|---|---|---|---|---|\n")
	row := func(cells ...string) {
		for i, c := range cells {
			if c != "" {
				cells[i] = pullrequest.Code(c)
			}
		}
		fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
	}
	for _, t := range w.Targets {
		for _, c := range t.Changes {
			switch c.What {
			case kind.EntryAdded:
				row(t.Template, c.Channel, c.Name, "", c.To)
			case kind.EntryRewired:
				before := "replaces " + c.From
				if c.From == "" {
					before = "replaces nothing"
				}
				row(t.Template, c.Channel, c.Name, before, "replaces "+c.To)
			case kind.DefaultChannelSet:
				row(t.Template, "", "default channel", c.From, c.To)
			case kind.BundlePromoted:
				row(t.Template, c.Channel, c.Name, c.From, c.To)
			case kind.BundleAdded:
				if c.Channel != "" { // of a semver template, whose edges are computed
					row(t.Template, c.Channel, c.Name, "", "added")
				}
			}
		}
	}
	b.WriteString("\n")
}

// pictures draws the neighbourhood of the bundle, once for catalogs that look alike.
func (w *Work) pictures(b *strings.Builder) {
	seen := map[string][]string{}
	var order []string
	for _, t := range w.Targets {
		for _, c := range t.Catalogs {
			g, around := c.After.Picture(graph.PictureOptions{Package: w.Bundle.Package, Base: c.Before}), draw.Options{Around: w.Bundle.Name}
			if around.Check(g) != nil {
				continue // a catalog in which the bundle has no place shows nothing
			}
			picture := string(draw.Mermaid(g, around))
			if seen[picture] == nil {
				order = append(order, picture)
			}
			seen[picture] = append(seen[picture], c.Path)
		}
	}
	for _, picture := range order {
		var names []string
		for _, path := range seen[picture] {
			names = append(names, pullrequest.Code(path))
		}
		fmt.Fprintf(b, "%s\n\n```mermaid\n%s```\n\n", strings.Join(names, ", "), strings.ReplaceAll(picture, "```", ""))
	}
}

// paths tells what installed versions gain.
func (w *Work) paths(b *strings.Builder) {
	lines := map[string]bool{}
	var order []string
	for _, t := range w.Targets {
		for _, c := range t.Catalogs {
			for _, line := range gained(graph.Diff(c.Before, c.After), w.Bundle.Name) {
				if !lines[line] {
					lines[line] = true
					order = append(order, line)
				}
			}
		}
	}
	if len(order) == 0 {
		return
	}
	const shown = 20
	b.WriteString("Upgrades gained:\n\n")
	for _, line := range order[:min(shown, len(order))] {
		fmt.Fprintf(b, "- %s\n", line)
	}
	if n := len(order) - shown; n > 0 {
		fmt.Fprintf(b, "- and %d more\n", n)
	}
	b.WriteString("\n")
}

func (w *Work) findings(b *strings.Builder) {
	if len(w.Findings) == 0 {
		b.WriteString("The graph was verified: no findings.\n\n")
		return
	}
	b.WriteString("Findings:\n\n")
	for _, f := range w.Findings {
		fmt.Fprintf(b, "- %s %s: %s\n", f.Level, pullrequest.Code(f.ID), pullrequest.Escape(f.Message))
	}
	b.WriteString("\n")
}

func (w *Work) reasons(b *strings.Builder) {
	var lines []string
	for _, t := range w.Targets {
		for _, n := range t.Notes {
			lines = append(lines, pullrequest.Code(t.Template)+": "+pullrequest.Escape(n))
		}
	}
	for _, left := range w.Plan.LeftOut {
		what := left.Template
		if left.Catalog != "" {
			what = left.Catalog
		}
		lines = append(lines, pullrequest.Code(what)+" was left out: "+pullrequest.Escape(left.Reason))
	}
	for _, text := range w.Plan.Reasons {
		lines = append(lines, pullrequest.Escape(text))
	}
	lines = slices.Compact(lines)
	if len(lines) == 0 {
		return
	}
	b.WriteString("<details><summary>Why these places</summary>\n\n")
	for _, line := range lines {
		fmt.Fprintf(b, "- %s\n", line)
	}
	b.WriteString("\n</details>\n\n")
}

// gained are the upgrades that installed versions did not have before.
func gained(changes graph.Changes, bundle string) []string {
	var out []string
	for _, p := range changes.Packages {
		for _, ch := range p.Channels {
			for _, path := range ch.Paths {
				if path.Next == nil || path.Next.To == "" || path.Bundle == bundle {
					continue
				}
				text := pullrequest.Code(ch.Name) + ": " + pullrequest.Code(path.Bundle) + " → " + pullrequest.Code(path.Next.To)
				if path.Change == graph.Direct {
					text += " now direct"
				}
				out = append(out, text)
			}
		}
	}
	return out
}
