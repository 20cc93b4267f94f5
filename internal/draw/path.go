package draw

import (
	"fmt"
	"strings"
)

// PathNode is a place on a path and the step that leads to it. The first node has no step.
type PathNode struct {
	Platform, Channel, Bundle string
	By                        string
	Deprecated                bool
}

// MermaidPath draws a path for GitHub's Markdown, with a box for each platform.
func MermaidPath(nodes []PathNode) []byte {
	var b, links strings.Builder
	var deprecated []string
	b.WriteString("graph LR\n")
	for i, n := range nodes {
		if i == 0 || nodes[i-1].Platform != n.Platform {
			fmt.Fprintf(&b, "  subgraph p%d[\"%s\"]\n", i, mermaidText(n.Platform))
		}
		fmt.Fprintf(&b, "    n%d[\"%s<br/>%s\"]\n", i, mermaidText(n.Bundle), mermaidText(n.Channel))
		if i+1 == len(nodes) || nodes[i+1].Platform != n.Platform {
			b.WriteString("  end\n")
		}
		if i > 0 {
			fmt.Fprintf(&links, "  n%d -- \"%s\" --> n%d\n", i-1, mermaidText(n.By), i)
		}
		if n.Deprecated {
			deprecated = append(deprecated, fmt.Sprintf("n%d", i))
		}
	}
	b.WriteString(links.String())
	if len(deprecated) > 0 {
		for line := range strings.Lines(mermaidClasses) {
			if strings.HasPrefix(line, "  classDef deprecated ") {
				fmt.Fprintf(&b, "%s  class %s deprecated\n", line, strings.Join(deprecated, ","))
			}
		}
	}
	return []byte(b.String())
}
