package draw

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestSVGPath(t *testing.T) {
	nodes := []PathNode{
		{Platform: "4.16", Channel: "stable", Bundle: "op.v1.0.0"},
		{Platform: "4.16", Channel: "stable", Bundle: "op.v1.1.0", By: "upgrade", Deprecated: true},
		{Platform: "4.17", Channel: "stable", Bundle: "op.v1.1.0", By: "cluster"},
		{Platform: "4.17", Channel: `<b>"&`, Bundle: "op.v1.1.0", By: "channel"},
		{Platform: "4.17", Channel: `<b>"&`, Bundle: "op.v2.0.0", By: "upgrade"},
	}
	drawing := SVGPath(nodes)
	golden(t, "path.svg", drawing)
	texts := readSVG(t, drawing)
	for _, want := range []string{"Path from op.v1.0.0 to op.v2.0.0", "4.16", "4.17", "op.v1.1.0", `<b>"&`, "channel", "op.v1.1.0, channel stable, 4.16, deprecated"} {
		if !slices.Contains(texts, want) {
			t.Errorf("no text %q in %q", want, texts)
		}
	}
	checkPath(t, nodes)
}

func TestSVGPathOfAnyLength(t *testing.T) {
	checkPath(t, []PathNode{{}})
	for _, name := range []string{"", strings.Repeat("long", 40), "名前"} {
		var nodes []PathNode
		for i := range 30 {
			nodes = append(nodes, PathNode{Platform: fmt.Sprintf("4.%d", i/7), Channel: name, Bundle: fmt.Sprintf("%s.v1.%d.0", name, i), By: "upgrade"})
		}
		readSVG(t, SVGPath(nodes))
		checkPath(t, nodes)
	}
}

// checkPath checks that pills do not overlap and are inside the drawing.
func checkPath(t *testing.T, nodes []PathNode) {
	t.Helper()
	d := &pathDrawing{nodes: nodes, width: leastWidth}
	d.lay()
	for i := range nodes {
		if d.x[i] < 2*margin || d.x[i]+d.space(i) > d.width-2*margin {
			t.Errorf("node %d is outside the drawing", i)
		}
		if i > 0 && d.y[i] == d.y[i-1] && d.x[i]-d.x[i-1]-d.space(i-1) != stepGap {
			t.Errorf("%d pixels before %d", d.x[i]-d.x[i-1]-d.space(i-1), i)
		}
	}
}
