package draw

import (
	"slices"
	"strings"
	"unicode"
)

// Font sizes in pixels.
const (
	labelSize = 13
	badgeSize = 11
)

// shown returns the text on a cell's pill.
func (c cell) shown() string { return short(clean(c.label()), svgLabel) }

// badge returns the text next to a pill. The pill itself shows that a bundle is deprecated.
func (c cell) badge() string {
	words := slices.DeleteFunc(c.marks(), func(w string) bool { return w == "deprecated" && c.class() == w })
	return strings.Join(words, " · ")
}

// width returns the width of a cell's pill.
func (c cell) width() int {
	text := textWidth(c.shown(), labelSize)
	if class := c.class(); class == "head" || class == "new" {
		text = boldWidth(c.shown(), labelSize)
	}
	return max(54, text+2*pillPadding)
}

// space returns the width that a cell needs in its column.
func (c cell) space() int {
	w := c.width()
	if c.folded > 0 {
		w += 12 // folded pills behind it on both sides
	}
	return max(w, boldWidth(c.badge(), badgeSize))
}

// textWidth estimates the width of a text. The viewer's font is unknown, so it rather returns too much.
func textWidth(s string, size int) int {
	width := 0 // in hundredths of the size
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me):
		case strings.ContainsRune("ijl.,:;'|!·", r):
			width += 32
		case strings.ContainsRune("frtI()[]-/ ", r):
			width += 40
		case strings.ContainsRune("mwMW@%…", r):
			width += 94
		case r >= 0x1100:
			width += 104
		case unicode.IsUpper(r):
			width += 70
		default:
			width += 60
		}
	}
	return (width*size + 99) / 100
}

// boldWidth estimates the width of a text in bold type.
func boldWidth(s string, size int) int { return textWidth(s, size) * 112 / 100 }

func chipWidth(s string) int { return boldWidth(s, 10) + 14 }

// xmlText escapes a string for XML text and attribute values.
func xmlText(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;").Replace(clean(s))
}
