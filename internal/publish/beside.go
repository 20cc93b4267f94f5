package publish

import (
	"fmt"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/markdown"
	"github.com/olmgraft/graft/internal/template/kind"
)

// Begun is a new catalog or channel.
type Begun struct {
	Catalog string   `json:"catalog,omitempty"`
	Channel string   `json:"channel,omitempty"`
	In      []string `json:"in,omitempty"` // for a channel: templates and catalogs
}

// Begun returns the catalogs and channels that the change creates.
func (w *Work) Begun() (all []Begun) {
	var channels []string
	in := map[string][]string{}
	channel := func(name, place string) {
		channels = append(channels, name)
		in[name] = append(in[name], place)
	}
	for _, t := range w.Targets {
		for _, c := range t.Changes {
			if c.What == kind.TemplateCreated {
				break // all of it is new
			}
			if c.What == kind.ChannelCreated && !t.archetypes {
				channel(c.Channel, t.Template)
			}
		}
		for _, c := range t.Catalogs {
			if c.begun {
				all = append(all, Begun{Catalog: c.Path})
				continue
			}
			if !c.Rendered {
				continue
			}
			for _, pkg := range c.After.Packages {
				for _, ch := range pkg.Channels {
					if old := c.standing.Package(pkg.Name); old == nil || old.Channel(ch.Name) == nil {
						channel(ch.Name, c.Path)
					}
				}
			}
		}
	}
	channels = kind.Unique(channels)
	slices.SortFunc(channels, w.channelOrder())
	for _, name := range channels {
		all = append(all, Begun{Channel: name, In: kind.Unique(in[name])})
	}
	return all
}

// Moved is an entry of an unpublished bundle whose edges change in catalogs.
type Moved struct {
	Channel  string   `json:"channel"`
	Bundle   string   `json:"bundle"`
	Change   string   `json:"change"`
	Catalogs []string `json:"catalogs"`
}

// Moved returns the entries whose edges only the change moves, except those that it moves in templates, which
// are in the table.
func (w *Work) Moved() (all []Moved) {
	for _, t := range w.Targets {
		for _, c := range t.Catalogs {
			if !c.Rendered {
				continue
			}
			for _, m := range movedIn(c, t.Changes) {
				i := slices.IndexFunc(all, func(o Moved) bool { return o.Channel == m.Channel && o.Bundle == m.Bundle && o.Change == m.Change })
				if i < 0 {
					i = len(all)
					all = append(all, m)
				}
				all[i].Catalogs = append(all[i].Catalogs, c.Path)
			}
		}
	}
	order := w.channelOrder()
	slices.SortStableFunc(all, func(a, b Moved) int { return order(a.Channel, b.Channel) })
	return all
}

func movedIn(c Catalog, changes []kind.Change) (all []Moved) {
	told := func(channel, name string) bool {
		return slices.ContainsFunc(changes, func(c kind.Change) bool {
			return c.What == kind.EntryRewired && c.Channel == channel && c.Name == name
		})
	}
	for _, pkg := range c.After.Packages {
		old := c.standing.Package(pkg.Name)
		if old == nil {
			continue
		}
		for _, ch := range pkg.Channels {
			was := old.Channel(ch.Name)
			if was == nil {
				continue
			}
			for _, e := range ch.Entries {
				before := was.Entry(e.Name)
				if before == nil || told(ch.Name, e.Name) {
					continue
				}
				if change := edgesChanged(before.Entry, e.Entry); change != "" {
					all = append(all, Moved{Channel: ch.Name, Bundle: e.Name, Change: change})
				}
			}
		}
	}
	return all
}

// edgesChanged describes how an entry's edges changed, or returns "".
func edgesChanged(was, is fbc.Entry) string {
	var parts []string
	one := func(verb, was, is string) {
		switch {
		case was == is:
		case is == "":
			parts = append(parts, "no longer "+verb+" "+was)
		case was == "":
			parts = append(parts, verb+" "+is)
		default:
			parts = append(parts, verb+" "+is+" instead of "+was)
		}
	}
	one("replaces", was.Replaces, is.Replaces)
	one("skips", "", few(lacking(is.Skips, was.Skips)))
	one("skips", few(lacking(was.Skips, is.Skips)), "")
	one("skips the range", was.SkipRange, is.SkipRange)
	return strings.Join(parts, ", ")
}

func lacking(list, others []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(others, s) })
}

func few(names []string) string {
	const shown = 3
	if n := len(names) - shown; n > 0 {
		return strings.Join(names[:shown], ", ") + fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(names, ", ")
}

// beside writes the changes besides the bundles, unrequested ones first.
func (w *Work) beside(b *strings.Builder) {
	for _, d := range Once(w.Drift()) {
		b.WriteString("**Drift:** " + some(d.Catalogs, "catalog") + " " + markdown.Escape(d.String()) + "\n\n")
		b.WriteString(folded(count(len(d.Catalogs), "catalog")+" with drift", d.Catalogs))
	}
	var catalogs []string
	var channels strings.Builder
	for _, one := range w.Begun() {
		if one.Catalog != "" {
			catalogs = append(catalogs, one.Catalog)
		} else {
			channels.WriteString("**New channel:** " + markdown.Code(one.Channel) + " in " + some(one.In, "file") + "\n\n")
		}
	}
	switch n := len(catalogs); {
	case n == 1:
		b.WriteString("**New catalog:** " + markdown.Code(catalogs[0]) + "\n\n")
	case n > named:
		fmt.Fprintf(b, "**New catalogs:** %s and %d more\n\n%s", markdown.Codes(catalogs[:named]), n-named, folded(count(n, "new catalog"), catalogs))
	case n > 1:
		b.WriteString("**New catalogs:** " + markdown.Codes(catalogs) + "\n\n")
	}
	b.WriteString(channels.String())
}

// moved writes the changed edges that are not in the table.
func (w *Work) moved(b *strings.Builder) {
	var lines []string
	for _, m := range w.Moved() {
		lines = append(lines, markdown.Code(m.Channel)+": "+markdown.Code(m.Bundle)+" "+markdown.Escape(m.Change))
	}
	if len(lines) == 0 {
		return
	}
	const shown = 20
	if n := len(lines) - shown; n > 0 {
		lines = append(lines[:shown], fmt.Sprintf("and %d more", n))
	}
	b.WriteString("Edges of other bundles that change with it:\n\n" + markdown.List(lines))
}
