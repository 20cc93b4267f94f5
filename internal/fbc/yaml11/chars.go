package yaml11

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"
)

// Character classes of plain text, one bit each.
const (
	isBlankz = 1 << iota // may be a blank, a line break or the end
	isColon
	isFlow // ends plain text inside [] and {}
)

var class = func() (t [256]uint8) {
	for _, c := range []byte{0, ' ', '\t', '\r', '\n', 0xC2, 0xE2} {
		t[c] = isBlankz
	}
	t[':'] = isColon
	for _, c := range []byte(",?[]{}") {
		t[c] = isFlow
	}
	return t
}()

var bom = []byte("\xEF\xBB\xBF")

func hasBOM(b []byte) bool { return bytes.HasPrefix(b, bom) }

// breakAt gives the length of the line break at i, 0 when there is none.
func (s *scanner) breakAt(i int) int { return breakLen(s.src, i) }

func breakLen(b []byte, i int) int {
	if i >= len(b) {
		return 0
	}
	switch b[i] {
	case '\n':
		return 1
	case '\r':
		if i+1 < len(b) && b[i+1] == '\n' {
			return 2
		}
		return 1
	case 0xC2: // next line
		if i+1 < len(b) && b[i+1] == 0x85 {
			return 2
		}
	case 0xE2: // line and paragraph separators
		if i+2 < len(b) && b[i+1] == 0x80 && (b[i+2] == 0xA8 || b[i+2] == 0xA9) {
			return 3
		}
	}
	return 0
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// blankz tells whether a blank, a line break or the end is at i.
func (s *scanner) blankz(i int) bool {
	c := s.at(i)
	return class[c]&isBlankz != 0 && (isBlank(c) || i >= len(s.src) || s.breakAt(i) > 0)
}

// skipBreak passes the line break at the current position, if there is one.
func (s *scanner) skipBreak() bool {
	n := s.breakAt(s.pos)
	if n == 0 {
		return false
	}
	s.pos += n
	s.line++
	s.lineStart = s.pos
	return true
}

// takeBreak passes a line break and appends what stands for it in a text.
func (s *scanner) takeBreak(dst []byte) []byte {
	at := s.pos
	if s.skipBreak() {
		if s.pos-at == 3 {
			return append(dst, s.src[at:s.pos]...)
		}
		return append(dst, '\n')
	}
	return dst
}

// documentIndicator tells whether a --- or ... stands at the current position,
// which is the start of a line.
func (s *scanner) documentIndicator() bool {
	if s.pos+3 > len(s.src) {
		return false
	}
	switch string(s.src[s.pos : s.pos+3]) {
	case "---", "...":
		return s.blankz(s.pos + 3)
	}
	return false
}

// survey finds the first byte that opm's reader does not accept, -1 when there
// is none: text must be UTF-8 without control characters. It also tells whether
// there are line breaks other than a line feed.
func survey(b []byte) (bad int, oddBreaks bool) {
	if Ordinary(b) {
		return -1, false
	}
	for i := 0; i < len(b); {
		i += plainASCII(b[i:])
		if i == len(b) {
			break
		}
		c := b[i]
		if c < utf8.RuneSelf {
			if c < ' ' && c != '\n' && c != '\t' && c != '\r' || c == 0x7F {
				return i, oddBreaks
			}
			oddBreaks = oddBreaks || c == '\r'
			i++
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 || r < 0xA0 && r != 0x85 || r == 0xFFFE || r == 0xFFFF {
			return i, oddBreaks
		}
		oddBreaks = oddBreaks || r == 0x85 || r == 0x2028 || r == 0x2029
		i += n
	}
	return -1, oddBreaks
}

// plainASCII counts the leading bytes, in whole words, that are printable ASCII.
func plainASCII(b []byte) int {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	i := 0
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		low := w - ones*' '  // borrows into the high bit below a space
		del := w ^ ones*0x7F // zero where DEL
		zero := (del - ones) &^ del
		if (w|low|zero)&highs != 0 {
			break
		}
	}
	return i
}

// Ordinary tells whether text consists of printable characters and line feeds,
// with no other character that YAML reads as a line break.
func Ordinary(b []byte) bool {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	i := 0
	for i < len(b) {
		for ; i+8 <= len(b); i += 8 {
			w := binary.LittleEndian.Uint64(b[i:])
			if w&highs != 0 {
				break
			}
			control := ^(w + ones*(0x80-' ')) & highs
			feed := ^((w ^ ones*'\n') + ones*0x7F) & highs
			del := ^((w ^ ones*0x7F) + ones*0x7F) & highs
			if control != feed || del != 0 {
				return false
			}
		}
		for end := min(i+8, len(b)); i < end; {
			if c := b[i]; c < utf8.RuneSelf {
				if c < ' ' && c != '\n' || c == 0x7F {
					return false
				}
				i++
				continue
			}
			r, n := utf8.DecodeRune(b[i:])
			if r == utf8.RuneError && n == 1 || r < 0xA0 || r == 0x2028 || r == 0x2029 || r == 0xFEFF || r == 0xFFFE || r == 0xFFFF {
				return false
			}
			i += n
		}
	}
	return true
}
