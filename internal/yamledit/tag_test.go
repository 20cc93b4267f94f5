package yamledit

import (
	"encoding/json"
	"testing"

	"github.com/olmgraft/graft/internal/yamlread"
)

// The tag ! makes a string of any scalar, as in opm's library.
func TestNonSpecificTag(t *testing.T) {
	for _, src := range []string{
		"a: ! op\n", "a: ! 12\n", "a: ! \"op\"\n", "a: ! 'op'\n", "a: ! ~\n", "a: ! 1.10\n", "a: !<!> true\n", "a: !\n", "a: !", "a: !\nb: c\n",
		"! a: 1\n", "! a: ! 1\n", "{a: ! 1}", "a: ! |\n  x\n", "a: ! >-\n  x\n  y\n", "a: ! # ! x\n  12\n", "a: &x ! 12\n", "a: ! &x 12\n",
		"a: 12 # !\n", "a: &x # !\n  12\n", "a:\n! b: c\n", "a: &x\n! b: 1\n", "{a: , ! b: c}", "a: !!str 12\n", "a: \"! 12\"\n",
	} {
		text, err := yamlread.ToJSON([]byte(src))
		if err != nil {
			t.Fatalf("%q: %v", src, err)
		}
		var want map[string]any
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		f, err := Open("t.yaml", []byte(src))
		if err != nil {
			t.Fatalf("%q: %v", src, err)
		}
		root, err := f.Docs[0].Root()
		if err != nil {
			t.Errorf("%q: %v", src, err)
			continue
		}
		n := root.Get("a")
		if said, isString := want["a"].(string); n == nil || isString != (n.Tag == "!!str") || isString && n.Value != said {
			t.Errorf("%q: Graft reads %+v, opm reads %#v", src, n, want["a"])
		}
	}
}
