package publish

import (
	"fmt"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/draw"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/markdown"
	"github.com/olmgraft/graft/internal/template/kind"
)

// body writes the pull request's text: what a maintainer reads before the button.
// Everything in it that came from outside goes through package markdown.
func (c *change) body(w *Work) (string, error) {
	var b strings.Builder
	intro, err := newest(w.subjects).intro(c.Texts)
	if err != nil {
		return "", err
	}
	if intro != "" {
		b.WriteString(intro + "\n\n")
	}
	w.describe(&b)
	return b.String(), nil
}

// describe writes what Graft has to say, the most important first.
func (w *Work) describe(b *strings.Builder) {
	w.head(b)
	w.beside(b)
	w.table(b)
	w.moved(b)
	w.pictures(b)
	w.paths(b)
	w.verified(b)
	w.findings(b)
	w.reasons(b)
	w.reproduce(b)
}

func (w *Work) head(b *strings.Builder) {
	for _, s := range w.subjects {
		s.describe(b)
	}
	for _, warning := range w.Warnings {
		b.WriteString(markdown.Alert("WARNING", markdown.Escape(warning)))
	}
}

// table has a row for each edge that was made or moved.
func (w *Work) table(b *strings.Builder) {
	b.WriteString(markdown.Table([]string{"template", "channel", "bundle", "before", "after"}, w.rows(func(template string, c kind.Change) []string {
		switch c.What {
		case kind.EntryAdded:
			return []string{template, c.Channel, c.Name, "", c.To}
		case kind.EntryRewired:
			before := "replaces " + c.From
			if c.From == "" {
				before = "replaces nothing"
			}
			return []string{template, c.Channel, c.Name, before, "replaces " + c.To}
		case kind.OperandAdded:
			return []string{template, "", c.Name, "", "version " + c.To}
		case kind.DefaultChannelSet:
			return []string{template, "", "default channel", c.From, c.To}
		case kind.BundlePromoted, kind.BundleRebuilt, kind.BundleReplaced:
			return []string{template, c.Channel, c.Name, c.From, c.To}
		case kind.EntryRemoved, kind.BundleRemoved:
			return []string{template, c.Channel, c.Name, c.From, "removed"}
		case kind.ChannelRemoved:
			return []string{template, c.Channel, "", "", "removed"}
		case kind.DeprecationAdded:
			return []string{template, c.Channel, c.Name, c.From, "deprecated: " + c.To}
		case kind.DeprecationGone:
			return []string{template, c.Channel, c.Name, c.From, "deprecated no more"}
		case kind.EntryReplaced:
			return []string{template, c.Channel, c.Name, "entry of " + c.From, c.To}
		case kind.BundleAdded:
			if c.Channel != "" { // of a semver template, whose edges are computed
				return []string{template, c.Channel, c.Name, "", "added"}
			}
		}
		return nil
	})))
	b.WriteString(markdown.Table([]string{"manifest", "CatalogSource", "before", "after"}, w.rows(func(manifest string, c kind.Change) []string {
		if c.What != kind.CatalogSourceSet && c.What != kind.ClusterCatalogSet {
			return nil
		}
		return []string{manifest, c.Name, c.From, c.To}
	})))
	b.WriteString(markdown.Table([]string{"file", "value", "before", "after"}, w.rows(func(file string, c kind.Change) []string {
		if c.What != kind.FieldSet {
			return nil
		}
		return []string{file, c.Name, c.From, c.To}
	})))
	if len(w.ran) > 0 {
		fmt.Fprintf(b, "Commands that the repository adds changed %s.\n\n", markdown.Codes(w.ran))
	}
}

// rows are those of the changes that have cells, once for files and channels that change alike.
func (w *Work) rows(cells func(file string, c kind.Change) []string) (rows [][]string) {
	for _, t := range w.Targets {
		for _, c := range t.Changes {
			if row := cells(t.Template, c); row != nil {
				rows = append(rows, row)
			}
		}
	}
	rows = merged(rows, 0, "file")
	if len(rows) > 0 && len(rows[0]) == 5 { // with a channel
		rows = merged(rows, 1, "channel")
	}
	return rows
}

// merged joins rows that differ in one cell alone: the texts of that, or how many there are.
func merged(rows [][]string, at int, noun string) (out [][]string) {
	const named = 3
	texts := map[string][]string{}
	key := func(row []string) string {
		return strings.Join(append(slices.Clone(row[:at]), row[at+1:]...), "\x00")
	}
	for _, row := range rows {
		if k := key(row); texts[k] == nil {
			out = append(out, slices.Clone(row))
			texts[k] = []string{row[at]}
		} else {
			texts[k] = kind.Unique(append(texts[k], row[at]))
		}
	}
	for _, row := range out {
		if all := texts[key(row)]; len(all) > named {
			row[at] = count(len(all), noun)
		} else {
			row[at] = strings.Join(all, ", ")
		}
	}
	return out
}

// around is how many steps of a channel are drawn on each side of a change.
const around = 3

// pictures draws the neighbourhood of each bundle in the channels that a change touches, once for
// catalogs that look alike. The first one is what a reviewer sees.
func (w *Work) pictures(b *strings.Builder) {
	seen := map[string][]string{}
	var order []string
	for _, s := range w.subjects {
		facts := s.facts()
		for _, c := range w.catalogs() {
			g := c.After.Picture(graph.PictureOptions{Package: facts.Package, Base: c.Before}).Touched(facts.Name)
			o := draw.Options{Around: facts.Name, Radius: around}
			if o.Check(g) != nil {
				continue // a catalog in which the bundle has no place shows nothing
			}
			picture := string(draw.Mermaid(g, o))
			if seen[picture] == nil {
				order = append(order, picture)
			}
			seen[picture] = append(seen[picture], c.Path)
		}
	}
	var first, others strings.Builder
	into := &first
	for _, picture := range order {
		into.WriteString(some(kind.Unique(seen[picture]), "catalog") + "\n\n" + markdown.Fence("mermaid", picture))
		into = &others
	}
	b.WriteString(first.String() + markdown.Details("The graphs of the other catalogs", others.String()))
}

// some are a few paths, or how many there are and the first.
func some(paths []string, noun string) string {
	const named = 3
	if len(paths) <= named {
		return markdown.Codes(paths)
	}
	return count(len(paths), noun) + ", of which " + markdown.Code(paths[0]) + " is one"
}

func (w *Work) catalogs() []Catalog {
	var all []Catalog
	for _, t := range w.Targets {
		if all = append(all, t.Catalogs...); t.inMemory != nil {
			all = append(all, *t.inMemory)
		}
	}
	return all
}

// paths tells what installed versions are upgraded to next, and were: a line for each stretch
// of versions, once for catalogs that change alike.
func (w *Work) paths(b *strings.Builder) {
	in := map[string][]string{}
	var lines []string
	catalogs := w.catalogs()
	for _, c := range catalogs {
		for _, r := range graph.Diff(c.Before, c.After).NextRanges() {
			line := nextLine(r)
			lines = append(lines, line)
			in[line] = kind.Unique(append(in[line], c.Path))
		}
	}
	if lines = kind.Unique(lines); len(lines) == 0 {
		return
	}
	const shown = 20
	more := len(lines) - shown
	lines = lines[:min(len(lines), shown)]
	for i, line := range lines {
		if len(in[line]) < len(catalogs) {
			lines[i] += ", in " + markdown.Codes(in[line])
		}
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	b.WriteString("Next upgrades of installed versions:\n\n" + markdown.List(lines))
}

// nextLine is such as "stable: 1.0.0 to 1.2.9: next 1.3.0, was 1.2.10".
func nextLine(r graph.NextRange) string {
	version := func(v string) string {
		if v == "" {
			return "none"
		}
		return markdown.Code(v)
	}
	text := markdown.Code(r.Channel) + " of " + markdown.Code(r.Package) + ": " + version(r.First)
	if r.Last != r.First {
		text += " to " + version(r.Last)
	}
	text += ": next " + version(r.Next.To) + ", was " + version(r.Next.From)
	if len(r.Rules) == 1 {
		text += " (OLM " + r.Rules[0].String() + ")"
	}
	return text
}

func (w *Work) findings(b *strings.Builder) {
	if len(w.Findings) == 0 {
		if n := len(w.catalogs()); n > 0 {
			fmt.Fprintf(b, "The graph of %s was verified: no findings.\n\n", count(n, "catalog"))
		}
		return
	}
	byLevel := map[graph.Level][]string{}
	for _, f := range w.Findings {
		line := string(f.Level) + " " + markdown.Code(f.ID) + ": " + markdown.Escape(f.Message)
		byLevel[f.Level] = kind.Unique(append(byLevel[f.Level], line))
	}
	lines, warnings := byLevel[graph.Error], byLevel[graph.Warning]
	const shown = 5
	if len(warnings) <= shown {
		lines, warnings = append(lines, warnings...), nil
	}
	if len(lines) > 0 {
		b.WriteString("Findings:\n\n" + markdown.List(lines))
	}
	b.WriteString(markdown.Details(count(len(warnings), "warning")+" of the graph", markdown.List(warnings)))
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (w *Work) reasons(b *strings.Builder) {
	var lines []string
	for _, t := range w.Targets {
		for _, n := range t.Notes {
			lines = append(lines, markdown.Code(t.Template)+": "+markdown.Escape(n))
		}
	}
	for _, left := range w.LeftOut {
		lines = append(lines, markdown.Code(left.Path())+" was left out: "+markdown.Escape(left.Reason))
	}
	for _, text := range w.Reasons {
		lines = append(lines, markdown.Escape(text))
	}
	b.WriteString(markdown.Details("Why these places", markdown.List(kind.Unique(lines))))
}

// reproduce gives the command that does the same at a desk.
func (w *Work) reproduce(b *strings.Builder) {
	var commands strings.Builder
	for _, s := range w.subjects {
		commands.WriteString(strings.Join(strings.Fields(s.request().Command()), " ") + "\n")
	}
	b.WriteString(strings.TrimSuffix(markdown.Details("Reproduce it", markdown.Fence("", commands.String())), "\n"))
}
