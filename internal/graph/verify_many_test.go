package graph

import (
	"fmt"
	"strings"
	"testing"
)

// Findings about a channel do not grow quadratically: thousands of heads on a long chain or on a cycle.
func TestVerifyOfManyHeads(t *testing.T) {
	const heads, length = 3000, 3000
	for what, last := range map[string]string{"a way": "", "a circle": "\n  replaces: op.v0.9.0"} {
		var b strings.Builder
		b.WriteString("---\nschema: olm.package\nname: op\ndefaultChannel: stable\n---\nschema: olm.channel\npackage: op\nname: stable\nentries:\n")
		for i := range length {
			replaces := fmt.Sprintf("\n  replaces: op.v0.%d.0", i-1)
			if i == 0 {
				replaces = last
			}
			fmt.Fprintf(&b, "- name: op.v0.%d.0%s\n", i, replaces)
		}
		for i := range heads {
			fmt.Fprintf(&b, "- name: op.v1.%d.0\n  replaces: op.v0.%d.0\n", i, length-1)
		}
		size, ids := 0, map[string]int{}
		for _, f := range Verify(load("catalog.yaml", []byte(b.String())), nil, Levels{}) {
			size += len(f.Message)
			ids[f.ID]++
		}
		if size > 200*(heads+length) {
			t.Errorf("%s: the findings have %d bytes", what, size)
		}
		if ids["channel-two-heads"] != heads-1 || ids["channel-cycle"] != map[string]int{"a way": 0, "a circle": 1}[what] {
			t.Errorf("%s: %v", what, ids)
		}
	}
}
