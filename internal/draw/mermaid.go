package draw

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
)

// GitHub's limits for a Mermaid diagram.
const (
	mermaidEdges = 500
	mermaidChars = 50_000
)

// mermaidLabel is the maximum length of a label, in characters.
const mermaidLabel = 60

// mermaidRooms are the amounts of room that Mermaid tries for lanes until the diagram is within the limits. Those
// above readable serve only options with a radius.
var mermaidRooms = []int{anyRoom, 120, 80, 60, 40, readable, 20, 14, 10, 7, 5, leastRoom}

const readable = 30

// The classes of a diagram. Their colours are readable on light and on dark pages.
const mermaidClasses = `  classDef head fill:#0969da,stroke:#0550ae,color:#ffffff
  classDef new fill:#1a7f37,stroke:#116329,color:#ffffff,stroke-width:3px
  classDef plain fill:#eaeef2,stroke:#6e7781,color:#1f2328
  classDef skipped fill:#eaeef2,stroke:#6e7781,color:#57606a,stroke-dasharray:4 3
  classDef deprecated fill:#d0d7de,stroke:#9a6700,color:#424a53,stroke-dasharray:4 3
  classDef outside fill:#ffffff,stroke:#8c959f,color:#57606a,stroke-dasharray:2 3
  classDef folded fill:#ffffff,stroke:#8c959f,color:#57606a
  classDef lost fill:#ffebe9,stroke:#cf222e,color:#a40e26,stroke-width:3px
`

// Mermaid draws a graph for GitHub's Markdown. Identifiers are generated, so that they contain no foreign text.
// If the diagram exceeds GitHub's limits, Mermaid folds long channels further than the options ask, and finally
// leaves out channels, unchanged ones first.
func Mermaid(g Graph, o Options) []byte {
	channels := g.places()
	for _, room := range mermaidRooms {
		if o.Radius == 0 && room > readable {
			continue
		}
		if m := drawMermaid(g, channels, o, room); m.fits() {
			return m.text()
		}
	}
	ordered := slices.Clone(channels)
	g.byInterest(ordered, o)
	fit := func(n int) *mermaid {
		shown := slices.Clone(ordered[:n])
		slices.SortFunc(shown, place.compare)
		return drawMermaid(g, shown, o, leastRoom)
	}
	most := sort.Search(len(ordered), func(n int) bool { return !fit(n + 1).fits() })
	return fit(most).text()
}

// mermaid is a diagram under construction. Links follow all nodes, because styles refer to links by number.
type mermaid struct {
	nodes, links strings.Builder
	classes      map[string][]string
	linkStyles   map[string][]string
	ids, edges   int
}

// mermaidLinkStyle returns the style of a link. Later statements of a diagram replace earlier ones, so a link
// needs its whole style in one statement.
func (e Edge) mermaidLinkStyle() string {
	var style []string
	switch {
	case e.Lost:
		style = append(style, "stroke:#e5534b,stroke-width:3px")
	case e.New:
		style = append(style, "stroke:#2da44e,stroke-width:3px")
	}
	if e.Kind == SkipRange {
		style = append(style, "stroke-dasharray:2 4")
	}
	return strings.Join(style, ",")
}

// drawMermaid writes the last channel first, because mermaid draws it at the bottom.
func drawMermaid(g Graph, channels []place, o Options, room int) *mermaid {
	m := &mermaid{classes: map[string][]string{}, linkStyles: map[string][]string{}}
	if left := len(g.places()) - len(channels); left > 0 {
		fmt.Fprintf(&m.nodes, "  more[\"%s\"]\n", mermaidText(fmt.Sprintf("… %d more channels", left)))
		m.classes["folded"] = append(m.classes["folded"], "more")
	}
	for i, at := range slices.Backward(channels) {
		if m.isTooLarge() {
			break
		}
		p, first := &g.Packages[at.pkg], i+1 == len(channels) || channels[i+1].pkg != at.pkg
		last := i == 0 || channels[i-1].pkg != at.pkg
		if first && len(g.Packages) > 1 {
			fmt.Fprintf(&m.nodes, "  subgraph p%d[\"%s\"]\n", at.pkg, mermaidText(p.title()))
		}
		m.lane(p.Channels[at.channel].lane(o, room), "c"+strconv.Itoa(i))
		if last && len(g.Packages) > 1 {
			m.nodes.WriteString("  end\n")
		}
	}
	m.title(g)
	return m
}

func (m *mermaid) title(g Graph) {
	nodes := m.nodes.String()
	m.nodes.Reset()
	m.nodes.WriteString("graph LR\n")
	fmt.Fprintf(&m.nodes, "  accTitle: %s\n", plainWords(g.title()))
	m.nodes.WriteString(nodes)
}

func (m *mermaid) lane(l lane, id string) {
	fmt.Fprintf(&m.nodes, "    subgraph %s[\"%s\"]\n      direction LR\n", id, mermaidText(l.title()))
	first := m.ids
	for _, c := range l.cells {
		text := mermaidText(c.label())
		if marks := c.marks(); len(marks) > 0 {
			text += "<br/>" + strings.Join(marks, ", ")
		}
		open, end := `["`, `"]`
		if c.Head {
			open, end = `(["`, `"])`
		}
		node := "n" + strconv.Itoa(m.ids)
		fmt.Fprintf(&m.nodes, "      %s%s%s%s\n", node, open, text, end)
		m.classes[c.class()] = append(m.classes[c.class()], node)
		m.ids++
	}
	m.nodes.WriteString("    end\n")
	for _, e := range l.links {
		m.link(first+e.From, first+e.To, e)
	}
}

func (m *mermaid) link(from, to int, e Edge) {
	arrow := map[Kind]string{Replaces: "-->", Skips: "-. skips .->", SkipRange: "-. skipRange .->"}[e.Kind]
	if e.Lost {
		arrow = "-- lost --x"
	}
	fmt.Fprintf(&m.links, "  n%d %s n%d\n", from, arrow, to)
	if style := e.mermaidLinkStyle(); style != "" {
		m.linkStyles[style] = append(m.linkStyles[style], strconv.Itoa(m.edges))
	}
	m.edges++
}

func (m *mermaid) text() []byte {
	var b strings.Builder
	b.WriteString(m.nodes.String())
	b.WriteString(m.links.String())
	for line := range strings.Lines(mermaidClasses) {
		name := strings.Fields(line)[1]
		if nodes := m.classes[name]; len(nodes) > 0 {
			fmt.Fprintf(&b, "%s  class %s %s\n", line, strings.Join(nodes, ","), name)
		}
	}
	for _, style := range slices.Sorted(maps.Keys(m.linkStyles)) {
		fmt.Fprintf(&b, "  linkStyle %s %s\n", strings.Join(m.linkStyles[style], ","), style)
	}
	return []byte(b.String())
}

// isTooLarge reports whether an unfinished diagram already exceeds the limits.
func (m *mermaid) isTooLarge() bool {
	const bytesOfChar = 3 // the maximum for one counted character
	return m.edges > mermaidEdges || m.nodes.Len()+m.links.Len() > bytesOfChar*mermaidChars
}

func (m *mermaid) fits() bool {
	return !m.isTooLarge() && len(utf16.Encode([]rune(string(m.text())))) <= mermaidChars
}

// mermaidText makes a text safe inside the quotes of a label. Letters, digits and a few marks without meaning in
// Mermaid stay; all other characters become numeric entities. Such a label cannot end early, and cannot contain
// markup, Markdown or a directive.
func mermaidText(s string) string {
	var b strings.Builder
	for i, r := range short(clean(s), mermaidLabel) {
		plain := r < unicode.MaxASCII && strings.ContainsRune(" .-_+/(),", r) && i > 0 || r == '…' || r == '·'
		switch {
		case r == 'ﬂ': // Mermaid marks entities with this character
			b.WriteString("fl")
		case plain || unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "#%d;", r)
		}
	}
	return b.String()
}

// plainWords replaces all characters that would need an escape anywhere.
func plainWords(s string) string {
	return strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" .-_,", r)) {
			return r
		}
		return '?'
	}, short(clean(s), mermaidLabel))
}
