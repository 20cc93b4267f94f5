package draw

import (
	"fmt"
	"strings"
)

// dotLabel is the maximum length of a label, in characters.
const dotLabel = 80

// dotStyles maps the class of a bundle to its attributes.
var dotStyles = map[string]string{
	"plain":      `fillcolor="#eaeef2", color="#6e7781", fontcolor="#1f2328"`,
	"head":       `fillcolor="#0969da", color="#0550ae", fontcolor="#ffffff"`,
	"new":        `fillcolor="#1a7f37", color="#116329", fontcolor="#ffffff", penwidth=2`,
	"skipped":    `fillcolor="#eaeef2", color="#6e7781", fontcolor="#57606a", style="rounded,filled,dashed"`,
	"deprecated": `fillcolor="#d0d7de", color="#9a6700", fontcolor="#424a53", style="rounded,filled,dashed"`,
	"outside":    `fillcolor="#ffffff", color="#8c959f", fontcolor="#57606a", style="rounded,filled,dotted"`,
	"folded":     `fillcolor="#ffffff", color="#8c959f", fontcolor="#57606a"`,
	"lost":       `fillcolor="#ffebe9", color="#cf222e", fontcolor="#a40e26", penwidth=2`,
}

// Dot draws a graph for Graphviz. Identifiers are generated, as for Mermaid. Nothing is folded unless the options
// ask for it.
func Dot(g Graph, o Options) []byte {
	if o.Radius == 0 {
		o.Radius = All
	}
	var b strings.Builder
	b.WriteString("digraph upgrades {\n" +
		"  rankdir=LR;\n" +
		"  node [shape=box, style=\"rounded,filled\", fontname=\"Helvetica\", fontsize=11];\n" +
		"  edge [color=\"#57606a\", arrowsize=0.7];\n" +
		"  graph [fontname=\"Helvetica\", fontsize=12, style=\"rounded\", color=\"#8c959f\", labeljust=l];\n")
	fmt.Fprintf(&b, "  label=%s;\n", dotString(g.title()))
	first := 0
	for p := range g.Packages {
		pkg := &g.Packages[p]
		if len(g.Packages) > 1 {
			fmt.Fprintf(&b, "  subgraph cluster_p%d {\n    label=%s;\n", p, dotString(pkg.title()))
		}
		for c := range pkg.Channels {
			l := pkg.Channels[c].lane(o, anyRoom)
			fmt.Fprintf(&b, "  subgraph cluster_p%dc%d {\n    label=%s;\n", p, c, dotString(l.title()))
			l.dot(&b, first)
			b.WriteString("  }\n")
			first += len(l.cells)
		}
		if len(g.Packages) > 1 {
			b.WriteString("  }\n")
		}
	}
	b.WriteString("}\n")
	return []byte(b.String())
}

func (l lane) dot(b *strings.Builder, first int) {
	for i, c := range l.cells {
		text := c.label()
		if marks := c.marks(); len(marks) > 0 {
			text = short(text, dotLabel) + " · " + strings.Join(marks, ", ")
		}
		fmt.Fprintf(b, "    n%d [label=%s, tooltip=%s, %s];\n", first+i, dotString(text), dotString(c.about()), dotStyles[c.class()])
	}
	for _, e := range l.links {
		attributes := []string{"tooltip=" + e.Kind.String()}
		switch e.Kind {
		case Skips:
			attributes = append(attributes, "style=dashed", "constraint=false")
		case SkipRange:
			attributes = append(attributes, "style=dotted", "constraint=false")
		}
		switch {
		case e.Lost:
			attributes = append(attributes, `color="#cf222e"`, "penwidth=2", "arrowhead=tee", `label="lost"`, `fontcolor="#a40e26"`, "fontsize=10")
		case e.New:
			attributes = append(attributes, `color="#1a7f37"`, "penwidth=2")
		}
		fmt.Fprintf(b, "    n%d -> n%d [%s];\n", first+e.From, first+e.To, strings.Join(attributes, ", "))
	}
}

// dotString quotes a text. It escapes backslashes and ampersands, because Graphviz reads escapes and HTML
// entities in labels.
func dotString(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `&`, `&amp;`).Replace(short(clean(s), 2*dotLabel)) + `"`
}
