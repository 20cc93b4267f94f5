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
	w.beside(b)
	w.head(b)
	w.table(b)
	w.moved(b)
	w.pictures(b)
	w.linkExplorer(b)
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
	w.edges(b)
	b.WriteString(markdown.Table([]string{"manifest", "CatalogSource", "before", "after"}, w.rows(func(c kind.Change) []string {
		if c.What != kind.CatalogSourceSet && c.What != kind.ClusterCatalogSet {
			return nil
		}
		return []string{c.Name, c.From, c.To}
	})))
	b.WriteString(markdown.Table([]string{"file", "value", "before", "after"}, w.rows(func(c kind.Change) []string {
		if c.What != kind.FieldSet {
			return nil
		}
		return []string{c.Name, c.From, c.To}
	})))
	if len(w.ran) > 0 {
		fmt.Fprintf(b, "Commands that the repository adds changed %s.\n\n", markdown.Codes(w.ran))
	}
}

// edges has a row for each distinct change, with the channels that it is made in. Templates that
// change alike are named once.
func (w *Work) edges(b *strings.Builder) {
	var all []row
	for _, t := range w.Targets {
		for _, c := range t.Changes {
			if cells := edgeCells(c); cells != nil {
				all = append(all, row{files: []string{t.Template}, channels: []string{c.Channel}, cells: cells})
			}
		}
	}
	all = merged(all)
	if len(all) == 0 {
		return
	}
	var files []string
	for _, r := range all {
		files = append(files, r.files...)
	}
	files = kind.Unique(files)
	table := make([][]string, 0, len(all))
	for _, r := range all {
		where := markdown.Codes(slices.DeleteFunc(slices.Clone(r.channels), func(s string) bool { return s == "" }))
		if len(r.files) < len(files) {
			where = strings.TrimSpace(where + " in " + some(r.files, "template"))
		}
		table = append(table, append([]string{where}, codes(r.cells)...))
	}
	fmt.Fprintf(b, "In %s:\n\n", some(files, "template"))
	b.WriteString(markdown.Table([]string{"channel", "bundle", "before", "after"}, table))
	if len(files) > named {
		b.WriteString(markdown.Details(count(len(files), "template"), markdown.List(codes(files))))
	}
}

// edgeCells are the bundle of a change, what was, and what is.
func edgeCells(c kind.Change) []string {
	switch c.What {
	case kind.EntryAdded:
		return []string{c.Name, "", c.To}
	case kind.EntryRewired:
		before := "replaces " + c.From
		if c.From == "" {
			before = "replaces nothing"
		}
		return []string{c.Name, before, "replaces " + c.To}
	case kind.OperandAdded:
		return []string{c.Name, "", "version " + c.To}
	case kind.DefaultChannelSet:
		return []string{"default channel", c.From, c.To}
	case kind.BundlePromoted, kind.BundleRebuilt, kind.BundleReplaced:
		return []string{c.Name, c.From, c.To}
	case kind.EntryRemoved, kind.BundleRemoved:
		return []string{c.Name, c.From, "removed"}
	case kind.ChannelRemoved:
		return []string{"", "", "removed"}
	case kind.DeprecationAdded:
		return []string{c.Name, c.From, "deprecated: " + c.To}
	case kind.DeprecationGone:
		return []string{c.Name, c.From, "no longer deprecated"}
	case kind.EntryReplaced:
		return []string{c.Name, "entry of " + c.From, c.To}
	case kind.BundleAdded:
		if c.Channel != "" { // of a semver template, whose edges are computed
			return []string{c.Name, "", "added"}
		}
	}
	return nil
}

// rows are the files and cells of the changes that have any, once for files that change alike.
func (w *Work) rows(cells func(kind.Change) []string) (rows [][]string) {
	var all []row
	for _, t := range w.Targets {
		for _, c := range t.Changes {
			if cells := cells(c); cells != nil {
				all = append(all, row{files: []string{t.Template}, cells: cells})
			}
		}
	}
	for _, r := range merged(all) {
		rows = append(rows, append([]string{some(r.files, "file")}, codes(r.cells)...))
	}
	return rows
}

// row is a change, and the files and channels that it is made in.
type row struct{ files, channels, cells []string }

// merged joins rows that differ in the file alone, then those that differ in the channel alone.
func merged(rows []row) []row {
	rows = join(rows, func(r row) [][]string { return [][]string{r.channels, r.cells} }, func(to *row, r row) { to.files = kind.Unique(append(to.files, r.files...)) })
	return join(rows, func(r row) [][]string { return [][]string{r.files, r.cells} }, func(to *row, r row) { to.channels = kind.Unique(append(to.channels, r.channels...)) })
}

func join(rows []row, same func(row) [][]string, add func(to *row, r row)) (out []row) {
	at := map[string]int{}
	for _, r := range rows {
		key := fmt.Sprintf("%q", same(r))
		if i, known := at[key]; known {
			add(&out[i], r)
			continue
		}
		at[key] = len(out)
		out = append(out, r)
	}
	return out
}

// codes are texts as code, each by itself.
func codes(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		if text != "" {
			out[i] = markdown.Code(text)
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

// named is how many paths are said by their names.
const named = 3

// some are a few paths, or how many there are.
func some(paths []string, noun string) string {
	if len(paths) <= named {
		return markdown.Codes(paths)
	}
	return count(len(paths), noun)
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
			line := nextLine(r, len(w.packages()) > 1)
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
func nextLine(r graph.NextRange, several bool) string {
	version := func(v string) string {
		if v == "" {
			return "none"
		}
		return markdown.Code(v)
	}
	text := markdown.Code(r.Channel)
	if several {
		text += " of " + markdown.Code(r.Package)
	}
	text += ": " + version(r.First)
	if r.Last != r.First {
		text += " to " + version(r.Last)
	}
	text += ": next " + version(r.Next.To) + ", was " + version(r.Next.From)
	if len(r.Rules) == 1 {
		text += " (OLM " + r.Rules[0].String() + ")"
	}
	return text
}

// packages are those that the catalogs of the change are about.
func (w *Work) packages() []string {
	var all []string
	for _, s := range w.subjects {
		all = append(all, s.facts().Package)
	}
	return kind.Unique(all)
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

// reasons says why the change is as it is: each reason once, with the files that it is about.
func (w *Work) reasons(b *strings.Builder) {
	about := map[string][]string{}
	var order []string
	add := func(reason, file string) {
		if about[reason] == nil {
			order = append(order, reason)
		}
		about[reason] = append(about[reason], file)
	}
	for _, t := range w.Targets {
		for _, n := range t.Notes {
			add(n, t.Template)
		}
		for _, c := range t.Catalogs {
			for _, n := range c.planned.Reasons {
				add(n, c.Path)
			}
		}
	}
	var lines []string
	for _, reason := range order {
		lines = append(lines, some(kind.Unique(about[reason]), "file")+": "+markdown.Escape(reason))
	}
	for _, left := range w.LeftOut {
		lines = append(lines, markdown.Code(left.Path())+" was left out: "+markdown.Escape(left.Reason))
	}
	for _, text := range w.Reasons {
		lines = append(lines, markdown.Escape(text))
	}
	b.WriteString(markdown.Details("Why these places", markdown.List(kind.Unique(lines))))
}

// reproduce gives the command that does the same at a desk, where a dry run reads the work tree
// unless it is told otherwise.
func (w *Work) reproduce(b *strings.Builder) {
	var flags []string
	if w.remote {
		flags = []string{"--remote"}
	}
	var commands strings.Builder
	for _, s := range w.subjects {
		commands.WriteString(strings.Join(strings.Fields(s.request().Command(flags...)), " ") + "\n")
	}
	b.WriteString(strings.TrimSuffix(markdown.Details("Reproduce it", markdown.Fence("", commands.String())), "\n"))
}
