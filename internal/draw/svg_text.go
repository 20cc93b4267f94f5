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

// shown is the text on a cell's pill.
func (c cell) shown() string { return short(clean(c.label()), svgLabel) }

// badge is the text beside a pill. That a bundle is deprecated shows on the pill.
func (c cell) badge() string {
	words := slices.DeleteFunc(c.marks(), func(w string) bool { return w == "deprecated" && c.class() == w })
	return strings.Join(words, " · ")
}

// width is that of a cell's pill.
func (c cell) width() int {
	text := textWidth(c.shown(), labelSize)
	if class := c.class(); class == "head" || class == "new" {
		text = boldWidth(c.shown(), labelSize)
	}
	return max(54, text+2*pillPadding)
}

// space is the width that a cell takes of its column.
func (c cell) space() int {
	w := c.width()
	if c.folded > 0 {
		w += 12 // the pills behind it, on either side
	}
	return max(w, boldWidth(c.badge(), badgeSize))
}

// textWidth estimates the width of a text. Which font a viewer has is not known, so
// it is rather too wide than too narrow.
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

// boldWidth is that of a text in heavier type.
func boldWidth(s string, size int) int { return textWidth(s, size) * 112 / 100 }

func chipWidth(s string) int { return boldWidth(s, 10) + 14 }

// xmlText makes text of a string in a document and in the values of its attributes.
func xmlText(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;").Replace(clean(s))
}
