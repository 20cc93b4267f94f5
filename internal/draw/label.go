package draw

import (
	"fmt"
	"strings"
	"unicode"
)

// label returns the text of a bundle in a picture: its version if the name adds nothing to it, otherwise its
// name.
func (c cell) label() string {
	switch {
	case c.folded > 0:
		return c.text
	case c.Version != "" && (c.Name == "" || strings.HasSuffix(c.Name, "v"+c.Version) || strings.HasSuffix(c.Name, "."+c.Version)):
		return "v" + c.Version
	case c.Version != "" && !strings.Contains(c.Name, c.Version):
		return c.Name + " (" + c.Version + ")"
	case c.Version == "":
		if _, v, ok := strings.Cut(c.Name, ".v"); ok && v != "" && '0' <= v[0] && v[0] <= '9' {
			return "v" + v
		}
	}
	return named(c.Name)
}

// named returns the name, or a replacement for a blank one.
func named(name string) string {
	if strings.TrimSpace(clean(name)) == "" {
		return "(no name)"
	}
	return name
}

// marks returns the words next to a bundle in a picture.
func (c cell) marks() []string {
	return marked(is{c.New, "new"}, is{c.Head, "head"}, is{c.Removed, "removed"}, is{c.Stranded, "stranded"},
		is{c.Deprecated, "deprecated"}, is{c.Missing && !c.Removed, "no bundle"})
}

// marks returns the words next to a channel.
func (ch *Channel) marks() []string {
	return marked(is{ch.Default, "default"}, is{ch.New, "new"}, is{ch.Deprecated, "deprecated"})
}

// is pairs a word with its condition.
type is struct {
	so   bool
	word string
}

func marked(all ...is) (words []string) {
	for _, one := range all {
		if one.so {
			words = append(words, one.word)
		}
	}
	return words
}

// class returns the word that decides the colour of a bundle.
func (c cell) class() string {
	switch {
	case c.folded > 0:
		return "folded"
	case c.Removed || c.Stranded:
		return "lost"
	case c.New:
		return "new"
	case c.Head && !c.Deprecated:
		return "head"
	case c.Outside:
		return "outside"
	case c.Deprecated:
		return "deprecated"
	case c.Skipped:
		return "skipped"
	}
	return "plain"
}

// about describes a cell in one line, for a tooltip.
func (c cell) about() string {
	if c.folded > 0 {
		return strings.TrimPrefix(c.text, "… ")
	}
	words := []string{named(c.Name)}
	if c.Version != "" {
		words = append(words, "version "+c.Version)
	}
	words = append(words, c.marks()...)
	if c.Skipped {
		words = append(words, "skipped")
	}
	if c.Outside && !c.Removed {
		words = append(words, "not in this channel")
	}
	if c.SkipRange != "" {
		words = append(words, "skipRange "+c.SkipRange)
	}
	return strings.Join(words, ", ")
}

func (g Graph) title() string {
	if len(g.Packages) == 1 {
		return "Upgrade graph of " + named(g.Packages[0].Name)
	}
	return fmt.Sprintf("Upgrade graphs of %d packages", len(g.Packages))
}

func (p *Package) title() string {
	return named(p.Name) + inBrackets(marked(is{p.Deprecated, "deprecated"}))
}

func (ch *Channel) title() string {
	return named(ch.Name) + inBrackets(ch.marks())
}

func inBrackets(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}

// clean converts foreign text to one line of visible characters. Characters that a picture cannot show, or that
// would change how surrounding text reads, become a replacement character.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case r == unicode.ReplacementChar || !unicode.IsPrint(r):
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// short shortens a text to limit characters. It cuts the middle, because names and versions differ at their ends.
func short(s string, limit int) string {
	runes := []rune(s)
	if len(runes) <= limit {
		return s
	}
	tail := (limit - 1) / 2
	head := limit - 1 - tail
	return string(runes[:head]) + "…" + string(runes[len(runes)-tail:])
}
