package publish

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/markdown"
	"github.com/olmgraft/graft/internal/reference"
	"github.com/olmgraft/graft/internal/template/kind"
)

// table has a row for each added or changed edge.
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

// edges has a row for each distinct change with its channels. Templates with the same change share a row.
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
	order := w.channelOrder()
	for _, r := range all {
		slices.SortFunc(r.channels, order)
	}
	slices.SortStableFunc(all, func(a, b row) int { return order(a.channels[0], b.channels[0]) })
	table := make([][]string, 0, len(all))
	for _, r := range all {
		where := markdown.Codes(slices.DeleteFunc(slices.Clone(r.channels), func(s string) bool { return s == "" }))
		if len(r.files) < len(files) {
			where = strings.TrimSpace(where + " in " + some(r.files, "template"))
		}
		table = append(table, append([]string{where}, codes(r.cells)...))
	}
	fmt.Fprintf(b, "In %s:\n\n", some(files, "template"))
	const shown = 8
	header, first := []string{"channel", "bundle", "before", "after"}, table[:min(len(table), shown)]
	b.WriteString(markdown.Table(header, first))
	if rest := table[len(first):]; len(rest) > 0 {
		b.WriteString(markdown.Details(count(len(rest), "more change"), markdown.Table(header, rest)))
	}
	b.WriteString(folded(count(len(files), "template"), files))
}

// channelOrder compares channels: default channels come first, then the others by the versions in their names,
// then names that are not channels.
func (w *Work) channelOrder() func(a, b string) int {
	first := map[string]bool{}
	for _, c := range w.catalogs() {
		for _, pkg := range c.After.Packages {
			first[pkg.DefaultChannel] = true
		}
	}
	rank := func(channel string) int {
		switch {
		case channel == "":
			return 2
		case first[channel]:
			return 0
		}
		return 1
	}
	return func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), graph.CompareChannels(a, b))
	}
}

// edgeCells returns the bundle of a change, the old value and the new value.
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
		from, to := brief(c.From, c.To)
		return []string{c.Name, from, to}
	case kind.EntryRemoved, kind.BundleRemoved:
		return []string{c.Name, c.From, "removed"}
	case kind.ChannelRemoved:
		return []string{"", "", "removed"}
	case kind.DeprecationAdded:
		return []string{c.Name, c.From, "deprecated: " + c.To}
	case kind.EdgesSet:
		return []string{c.Name, c.From, c.To}
	case kind.DeprecationGone:
		return []string{c.Name, c.From, "no longer deprecated"}
	case kind.EntryReplaced:
		return []string{c.Name, "entry of " + c.From, c.To}
	case kind.BundleAdded:
		if c.Channel != "" { // a semver template, whose edges are computed
			return []string{c.Name, "", "added"}
		}
	}
	return nil
}

// rows returns the files and cells of the changes that have cells. Files with the same change share a row.
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

// row is a change with its files and channels.
type row struct{ files, channels, cells []string }

// merged joins rows that differ only in the file, then those that differ only in the channel.
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

// codes formats each text as code.
func codes(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		if text != "" {
			out[i] = markdown.Code(text)
		}
	}
	return out
}

// brief shortens two images for a table. It cuts the digests, and the repository if both have the same. The
// text above the table has the images in full.
func brief(from, to string) (a, b string) {
	short := func(image string, whole bool) string {
		repository, tag, digest := reference.Cut(image)
		if algorithm, hex, ok := strings.Cut(digest, ":"); ok && len(hex) > 12 {
			digest = algorithm + ":" + hex[:12] + "…"
		}
		text := ""
		if whole || tag == "" && digest == "" {
			text = repository
		}
		if tag != "" {
			text += ":" + tag
		}
		if digest != "" {
			text += "@" + digest
		}
		if !whole {
			text = strings.TrimLeft(text, ":@")
		}
		return text
	}
	was, _, _ := reference.Cut(from)
	is, _, _ := reference.Cut(to)
	return short(from, was != is), short(to, was != is)
}
