package yamlread

import (
	"bytes"

	"gopkg.in/yaml.v3"

	"github.com/olmgraft/graft/internal/budget"
)

// checkAliases refuses a document that its aliases make too large or too deep. yaml.v3 bounds the number of
// expanded values, but not their bytes.
func (b Bound) checkAliases(src []byte) error {
	if !names(src, '&') || !names(src, '*') {
		return nil
	}
	var doc yaml.Node
	if yaml.Unmarshal(src, &doc) != nil {
		return nil //nolint:nilerr // yaml.v3 fails the same way when it converts the document
	}
	w := weigher{map[*yaml.Node]weight{}, b}
	if total := w.of(&doc); total.bytes > b.Bytes || total.values > b.Values || total.depth > budget.DocumentDepth {
		return &Error{max(doc.Line, 1), max(doc.Column, 1), "most of the document comes from aliases", true}
	}
	return nil
}

// names reports whether src may contain an anchor or alias with this sign: a blank or bracket before the sign,
// and something else after it.
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

// weight is the size of a value with its aliases expanded.
type weight struct{ bytes, values, depth int }

type weigher struct {
	known map[*yaml.Node]weight
	bound Bound
}

func (w weigher) of(n *yaml.Node) weight {
	if n.Kind == yaml.AliasNode {
		// An anchor that contains its own alias weighs nothing here; the library refuses it.
		return w.known[n.Alias]
	}
	all := weight{bytes: len(n.Value) + 1, values: 1}
	for _, c := range n.Content {
		part := w.of(c)
		all.bytes = min(all.bytes+part.bytes, 2*w.bound.Bytes)
		all.values = min(all.values+part.values, 2*w.bound.Values)
		all.depth = max(all.depth, part.depth+1)
	}
	if n.Anchor != "" {
		w.known[n] = all
	}
	return all
}
