package draw

import (
	"fmt"
	"strings"
)

// ink is a colour for light pages and one for dark pages.
type ink struct{ light, dark string }

// palette holds the colours of a drawing. Text has a contrast of at least 4.5 to its background, lines and
// outlines of at least 3.
var palette = map[string]ink{
	"page":       {"#ffffff", "#0d1117"},
	"frame":      {"#d1d9e0", "#30363d"},
	"lane":       {"#f6f8fa", "#161b22"},
	"text":       {"#1f2328", "#f0f6fc"},
	"muted":      {"#59636e", "#9198a1"},
	"pill":       {"#ffffff", "#21262d"},
	"outline":    {"#818b98", "#727a84"},
	"head":       {"#0969da", "#1f6feb"},
	"new":        {"#1a7f37", "#238636"},
	"onfill":     {"#ffffff", "#ffffff"},
	"headmark":   {"#0969da", "#4493f8"},
	"newmark":    {"#1a7f37", "#3fb950"},
	"lost":       {"#cf222e", "#f85149"},
	"lostpill":   {"#ffebe9", "#2d1417"},
	"deprecated": {"#9a6700", "#d29922"},
	"hatch":      {"#e0e4e8", "#30363d"},
	"replaces":   {"#59636e", "#9198a1"},
	"skips":      {"#8250df", "#ab7df8"},
	"range":      {"#1b7c83", "#39c5cf"},
}

// rules assign colours to properties of elements. The rest of the style does not depend on the page.
var rules = []struct{ selector, property, ink string }{
	{".page", "fill", "page"},
	{".page", "stroke", "frame"},
	{".lane", "fill", "lane"},
	{".lane", "stroke", "frame"},
	{".name", "fill", "text"},
	{".channel", "fill", "text"},
	{".facts", "fill", "muted"},
	{".count", "fill", "muted"},
	{".key", "fill", "muted"},
	{".chip", "stroke", "outline"},
	{".chiptext", "fill", "muted"},
	{".pill", "fill", "pill"},
	{".pill", "stroke", "outline"},
	{".label", "fill", "text"},
	{".badge", "fill", "muted"},
	{".skipped .label", "fill", "muted"},
	{".outside .label", "fill", "muted"},
	{".outside .pill", "fill", "lane"},
	{".folded .label", "fill", "muted"},
	{".folded .pill", "fill", "lane"},
	{".deprecated .label", "fill", "muted"},
	{".deprecated .badge", "fill", "deprecated"},
	{".head .pill", "fill", "head"},
	{".head .pill", "stroke", "head"},
	{".head .label", "fill", "onfill"},
	{".head .badge", "fill", "headmark"},
	{".new .pill", "fill", "new"},
	{".new .pill", "stroke", "new"},
	{".new .label", "fill", "onfill"},
	{".new .badge", "fill", "newmark"},
	{".lost .pill", "fill", "lostpill"},
	{".lost .pill", "stroke", "lost"},
	{".lost .label", "fill", "lost"},
	{".lost .badge", "fill", "lost"},
	{".hatching", "stroke", "hatch"},
	{".replaces", "stroke", "replaces"},
	{".skips", "stroke", "skips"},
	{".range", "stroke", "range"},
	{".added", "stroke", "newmark"},
	{".gone", "stroke", "lost"},
	{".tip-replaces", "fill", "replaces"},
	{".tip-skips", "fill", "skips"},
	{".tip-range", "fill", "range"},
	{".tip-added", "fill", "newmark"},
	{".tip-gone", "fill", "lost"},
}

const shapes = `.graft text{font-family:system-ui,-apple-system,"Segoe UI","Noto Sans",Helvetica,Arial,sans-serif}
.graft .name{font-size:17px;font-weight:600}
.graft .channel{font-size:13px;font-weight:600}
.graft .facts{font-size:12px}
.graft .count{font-size:11px;text-anchor:end}
.graft .key{font-size:11px}
.graft .chip{fill:none}
.graft .chiptext{font-size:10px;font-weight:600;text-anchor:middle}
.graft .label{font-size:13px;text-anchor:middle}
.graft .badge{font-size:11px;font-weight:600;text-anchor:middle}
.graft .head .label,.graft .new .label{font-weight:600}
.graft .skipped .pill{stroke-dasharray:4 3}
.graft .outside .pill{stroke-dasharray:1.5 3}
.graft .removed .label{text-decoration:line-through}
.graft .hatch{fill:url(#graft-hatch)}
.graft .hatching{stroke-width:3}
.graft .edge{fill:none;stroke-width:1.75}
.graft .skips{stroke-dasharray:6 4}
.graft .range{stroke-dasharray:1.5 4;stroke-linecap:round}
.graft .added,.graft .gone{stroke-width:2.5}
`

func svgStyle() string {
	var b strings.Builder
	b.WriteString("<style>\n" + Style())
	b.WriteString("</style>\n<defs>\n")
	b.WriteString(`<pattern id="graft-hatch" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="hatching" d="M0 0V7"/></pattern>` + "\n")
	for _, tip := range []string{"replaces", "skips", "range", "added", "gone"} {
		fmt.Fprintf(&b, `<marker id="graft-%s" class="tip-%s" markerWidth="8" markerHeight="8" refX="0.5" refY="4" orient="auto" markerUnits="userSpaceOnUse"><path d="M0 0L8 4L0 8z"/></marker>`+"\n", tip, tip)
	}
	b.WriteString("</defs>\n")
	return b.String()
}

// Style returns the style of elements with class graft, for light and dark pages.
func Style() string {
	var b strings.Builder
	b.WriteString(shapes)
	for _, r := range rules {
		fmt.Fprintf(&b, ".graft %s{%s:%s}\n", r.selector, r.property, palette[r.ink].light)
	}
	b.WriteString("@media (prefers-color-scheme:dark){\n")
	for _, r := range rules {
		fmt.Fprintf(&b, ".graft %s{%s:%s}\n", r.selector, r.property, palette[r.ink].dark)
	}
	b.WriteString("}\n")
	return b.String()
}
