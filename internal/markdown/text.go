package markdown

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// gap is a zero-width space. It is invisible, and no text that GitHub or a bot looks for contains it.
const gap = "\u200b"

// breaks match texts that have a meaning for GitHub, its runners or bots, whatever the markup around them. The
// gap goes after the group.
var breaks = []*regexp.Regexp{
	regexp.MustCompile(`(#)[0-9]`),                           // #1, owner/repo#1, fixes #1, &#64;
	regexp.MustCompile(`(?i)(\bgh-)[0-9]`),                   // GH-1
	regexp.MustCompile(`(:)//`),                              // links, and with them fixes https://.../issues/1
	regexp.MustCompile(`(?i)(\bwww)\.`),                      // links without a scheme
	regexp.MustCompile(`(:):`),                               // ::set-output::
	regexp.MustCompile(`(#)#\[`),                             // ##[command]
	regexp.MustCompile(`(?i)(\[)(?:skip|ci|no|actions)[ -]`), // [skip ci] and similar
	regexp.MustCompile(`(?i)(\*\*\*)NO_CI`),                  // the same in other systems
	regexp.MustCompile(`^(/)[a-zA-Z]`),                       // /lgtm
}

// Plain makes foreign text safe to show unchanged, for example in the title of a pull request or the subject of a
// commit. The result is one line without control, bidirectional or hidden characters. It mentions no user, refers
// to no issue, contains no link, and is not a command for a runner or bot. Plain does not change text without
// these features, such as image references.
func Plain(s string) string {
	s = visible(s)
	s = breakMentions(s)
	for _, b := range breaks {
		// Repeat, because matches of one pattern may touch: a:::b.
		for range 2 {
			s = insertGaps(b, s)
		}
	}
	return s
}

// Escape makes foreign text safe in Markdown, anywhere in a line or table cell. It does the same as Plain, and
// escapes the markup of Markdown and HTML.
func Escape(s string) string {
	s = Plain(s)
	var out strings.Builder
	for i, r := range s {
		switch {
		case r == '&':
			out.WriteString("&amp;")
		case r == '<':
			out.WriteString("&lt;")
		case r == '>':
			out.WriteString("&gt;")
		case strings.ContainsRune("\\`*_{}[]~|$", r), i == 0 && strings.ContainsRune("#+-=:", r), endsListNumber(s, i):
			out.WriteByte('\\')
			out.WriteRune(r)
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// Code writes escaped text in a code element. Unlike backquotes, the element can contain any text, even in a
// table.
func Code(s string) string { return "<code>" + Escape(s) + "</code>" }

// visible returns the text in one line and without invisible characters.
func visible(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r) || unicode.IsSpace(r):
			return ' '
		case r == '\u200c' || r == '\u200d':
			return r // joiners, which some scripts need
		case unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r) || r == '\u2800' || r == '\u3164':
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
	words := slices.DeleteFunc(strings.Fields(s), func(word string) bool { return strings.Trim(word, "\u200c\u200d") == "" })
	return strings.Join(words, " ")
}

// breakMentions adds a gap after @, except after a letter or digit: there it mentions nobody, and image
// references contain it.
func breakMentions(s string) string {
	var out strings.Builder
	before := byte(0)
	for i := range len(s) {
		out.WriteByte(s[i])
		if s[i] == '@' && !isAlphanumeric(before) {
			out.WriteString(gap)
		}
		before = s[i]
	}
	return out.String()
}

func insertGaps(pattern *regexp.Regexp, s string) string {
	var out strings.Builder
	from := 0
	for _, at := range pattern.FindAllStringSubmatchIndex(s, -1) {
		out.WriteString(s[from:at[3]] + gap)
		from = at[3]
	}
	return out.String() + s[from:]
}

// endsListNumber reports whether the character at i would end the number of a list item, as in "1. ".
func endsListNumber(s string, i int) bool {
	return i > 0 && i < 10 && (s[i] == '.' || s[i] == ')') && strings.Trim(s[:i], "0123456789") == ""
}

func isAlphanumeric(b byte) bool {
	return b < utf8.RuneSelf && (unicode.IsLetter(rune(b)) || unicode.IsDigit(rune(b)))
}
