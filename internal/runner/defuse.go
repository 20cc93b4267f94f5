// Package runner keeps text from outside from commanding the runner of a workflow. GitHub's
// runner reads the log of each step, and obeys a line that begins with ::name and one that
// holds ##[name] anywhere.
package runner

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Defuse gives text that commands no runner: the second colon at the beginning of a line and
// the bracket of ##[ are written as \u003a and \u005b, and so is each character that is not
// seen, changes the direction of others or ends a line for somebody, of which only line feed,
// CR LF and tab stay. In JSON these are escapes, so that a document keeps its values.
func Defuse(text string) string {
	var s state
	return string(s.defuse([]byte(text), true))
}

// state is what a line held so far, as far as a command could still come of it.
type state struct {
	rest   []byte // a carriage return, or the beginning of a character
	begun  bool   // more than spaces stands in the line
	colon  bool   // it begins with a colon, and nothing else is seen
	hashes int    // that are next to each other, at most 2
}

// defuse takes the next part of a text. Until the text ends, what could be the first half of
// a character or of CR LF waits for the next part.
func (s *state) defuse(part []byte, ends bool) (out []byte) {
	text := slices.Concat(s.rest, part)
	s.rest = nil
	for len(text) > 0 {
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

// escapes follows a line by one character, and says whether that one is to be escaped. Marks
// on top of others are passed over: the runner compares by the rules of a language, which
// pass over some of them too.
func (s *state) escapes(r rune) bool {
	escaped := hidden(r)
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

// hidden are characters that are not seen, have no meaning yet, or end a line.
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

// commandIn finds what a runner would obey in a line.
func commandIn(line string) (command string, found bool) {
	first := strings.IndexFunc(line, func(r rune) bool { return !hidden(r) && !unicode.IsSpace(r) })
	if first < 0 || line[first] != ':' && !strings.Contains(line, "#") {
		return "", false // as are nearly all lines of a catalog
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
