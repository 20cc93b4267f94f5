package markdown

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// gap is a zero-width space: it is not seen, and nothing that GitHub or a bot looks
// for holds one.
const gap = "\u200b"

// breaks are the texts that mean something to GitHub, to its runners or to bots,
// whatever the markup around them. The group is what comes before the gap.
var breaks = []*regexp.Regexp{
	regexp.MustCompile(`(#)[0-9]`),                           // #1, owner/repo#1, fixes #1, &#64;
	regexp.MustCompile(`(?i)(\bgh-)[0-9]`),                   // GH-1
	regexp.MustCompile(`(:)//`),                              // links, and with them fixes https://.../issues/1
	regexp.MustCompile(`(?i)(\bwww)\.`),                      // links without a scheme
	regexp.MustCompile(`(:):`),                               // ::set-output::
	regexp.MustCompile(`(#)#\[`),                             // ##[command]
	regexp.MustCompile(`(?i)(\[)(?:skip|ci|no|actions)[ -]`), // [skip ci] and its kin
	regexp.MustCompile(`(?i)(\*\*\*)NO_CI`),                  // the same, elsewhere
	regexp.MustCompile(`^(/)[a-zA-Z]`),                       // /lgtm
}

// Plain makes text from outside safe where it is shown as it is: in the title of a
// pull request or the subject of a commit. It is one line, without control, bidirectional
// or hidden characters, mentions nobody, refers to no issue, links nowhere, and is no
// command for a runner or a bot. Text that does none of this is unchanged, image
// references among it.
func Plain(s string) string {
	s = visible(s)
	s = breakMentions(s)
	for _, b := range breaks {
		// Twice, since matches of one pattern may touch: a:::b.
		for range 2 {
			s = insertGaps(b, s)
		}
	}
	return s
}

// Escape makes text from outside safe in Markdown, wherever in a line or table cell
// it stands: what Plain does, and no markup of either Markdown or HTML.
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

// Code is Escape in a code element, which unlike one in backquotes can hold any
// text, and in a table too.
func Code(s string) string { return "<code>" + Escape(s) + "</code>" }

// visible is the text in one line and without what is not seen.
func visible(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r) || unicode.IsSpace(r):
			return ' '
		case r == '\u200c' || r == '\u200d':
			return r // joiners, which some scripts cannot be written without
		case unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r) || r == '\u2800' || r == '\u3164':
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
	return strings.Join(strings.Fields(s), " ")
}

// breakMentions leaves an @ between letters or digits alone: after those nobody is
// mentioned, and image references have it.
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

// WithoutGaps is what this package wrote, for a log, in which no page makes anything of it.
func WithoutGaps(text string) string { return strings.ReplaceAll(text, gap, "") }

func insertGaps(pattern *regexp.Regexp, s string) string {
	var out strings.Builder
	from := 0
	for _, at := range pattern.FindAllStringSubmatchIndex(s, -1) {
		out.WriteString(s[from:at[3]] + gap)
		from = at[3]
	}
	return out.String() + s[from:]
}

// endsListNumber finds the dot of "1. " at the beginning, which would begin a list.
func endsListNumber(s string, i int) bool {
	return i > 0 && i < 10 && (s[i] == '.' || s[i] == ')') && strings.Trim(s[:i], "0123456789") == ""
}

func isAlphanumeric(b byte) bool {
	return b < utf8.RuneSelf && (unicode.IsLetter(rune(b)) || unicode.IsDigit(rune(b)))
}
