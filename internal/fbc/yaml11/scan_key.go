package yaml11

import (
	"slices"
	"unicode/utf8"
)

// simpleKey is a place where a key without a question mark may have begun. It
// becomes one when a colon follows soon enough on the same line.
type simpleKey struct {
	possible, required bool
	number             int // of the token, counted from the first of the stream
	pos, line, col     int
}

// stillPossible tells whether a colon at the current position makes a key of k.
func (s *scanner) stillPossible(k *simpleKey) bool {
	if !k.possible {
		return false
	}
	if k.line < s.line || s.pos-k.pos > maxSimpleKey && utf8.RuneCount(s.src[k.pos:s.pos]) > maxSimpleKey {
		if k.required {
			s.fail(k.pos, "a key without its colon")
		}
		k.possible = false
	}
	return k.possible
}

// saveKey notes that the token about to be scanned may begin a simple key.
func (s *scanner) saveKey() {
	if !s.keyAllowed {
		return
	}
	col := s.column()
	required := len(s.keys) == 1 && s.indent == col
	s.dropKey()
	s.keys[len(s.keys)-1] = simpleKey{
		possible: true, required: required,
		number: s.next(),
		pos:    s.pos, line: s.line, col: col,
	}
}

// takeLevel gives the level for a token that saveKey was called for.
func (s *scanner) takeLevel() int32 {
	k := &s.keys[len(s.keys)-1]
	if k.possible && k.number == s.next() {
		return int32(len(s.keys))
	}
	return 0
}

// dropKey gives up the simple key that may be pending on this flow level.
func (s *scanner) dropKey() {
	k := &s.keys[len(s.keys)-1]
	if k.possible && k.required {
		s.fail(k.pos, "a key without its colon")
	}
	k.possible = false
}

// roll opens a block collection when col is further in than the last one. Its
// token goes to index at of the queue, or to the end.
func (s *scanner) roll(col, at int, kind tokenKind, pos int) {
	if len(s.keys) > 1 || s.indent >= col {
		return
	}
	s.indents = append(s.indents, s.indent)
	s.indent = col
	if len(s.indents) > maxDepth {
		s.fail(pos, "more than %d collections inside each other", maxDepth)
	}
	if at < 0 {
		at = len(s.queue)
	}
	s.queue = slices.Insert(s.queue, at, token{kind: kind, pos: pos})
}

// unroll closes the block collections that are further in than col.
func (s *scanner) unroll(col int) {
	if len(s.keys) > 1 {
		return
	}
	for s.indent > col {
		s.push(token{kind: tokBlockEnd, pos: s.pos})
		s.indent = s.indents[len(s.indents)-1]
		s.indents = s.indents[:len(s.indents)-1]
	}
}
