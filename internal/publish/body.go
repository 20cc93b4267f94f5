package publish

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/draw"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/markdown"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/template/kind"
)

// body returns the pull request's text: what a maintainer reads before merging. All foreign text in it goes
// through package markdown.
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

// describe writes Graft's description, most important parts first.
func (w *Work) describe(b *strings.Builder) {
	w.beside(b)
	w.head(b)
	w.table(b)
	w.without(b)
	w.moved(b)
	w.verified(b)
	w.findings(b)
	w.paths(b)
	w.pictures(b)
	w.linkExplorer(b)
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

// around is the number of steps of a channel that are drawn on each side of a change.
const around = 3

// drawn is the number of channels in the first picture.
const drawn = 3

// pictures draws the neighbourhood of each bundle in the changed channels, once for all catalogs that look the
// same. The first channels of the most common picture are visible. The rest is folded, and so is a picture
// without changes, as after a rebuild.
func (w *Work) pictures(b *strings.Builder) {
	type picture struct {
		first, others string
		changes       bool
	}
	seen := map[picture][]string{}
	var order []picture
	for _, s := range w.subjects {
		facts := s.facts()
		for _, c := range w.catalogs() {
			g := c.After.Picture(graph.PictureOptions{Package: facts.Package, Base: c.Before}).Touched(facts.Name)
			o := draw.Options{Around: facts.Name, Radius: around}
			if o.Check(g) != nil {
				continue // a catalog without the bundle shows nothing
			}
			one := picture{changes: g.Changes()}
			first, others := g.Split(drawn)
			one.first = string(draw.Mermaid(first, o))
			if len(others.Packages) > 0 {
				one.others = string(draw.Mermaid(others, o))
			}
			if seen[one] == nil {
				order = append(order, one)
			}
			seen[one] = append(seen[one], c.Path)
		}
	}
	slices.SortStableFunc(order, func(a, b picture) int { return cmp.Compare(len(seen[b]), len(seen[a])) })
	var folded strings.Builder
	for i, one := range order {
		caption := "Upgrade graph of " + some(kind.Unique(seen[one]), "catalog") + ":\n\n"
		if i > 0 || !one.changes {
			folded.WriteString(caption + markdown.Fence("mermaid", one.first))
		} else {
			b.WriteString(caption + markdown.Fence("mermaid", one.first))
		}
		if one.others != "" {
			folded.WriteString("Further channels:\n\n" + markdown.Fence("mermaid", one.others))
		}
	}
	b.WriteString(markdown.Details("More graphs", folded.String()))
}

// named is the number of paths that are listed by name.
const named = 3

// some returns a few paths, or their number.
func some(paths []string, noun string) string {
	if len(paths) <= named {
		return markdown.Codes(paths)
	}
	return count(len(paths), noun)
}

// folded lists paths below a summary if they are too many for some.
func folded(summary string, paths []string) string {
	if len(paths) <= named {
		return ""
	}
	return markdown.Details(summary, markdown.List(codes(paths)))
}

// someOf returns the paths if they are few, or else their number.
func someOf(paths []string, all int, noun string) string {
	if len(paths) <= named {
		return markdown.Codes(paths)
	}
	return fmt.Sprintf("%d of %s", len(paths), count(all, noun))
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

// without names the catalogs that do not get a bundle, because the configuration excludes it there.
func (w *Work) without(b *strings.Builder) {
	for _, s := range w.subjects {
		if _, ok := s.(*bundleImage); !ok {
			continue
		}
		var not []string
		name := s.facts().Name
		for _, c := range w.catalogs() {
			pkg := c.After.Package(s.facts().Package)
			if pkg == nil && len(w.packages()) > 1 {
				continue // it is one of another package
			}
			if pkg == nil || pkg.Bundle(name) == nil {
				not = append(not, c.Path)
			}
		}
		if len(not) > 0 {
			fmt.Fprintf(b, "%s is not in %s.\n\n%s", markdown.Code(name), some(not, "catalog"), folded(count(len(not), "catalog")+" without it", not))
		}
	}
}

// packages returns the packages that the change concerns.
func (w *Work) packages() []string {
	var all []string
	for _, s := range w.subjects {
		all = append(all, s.facts().Package)
	}
	return kind.Unique(all)
}

// earlier mentions findings between platforms that the change did not cause, with the command that shows them.
func (w *Work) earlier(b *strings.Builder) {
	for _, e := range w.skewBefore {
		b.WriteString(markdown.Details(count(e.findings, "finding")+" between platforms existed before this change", markdown.Fence("", e.command+"\n")))
	}
}

func (w *Work) findings(b *strings.Builder) {
	defer w.earlier(b)
	var failed, warnings, before []string
	for _, said := range failure.Once(w.Findings, func(f graph.Finding) failure.Saying {
		return failure.Saying{Text: fmt.Sprint(f.Level, f.Earlier, f.ID, "\x00", failure.Without(f.Message, f.Against)), Place: w.catalogOf(f.File), Against: f.Against}
	}) {
		f := said.First
		line := string(f.Level) + " " + markdown.Code(f.ID) + ": " + markdown.Escape(f.Message)
		if len(said.Against) > 1 {
			line += ", and against " + some(said.Against[1:], "other catalog")
		}
		line += w.among(said.Places)
		switch {
		case f.Level == graph.Error:
			failed = append(failed, line)
		case f.Earlier:
			before = append(before, line)
		default:
			warnings = append(warnings, line)
		}
	}
	n, none := len(w.catalogs()), "no findings"
	if len(before) > 0 {
		none = "no new findings"
	}
	if len(failed)+len(warnings) == 0 && n > 0 {
		fmt.Fprintf(b, "The graph of %s was verified: %s.\n\n", count(n, "catalog"), none)
	}
	const shown = 5
	if len(warnings) <= shown {
		failed, warnings = append(failed, warnings...), nil
	}
	if len(failed) > 0 {
		b.WriteString("Findings:\n\n" + markdown.List(failed))
	}
	b.WriteString(markdown.Details(count(len(warnings), "warning")+" of the graph", markdown.List(warnings)))
	b.WriteString(markdown.Details(count(len(before), "warning")+" of the graph existed before this change", markdown.List(before)))
}

// catalogOf returns the catalog of the change that contains a file, or "".
func (w *Work) catalogOf(file string) string {
	for _, c := range w.catalogs() {
		if file == c.Path || strings.HasPrefix(file, c.Path+"/") {
			return c.Path
		}
	}
	return ""
}

// among names the catalogs that a line concerns, if it does not concern all.
func (w *Work) among(paths []string) string {
	all := len(w.catalogs())
	switch {
	case len(paths) == 0 || all == 1:
		return ""
	case len(paths) == all && all == 2:
		return ", in both catalogs"
	case len(paths) == all:
		return fmt.Sprintf(", in all %d catalogs", all)
	}
	if len(paths) <= named {
		return ", in " + markdown.Codes(paths)
	}
	return fmt.Sprintf(", in %d of %d catalogs (%s, …)", len(paths), all, markdown.Codes(paths[:named]))
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// reasons explains the change: each reason once, with its files.
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
	for _, said := range failure.Once(w.LeftOut, func(l plan.LeftOut) failure.Saying { return failure.Saying{Text: l.Reason, Place: l.Path()} }) {
		was := " was"
		if len(said.Places) > 1 {
			was = " were"
		}
		lines = append(lines, some(said.Places, "file")+was+" left out: "+markdown.Escape(said.First.Reason))
	}
	for _, text := range w.Reasons {
		lines = append(lines, markdown.Escape(text))
	}
	b.WriteString(markdown.Details("Why these places", markdown.List(kind.Unique(lines))))
}

// reproduce writes the command that does the same locally, where a dry run reads the work tree by default.
func (w *Work) reproduce(b *strings.Builder) {
	var flags []string
	switch {
	case w.base != "":
		flags = []string{"--base", Quoted(w.base)}
	case w.remote:
		flags = []string{"--remote"}
	}
	flags = append(flags, w.flags...)
	var commands strings.Builder
	reject := "To reject it, close the pull request: Graft does not propose the same again.\n\n"
	for _, s := range w.subjects {
		if s.request().Edit.Said() {
			reject = ""
		}
		commands.WriteString(strings.Join(strings.Fields(s.request().Command(flags...)), " ") + "\n")
	}
	b.WriteString(strings.TrimSuffix(markdown.Details("Reproduce it", markdown.Fence("", commands.String())+reject), "\n"))
}
