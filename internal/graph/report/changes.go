package report

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/markdown"
)

// ChangesJSON writes changes as one object.
func ChangesJSON(w io.Writer, c graph.Changes) error {
	if c.Packages == nil {
		c.Packages = []graph.PackageChanges{}
	}
	return writeJSON(w, struct {
		SchemaVersion int `json:"schemaVersion"`
		graph.Changes
	}{Schema, c})
}

// ChangesText writes changes for people, in the order of packages and channels.
func ChangesText(w io.Writer, c graph.Changes, style Style) error {
	p := &printer{w: w}
	if c.Empty() {
		p.line("no changes")
	}
	for _, pkg := range c.Packages {
		p.line("%s", style.paint(bold, "package "+visible(pkg.Name)+suffix(pkg.Change)))
		for _, s := range packageLines(pkg) {
			p.line("  %s", s.text(style))
		}
		for _, ch := range pkg.Channels {
			p.line("  %s", style.paint(bold, "channel "+visible(ch.Name)+suffix(ch.Change)))
			for _, s := range channelLines(ch) {
				p.line("    %s", s.text(style))
			}
		}
	}
	return p.err
}

// ChangesMarkdown writes changes for a pull request, with a section for each package. It folds the lines of a
// long channel.
func ChangesMarkdown(w io.Writer, c graph.Changes) error {
	p := &printer{w: w}
	if c.Empty() {
		p.line("No upgrade path changes.")
	}
	for _, pkg := range c.Packages {
		p.line("### %s%s\n", code(pkg.Name), suffix(pkg.Change))
		p.list(packageLines(pkg))
		for _, ch := range pkg.Channels {
			p.line("**%s**%s\n", code(ch.Name), suffix(ch.Change))
			p.list(channelLines(ch))
		}
	}
	return p.err
}

// foldAbove is the number of lines from which a channel is folded.
const foldAbove = 12

func (p *printer) list(lines []statement) {
	items := make([]string, len(lines))
	for i, s := range lines {
		items[i] = s.markdown()
	}
	list := markdown.List(items)
	if len(lines) > foldAbove {
		list = markdown.Details(fmt.Sprintf("%d changes", len(lines)), list)
	}
	p.print(list)
}

// statement is one change, as alternating words and names. The names come from the catalog and are written so
// that they cannot act as markup.
type statement struct {
	mark  graph.Change
	parts []part
}

type part struct {
	s    string
	name bool
}

// say builds a statement from a text in which each %s is a name.
func say(mark graph.Change, text string, names ...string) statement {
	s := statement{mark: mark}
	for i, words := range strings.Split(text, "%s") {
		if i > 0 {
			s.parts = append(s.parts, part{names[i-1], true})
		}
		s.parts = append(s.parts, part{words, false})
	}
	return s
}

func (s statement) text(style Style) string {
	var b strings.Builder
	for _, p := range s.parts {
		b.WriteString(visible(p.s))
	}
	colours := map[graph.Change]string{graph.Added: green, graph.Gained: green, graph.Direct: green,
		graph.Removed: red, graph.Lost: red, graph.Changed: yellow, graph.Longer: yellow, graph.Moved: yellow}
	return style.paint(colours[s.mark], b.String())
}

func (s statement) markdown() string {
	var b strings.Builder
	for _, p := range s.parts {
		if p.name {
			b.WriteString(code(p.s))
		} else {
			b.WriteString(p.s)
		}
	}
	return b.String()
}

func code(s string) string { return markdown.Span(visible(s)) }

func suffix(c graph.Change) string {
	if c == graph.Changed {
		return ""
	}
	return " " + string(c)
}

func packageLines(p graph.PackageChanges) (lines []statement) {
	if m := p.DefaultChannel; m != nil {
		lines = append(lines, say(graph.Changed, "default channel %s → %s", m.From, m.To))
	}
	for _, b := range p.Bundles {
		if b.Change != graph.Changed {
			lines = append(lines, say(b.Change, "bundle %s "+string(b.Change), b.Name))
		}
		if b.Was != "" {
			lines = append(lines, say(graph.Changed, "bundle %s: version %s → %s", b.Name, b.Was, b.Version))
		}
		if b.Image != nil {
			lines = append(lines, say(graph.Changed, "bundle %s: image %s → %s", b.Name, b.Image.From, b.Image.To))
		}
	}
	return lines
}

func channelLines(ch graph.ChannelChanges) (lines []statement) {
	switch m := ch.Head; {
	case m == nil:
	case m.From == "":
		lines = append(lines, say(graph.Added, "head %s", m.To))
	case m.To == "":
		lines = append(lines, say(graph.Removed, "no head; it was %s", m.From))
	default:
		lines = append(lines, say(graph.Changed, "head %s → %s", m.From, m.To))
	}
	for _, e := range ch.Entries {
		lines = append(lines, say(e.Change, "entry %s "+string(e.Change), e.Name))
	}
	for _, e := range ch.Edges {
		if e.Change == graph.Changed {
			lines = append(lines, say(e.Change, "%s "+e.Kind+" %s instead of %s", e.Bundle, e.To, e.Was))
		} else {
			lines = append(lines, say(e.Change, "%s "+e.Kind+" %s "+string(e.Change), e.Bundle, e.To))
		}
	}
	return append(lines, pathLines(ch.Paths)...)
}

// pathLines describes paths, with one line for those that change in the same way.
func pathLines(paths []graph.PathChange) (lines []statement) {
	type key struct {
		change graph.Change
		rules  string
		ends   string
	}
	keyOf := func(p graph.PathChange) key {
		k := key{p.Change, rulesText(p.Rules), p.Next.To}
		switch p.Change {
		case graph.Lost, graph.Gained:
			k.ends = p.Bundle
		case graph.Longer, graph.Moved:
			k.ends += "\x00" + p.Next.From
		}
		return k
	}
	var order []key
	groups := map[key][]graph.PathChange{}
	for _, p := range paths {
		k := keyOf(p)
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], p)
	}
	slices.SortStableFunc(order, func(a, b key) int { return cmp.Compare(changeRank(a.change), changeRank(b.change)) })
	for _, k := range order {
		lines = append(lines, pathLine(groups[k], k.rules))
	}
	return lines
}

func changeRank(c graph.Change) int {
	return slices.Index([]graph.Change{graph.Lost, graph.Gained, graph.Direct, graph.Longer, graph.Moved}, c)
}

func pathLine(group []graph.PathChange, rules string) statement {
	p := group[0]
	names := make([]string, len(group))
	for i, g := range group {
		names[i] = label(g.Bundle)
	}
	from := strings.Join(names, ", ")
	switch p.Change {
	case graph.Lost:
		return say(p.Change, "%s no longer reaches the head; its path was %s"+rules, from, way(p.Before))
	case graph.Gained:
		return say(p.Change, "%s now reaches the head by %s"+rules, from, way(p.After))
	case graph.Direct:
		return say(p.Change, "%s → %s now direct"+rules, from, label(p.Next.To))
	case graph.Longer:
		return say(p.Change, "%s → %s now through %s"+rules, from, label(p.Next.From), label(p.Next.To))
	}
	switch {
	case p.Next.To == "":
		return say(p.Change, "%s is no longer upgraded; it went to %s"+rules, from, label(p.Next.From))
	case p.Next.From == "":
		return say(p.Change, "%s → %s"+rules, from, label(p.Next.To))
	}
	return say(p.Change, "%s → %s instead of %s"+rules, from, label(p.Next.To), label(p.Next.From))
}

func way(names []string) string {
	labels := make([]string, len(names))
	for i, n := range names {
		labels[i] = label(n)
	}
	return strings.Join(labels, " → ")
}

// rulesText names the generation of OLM if a change concerns only one.
func rulesText(rules []graph.Generation) string {
	if len(rules) != 1 {
		return ""
	}
	return fmt.Sprintf(" (OLM %s)", rules[0])
}

var versionSuffix = regexp.MustCompile(`[.-](v?[0-9]+\.[0-9]+\.[0-9]+.*)$`)

// label shortens a bundle's name to the version at its end.
func label(name string) string {
	if m := versionSuffix.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return name
}
