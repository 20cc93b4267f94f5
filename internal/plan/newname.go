package plan

import (
	"regexp"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
)

// meant is a channel that a setup or bundle names for a template, without a request.
type meant struct {
	channel string
	of      candidate
}

// noteChannels records the channels of a template and those meant for it. newNames uses them to distinguish new
// names from misspelt ones once all templates are known.
func (p *planner) noteChannels(c candidate, o *opened, t *Target) error {
	if has := template.Traits(o.kind); len(has.Archetypes) > 0 || has.OfTemplates {
		return nil // archetypes are fixed names, and parts have their own channels
	}
	var held []string
	if o.file != nil {
		var err error
		if held, _, err = o.file.ChannelsOf(p.in.Bundle.Package); err != nil {
			return err
		}
	}
	p.held = kind.Unique(append(p.held, held...))
	if len(p.in.Asked.Channels) > 0 {
		return nil
	}
	for _, r := range t.Requests {
		for _, channel := range r.Channels {
			p.meant = append(p.meant, meant{channel, c})
		}
	}
	return nil
}

const unheard = " is new: no template had it before."

// newNames warns of a channel that no template has, and refuses one that is nearly named like another. A name
// that differs only in its version is the next channel.
func (p *planner) newNames() error {
	for _, m := range p.meant {
		if len(p.held) == 0 || slices.Contains(p.held, m.channel) {
			continue
		}
		word := letters(m.channel)
		if slices.ContainsFunc(p.held, func(held string) bool { return letters(held) == word }) {
			continue
		}
		if i := slices.IndexFunc(p.held, func(held string) bool { return misspelt(word, letters(held)) }); i >= 0 {
			return failure.New(failure.ChannelUnknown, "planning for %s: no template has the channel %s, and %s is nearly called so", p.in.Bundle.Name, m.channel, p.held[i]).
				At(p.saidAt(m.of)).Fix("Correct the channel. To begin a channel of this name, give it with --channels.")
		}
		if text := "Channel " + m.channel + unheard; !slices.Contains(p.plan.Warnings, text) {
			p.warn("%s", text)
		}
	}
	return nil
}

// saidAt returns the place of a template's setup, or the template itself.
func (p *planner) saidAt(c candidate) (file string, line, col int) {
	if c.Line == 0 {
		return c.path, 0, 0
	}
	return p.setup.File, c.Line, c.Col
}

var versionInName = regexp.MustCompile(`v?[0-9]+([._-]?([0-9]+|[xyz]\b))*`)

// letters returns a channel's name without version and punctuation.
func letters(channel string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("._+-", r) {
			return -1
		}
		return r
	}, versionInName.ReplaceAllString(channel, ""))
}

// misspelt reports whether the words differ in one letter or in two swapped letters. It returns false for short
// words, because such a difference makes another word.
func misspelt(a, b string) bool {
	if min(len(a), len(b)) < 4 {
		return false
	}
	switch failure.Distance(a, b) {
	case 1:
		return true
	case 2:
		return sorted(a) == sorted(b)
	}
	return false
}

func sorted(word string) string {
	all := []byte(word)
	slices.Sort(all)
	return string(all)
}
