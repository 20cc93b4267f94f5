package yamlread

import (
	"bytes"

	"gopkg.in/yaml.v3"
)

const (
	maxExpanded = 64 << 20 // bytes of a document whose aliases are written out
	maxDepth    = 10_000
)

// checkAliases refuses a document that its aliases make too large or too deep: the library
// counts the values that aliases give, not their bytes.
func checkAliases(src []byte) error {
	if !names(src, '&') || !names(src, '*') {
		return nil
	}
	var doc yaml.Node
	if yaml.Unmarshal(src, &doc) != nil {
		return nil //nolint:nilerr // the library that counts says what is wrong
	}
	w := weigher{map[*yaml.Node]weight{}}
	if total := w.of(&doc); total.bytes > maxExpanded || total.depth > maxDepth {
		return &Error{max(doc.Line, 1), max(doc.Column, 1), "most of the document comes from aliases"}
	}
	return nil
}

// names tells whether a sign may begin an anchor or an alias somewhere: a blank or a bracket
// stands before it, and something else behind it.
func names(src []byte, sign byte) bool {
	for at := 0; ; at++ {
		n := bytes.IndexByte(src[at:], sign)
		if n < 0 {
			return false
		}
		at += n
		before := at == 0 || bytes.IndexByte([]byte(" \t\r\n[{,"), src[at-1]) >= 0
		if before && at+1 < len(src) && bytes.IndexByte([]byte(" \t\r\n,]}*"), src[at+1]) < 0 {
			return true
		}
	}
}

// weight is what a value comes to once its aliases are written out.
type weight struct{ bytes, depth int }

type weigher struct{ known map[*yaml.Node]weight }

func (w weigher) of(n *yaml.Node) weight {
	if n.Kind == yaml.AliasNode {
		// An anchor that is still open is its own alias, which the library refuses.
		return w.known[n.Alias]
	}
	all := weight{bytes: len(n.Value) + 1}
	for _, c := range n.Content {
		part := w.of(c)
		all.bytes = min(all.bytes+part.bytes, 2*maxExpanded)
		all.depth = max(all.depth, part.depth+1)
	}
	if n.Anchor != "" {
		w.known[n] = all
	}
	return all
}
