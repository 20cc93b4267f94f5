package yaml11

import (
	"slices"
	"unicode/utf8"
)

// The limits of the parser that opm uses.
const (
	maxDepth     = 10000 // nested flow collections, and indentation levels
	maxSimpleKey = 1024  // characters between the start of a key and its colon
)

type tokenKind uint8

const (
	tokStreamEnd    tokenKind = iota
	tokVersion                // %YAML
	tokTagDirective           // %TAG
	tokDocStart
	tokDocEnd
	tokBlockSeqStart
	tokBlockMapStart
	tokBlockEnd
	tokFlowSeqStart
	tokFlowSeqEnd
	tokFlowMapStart
	tokFlowMapEnd
	tokBlockEntry
	tokFlowEntry
	tokKey
	tokValue
	tokAlias
	tokAnchor
	tokTag
	tokScalar
)

// token is one lexical unit. val is a scalar's text, the name of an anchor or
// alias, or the suffix of a tag; handle is the handle of a tag.
type token struct {
	kind   tokenKind
	plain  bool  // a scalar without quotes
	level  int32 // 1 + the flow level whose simple key may begin here, 0 for none
	pos    int
	val    []byte
	handle []byte
}

// scanner turns text into tokens. It looks ahead exactly as far as opm's
// parser does, so that what follows the end of a document is not judged.
type scanner struct {
	src       []byte
	pos       int
	line      int // line breaks passed, as YAML counts them
	lineStart int
	colPos    int // col is the column, in characters, of the byte at colPos
	col       int

	queue   []token
	head    int // of the queue
	taken   int // tokens that have left the queue
	indent  int
	indents []int

	keys       []simpleKey // one for each flow level, the block context first
	keyAllowed bool
	oddBreaks  bool // there are line breaks other than a line feed

	tmp, breaks []byte
	store       *store
}

func (s *scanner) reset(src []byte) {
	*s = scanner{
		src: src, indent: -1, keyAllowed: true,
		queue: s.queue[:0], indents: s.indents[:0], keys: append(s.keys[:0], simpleKey{}),
		tmp: s.tmp[:0], breaks: s.breaks[:0], store: s.store,
	}
	if hasBOM(src) {
		s.pos, s.lineStart, s.colPos = 3, 3, 3
	}
	bad, odd := survey(src)
	if bad >= 0 {
		s.fail(bad, "a byte that is not text: neither control characters nor bytes that are not UTF-8 are allowed")
	}
	s.oddBreaks = odd
}

// peek gives the next token without taking it.
func (s *scanner) peek() *token {
	for {
		if s.head < len(s.queue) {
			level := int(s.queue[s.head].level)
			if level == 0 || level > len(s.keys) || s.keys[level-1].number != s.taken || !s.stillPossible(&s.keys[level-1]) {
				return &s.queue[s.head]
			}
		}
		s.fetch()
	}
}

// skip takes the token that peek gave.
func (s *scanner) skip() {
	s.taken++
	s.head++
	if s.head == len(s.queue) || s.head > 1<<12 {
		s.queue, s.head = append(s.queue[:0], s.queue[s.head:]...), 0
	}
}

// next is the number of the token that is pushed next.
func (s *scanner) next() int { return s.taken + len(s.queue) - s.head }

func (s *scanner) push(t token) { s.queue = append(s.queue, t) }

func (s *scanner) at(i int) byte {
	if i < len(s.src) {
		return s.src[i]
	}
	return 0
}

// column counts characters since the start of the line.
func (s *scanner) column() int {
	if s.colPos < s.lineStart {
		s.colPos, s.col = s.lineStart, 0
	}
	s.col += utf8.RuneCount(s.src[s.colPos:s.pos])
	s.colPos = s.pos
	return s.col
}

// fetch appends at least one token to the queue.
func (s *scanner) fetch() {
	s.toNextToken()
	col := s.column()
	s.unroll(col)
	if s.pos >= len(s.src) {
		s.fetchEnd()
		return
	}
	c := s.src[s.pos]
	flow := len(s.keys) > 1
	if s.pos == s.lineStart {
		switch {
		case c == '%':
			s.unroll(-1)
			s.dropKey()
			s.keyAllowed = false
			s.scanDirective()
			return
		case s.documentIndicator():
			s.unroll(-1)
			s.dropKey()
			s.keyAllowed = false
			kind := tokDocStart
			if c == '.' {
				kind = tokDocEnd
			}
			s.push(token{kind: kind, pos: s.pos})
			s.pos += 3
			return
		}
	}
	switch c {
	case '[':
		s.fetchFlowStart(tokFlowSeqStart)
	case '{':
		s.fetchFlowStart(tokFlowMapStart)
	case ']':
		s.fetchFlowEnd(tokFlowSeqEnd)
	case '}':
		s.fetchFlowEnd(tokFlowMapEnd)
	case ',':
		s.dropKey()
		s.keyAllowed = true
		s.indicator(tokFlowEntry)
	case '*':
		s.fetchAnchor(tokAlias)
	case '&':
		s.fetchAnchor(tokAnchor)
	case '!':
		s.saveKey()
		s.keyAllowed = false
		s.scanTag()
	case '\'', '"':
		s.saveKey()
		s.keyAllowed = false
		s.scanQuoted(c)
	case '|', '>':
		if flow {
			s.fail(s.pos, "%q cannot begin a value inside [] or {}", c)
		}
		s.dropKey()
		s.keyAllowed = true
		s.scanBlock(c == '|')
	case '-':
		if s.blankz(s.pos + 1) {
			s.fetchEntry(flow, col)
			return
		}
		s.fetchPlain()
	case '?':
		if flow || s.blankz(s.pos+1) {
			s.fetchKey(flow, col)
			return
		}
		s.fetchPlain()
	case ':':
		if flow || s.blankz(s.pos+1) {
			s.fetchValue(flow, col)
			return
		}
		s.fetchPlain()
	case '%', '@', '`', '#', '\t':
		s.fail(s.pos, "%q cannot begin a value", c)
	default:
		s.fetchPlain()
	}
}

func (s *scanner) fetchEnd() {
	if s.pos != s.lineStart {
		// An unfinished last line is taken to end here.
		s.line++
		s.lineStart = s.pos
	}
	s.unroll(-1)
	s.dropKey()
	s.keyAllowed = false
	s.push(token{kind: tokStreamEnd, pos: s.pos})
}

// toNextToken skips blanks, comments and line breaks. A tab may not stand
// where a block key may begin.
func (s *scanner) toNextToken() {
	flow := len(s.keys) > 1
	for {
		c := s.at(s.pos)
		for c == ' ' || c == '\t' && (flow || !s.keyAllowed) {
			s.pos++
			c = s.at(s.pos)
		}
		if c == '#' {
			s.toLineEnd()
		}
		if !s.skipBreak() {
			return
		}
		if !flow {
			s.keyAllowed = true
		}
	}
}

func (s *scanner) indicator(kind tokenKind) {
	s.push(token{kind: kind, pos: s.pos})
	s.pos++
}

func (s *scanner) fetchFlowStart(kind tokenKind) {
	s.saveKey()
	if len(s.keys) > maxDepth {
		s.fail(s.pos, "more than %d collections inside each other", maxDepth)
	}
	level := s.takeLevel()
	s.keys = append(s.keys, simpleKey{number: s.next()})
	s.keyAllowed = true
	s.push(token{kind: kind, pos: s.pos, level: level})
	s.pos++
}

func (s *scanner) fetchFlowEnd(kind tokenKind) {
	s.dropKey()
	if last := len(s.keys) - 1; last > 0 {
		// The original forgets here that brackets with nothing in them that
		// could be a key may be a key themselves. What follows them at the end
		// of a document is then not looked at.
		if at := s.head + s.keys[last].number - s.taken; at >= s.head && at < len(s.queue) {
			s.queue[at].level = 0
		}
		s.keys = s.keys[:last]
	}
	s.keyAllowed = false
	s.indicator(kind)
}

func (s *scanner) fetchEntry(flow bool, col int) {
	if !flow {
		if !s.keyAllowed {
			s.fail(s.pos, "a list item cannot begin here")
		}
		s.roll(col, -1, tokBlockSeqStart, s.pos)
	}
	s.dropKey()
	s.keyAllowed = true
	s.indicator(tokBlockEntry)
}

func (s *scanner) fetchKey(flow bool, col int) {
	if !flow {
		if !s.keyAllowed {
			s.fail(s.pos, "a key cannot begin here")
		}
		s.roll(col, -1, tokBlockMapStart, s.pos)
	}
	s.dropKey()
	s.keyAllowed = !flow
	s.indicator(tokKey)
}

func (s *scanner) fetchValue(flow bool, col int) {
	k := &s.keys[len(s.keys)-1]
	if s.stillPossible(k) {
		key := token{kind: tokKey, pos: k.pos}
		if at := s.head + k.number - s.taken; at >= s.head {
			s.queue = slices.Insert(s.queue, at, key)
			s.roll(k.col, at, tokBlockMapStart, k.pos)
		} else {
			// The key was taken for a value already: see fetchFlowEnd.
			s.push(key)
			s.roll(k.col, -1, tokBlockMapStart, k.pos)
		}
		k.possible = false
		s.keyAllowed = false
	} else {
		if !flow {
			if !s.keyAllowed {
				s.fail(s.pos, "a value cannot follow here; a text with a colon and a space in it needs quotes")
			}
			s.roll(col, -1, tokBlockMapStart, s.pos)
		}
		s.keyAllowed = !flow
	}
	s.indicator(tokValue)
}

func (s *scanner) fetchPlain() {
	s.saveKey()
	s.keyAllowed = false
	s.scanPlain()
}
