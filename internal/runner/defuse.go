// Package runner stops foreign text from commanding the runner of a workflow. GitHub's runner reads the log of
// each step, and obeys a line that begins with ::name and one that contains ##[name].
package runner

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Defuse returns text without commands to the runner. It writes the second colon at the beginning of a line and
// the bracket of ##[ as \u003a and \u005b. It also escapes each character that is invisible, changes the
// direction of others or may end a line, except line feed, CR LF and tab. In JSON these are escapes, so that a
// document keeps its values.
func Defuse(text string) string {
	var s state
	return string(s.defuse([]byte(text), true))
}

// state is the part of a line's content that could still become a command.
type state struct {
	terminal bool // no runner reads the text, so it has no commands

	rest   []byte // a carriage return, or the start of a character
	begun  bool   // the line has more than spaces
	colon  bool   // the line has only a colon so far
	hashes int    // number of adjacent ones, at most 2
}

// defuse handles the next part of a text. Until the text ends, a possible first half of a character or of CR LF
// waits for the next part.
func (s *state) defuse(part []byte, ends bool) (out []byte) {
	text := slices.Concat(s.rest, part)
	s.rest = nil
	for len(text) > 0 {
		if n := s.colour(text); n > 0 {
			out = append(out, text[:n]...)
			text = text[n:]
			continue
		}
		if !ends && (!utf8.FullRune(text) || len(text) == 1 && text[0] == '\r') {
			s.rest = append(s.rest, text...)
			break
		}
		r, size := utf8.DecodeRune(text)
		if r == '\r' && len(text) > 1 && text[1] == '\n' {
			r, size = '\n', 2
		}
		switch {
		case s.escapes(r):
			out = appendEscape(out, r)
		case r == utf8.RuneError:
			out = utf8.AppendRune(out, r)
		default:
			out = append(out, text[:size]...)
		}
		text = text[size:]
	}
	return out
}

// colour returns the length of a sequence that colours the text of a terminal, as Graft itself does. No other
// sequence is harmless: others move the cursor, hide text or write to the clipboard.
func (s *state) colour(text []byte) int {
	if !s.terminal || text[0] != 0x1b {
		return 0
	}
	return len(colours.Find(text))
}

var colours = regexp.MustCompile(`^\x1b\[(0|1|3[1236])m`)

// escapes advances by one character of a line, and reports whether to escape it. It ignores combining marks,
// because the runner compares by a language's rules, which ignore some of them too.
func (s *state) escapes(r rune) bool {
	escaped := hidden(r)
	if s.terminal {
		return escaped
	}
	switch {
	case r == '\n':
		*s = state{}
		return false
	case unicode.Is(unicode.M, r) && !escaped:
		return false
	case r == ':' && s.colon, r == '[' && s.hashes == 2:
		escaped = true
	}
	s.colon = r == ':' && !s.begun
	s.begun = s.begun || escaped || !unicode.IsSpace(r)
	if r == '#' {
		s.hashes = min(s.hashes+1, 2)
	} else {
		s.hashes = 0
	}
	return escaped
}

// hidden reports whether a character is invisible, unassigned, or ends a line.
func hidden(r rune) bool {
	return r != '\n' && r != '\t' && r != utf8.RuneError &&
		(!unicode.IsGraphic(r) || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector))
}

func appendEscape(out []byte, r rune) []byte {
	for _, unit := range utf16.AppendRune(nil, r) {
		out = fmt.Appendf(out, `\u%04x`, unit)
	}
	return out
}

// commandIn finds a command that a runner would obey in a line.
func commandIn(line string) (command string, found bool) {
	first := strings.IndexFunc(line, func(r rune) bool { return !hidden(r) && !unicode.IsSpace(r) })
	if first < 0 || line[first] != ':' && !strings.Contains(line, "#") {
		return "", false // like nearly all lines of a catalog
	}
	seen := strings.Map(func(r rune) rune {
		if hidden(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, line)
	seen = strings.TrimSpace(seen)
	if m := atStart.FindString(seen); m != "" {
		return m, true
	}
	m := anywhere.FindString(seen)
	return m, m != ""
}
