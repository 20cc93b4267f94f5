package yaml11

import "bytes"

// scanPlain scans a text without quotes.
func (s *scanner) scanPlain() {
	level, start := s.takeLevel(), s.pos
	stop := uint8(isBlankz | isColon)
	flow := len(s.keys) > 1
	if flow {
		stop |= isFlow
	}
	indent := s.indent + 1
	from, to := start, start // the last stretch of text on one line
	tmp, folded := s.tmp[:0], false
	breaks := s.breaks[:0]
	newline := false // a line break came since the last text
	for (s.pos > s.lineStart || !s.documentIndicator()) && s.at(s.pos) != '#' {
		if begin := s.pos; s.plainRun(stop) {
			if newline {
				tmp, folded = append(tmp, s.src[from:to]...), true
				tmp, breaks, newline = fold(tmp, breaks), breaks[:0], false
				from = begin
			}
			to = s.pos
		}
		if !isBlank(s.at(s.pos)) && s.breakAt(s.pos) == 0 {
			break
		}
		breaks = s.plainBlanks(breaks, indent)
		newline = len(breaks) > 0
		if !flow && newline && s.pos-s.lineStart < indent {
			break
		}
	}
	s.tmp, s.breaks = tmp, breaks
	val := s.src[from:to]
	if folded {
		val = s.keep(append(s.tmp, val...))
	}
	s.push(token{kind: tokScalar, plain: true, level: level, pos: start, val: val})
	if newline {
		s.keyAllowed = true
	}
}

// plainBlanks passes blanks and line breaks, and appends the breaks.
func (s *scanner) plainBlanks(breaks []byte, indent int) []byte {
	for {
		switch c := s.at(s.pos); {
		case c == '\t' && len(breaks) > 0 && s.pos-s.lineStart < indent:
			s.fail(s.pos, "a tab in the indentation")
		case isBlank(c):
			s.pos++
		case s.breakAt(s.pos) > 0:
			breaks = s.takeBreak(breaks)
		default:
			return breaks
		}
	}
}

// plainRun passes text without blanks, and tells whether there was any.
func (s *scanner) plainRun(stop uint8) bool {
	begin := s.pos
	src, i := s.src, s.pos
	for i < len(src) {
		k := class[src[i]] & stop
		if k == 0 {
			i++
			continue
		}
		if k == isFlow || k == isColon && s.blankz(i+1) || k == isBlankz && s.blankz(i) {
			break
		}
		i++
	}
	s.pos = i
	return i > begin
}

// fold joins two lines: by a space, or by the line breaks after the first.
func fold(text, breaks []byte) []byte {
	if breaks[0] != '\n' {
		return append(text, breaks...)
	}
	if len(breaks) == 1 {
		return append(text, ' ')
	}
	return append(text, breaks[1:]...)
}

// keep stores a text that was put together in s.tmp.
func (s *scanner) keep(text []byte) []byte {
	s.tmp = text[:0]
	return s.store.keep(text)
}

// scanQuoted scans a text in single or double quotes.
func (s *scanner) scanQuoted(quote byte) {
	level, start := s.takeLevel(), s.pos
	s.pos++
	if n := simpleQuoted(s.src[s.pos:], quote); n >= 0 {
		s.push(token{kind: tokScalar, level: level, pos: start, val: s.src[s.pos : s.pos+n]})
		s.pos += n + 1
		return
	}
	tmp := s.tmp[:0]
	for {
		if s.pos == s.lineStart && s.documentIndicator() {
			s.fail(start, "quotes that are not closed before the document ends")
		}
		if s.pos >= len(s.src) {
			s.fail(start, "quotes that are never closed")
		}
		var joined bool // by a backslash at the end of the line
		tmp, joined = s.quotedRun(tmp, quote)
		if s.at(s.pos) == quote {
			break
		}
		tmp = s.quotedBlanks(tmp, joined)
	}
	s.pos++
	s.push(token{kind: tokScalar, level: level, pos: start, val: s.keep(tmp)})
}

// simpleQuoted gives the length of a quoted text that stands for itself: one
// line without an escape. It gives -1 for any other.
func simpleQuoted(b []byte, quote byte) int {
	n := bytes.IndexByte(b, quote)
	if n < 0 || quote == '\'' && n+1 < len(b) && b[n+1] == '\'' {
		return -1
	}
	for i := 0; i < n; i++ {
		switch b[i] {
		case '\\':
			if quote == '"' {
				return -1
			}
		case '\r', '\n':
			return -1
		case 0xC2, 0xE2:
			if breakLen(b, i) > 0 {
				return -1
			}
		}
	}
	return n
}

// quotedRun appends text up to a blank, a line break or the closing quote.
func (s *scanner) quotedRun(tmp []byte, quote byte) (_ []byte, joined bool) {
	for !s.blankz(s.pos) {
		c := s.src[s.pos]
		switch {
		case c == quote && quote == '\'' && s.at(s.pos+1) == quote:
			tmp = append(tmp, quote)
			s.pos += 2
		case c == quote:
			return tmp, false
		case c == '\\' && quote == '"':
			s.pos++
			if s.skipBreak() {
				return tmp, true
			}
			tmp = s.escape(tmp)
		default:
			tmp = append(tmp, c)
			s.pos++
		}
	}
	return tmp, false
}

// quotedBlanks passes blanks and line breaks, and appends what they stand for.
func (s *scanner) quotedBlanks(tmp []byte, newline bool) []byte {
	from := s.pos
	breaks := s.breaks[:0]
	first := newline // the first break, escaped, stands for nothing
	for {
		if isBlank(s.at(s.pos)) {
			s.pos++
			continue
		}
		to := s.pos
		before := len(breaks)
		if breaks = s.takeBreak(breaks); len(breaks) == before {
			if !newline {
				tmp = append(tmp, s.src[from:to]...)
			}
			break
		}
		newline = true
	}
	s.breaks = breaks
	switch {
	case first:
		return append(tmp, breaks...)
	case newline:
		return fold(tmp, breaks)
	}
	return tmp
}

var escapes = map[byte]string{
	'0': "\x00", 'a': "\a", 'b': "\b", 't': "\t", '\t': "\t", 'n': "\n", 'v': "\v", 'f': "\f", 'r': "\r",
	'e': "\x1B", ' ': " ", '"': `"`, '\'': "'", '\\': `\`, 'N': "\u0085", '_': "\u00A0", 'L': "\u2028", 'P': "\u2029",
}

// escape appends what follows a backslash.
func (s *scanner) escape(tmp []byte) []byte {
	c := s.at(s.pos)
	var digits int
	switch c {
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	default:
		text, ok := escapes[c]
		if !ok {
			s.fail(s.pos-1, "an unknown escape, \\%c", c)
		}
		s.pos++
		return append(tmp, text...)
	}
	s.pos++
	value, ok := hex(s.src[s.pos:min(s.pos+digits, len(s.src))], digits)
	if !ok {
		s.fail(s.pos-2, "an escape without its %d hexadecimal digits", digits)
	}
	if value >= 0xD800 && value <= 0xDFFF || value > 0x10FFFF {
		s.fail(s.pos-2, "an escape that stands for no character")
	}
	s.pos += digits
	return append(tmp, string(rune(value))...)
}

func hex(b []byte, digits int) (v int64, ok bool) {
	if len(b) < digits {
		return 0, false
	}
	for _, c := range b[:digits] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		v = v<<4 | int64(c)
	}
	return v, true
}

// scanBlock scans a literal or folded block text.
func (s *scanner) scanBlock(literal bool) {
	start := s.pos
	s.pos++
	chomp, indent := s.blockHeader()
	if indent > 0 && s.indent >= 0 {
		indent += s.indent
	}
	tmp := s.tmp[:0]
	breaks := s.blockBreaks(s.breaks[:0], &indent)
	lead := []byte(nil) // the break after the last line
	var leadBuf [3]byte
	leadBlank := false
	for s.pos-s.lineStart == indent && s.pos < len(s.src) {
		blank := isBlank(s.src[s.pos])
		switch {
		case literal || leadBlank || blank || len(lead) == 0 || lead[0] != '\n':
			tmp = append(tmp, lead...)
		case len(breaks) == 0:
			tmp = append(tmp, ' ')
		}
		tmp = append(tmp, breaks...)
		leadBlank = blank
		from := s.pos
		s.toLineEnd()
		tmp = append(tmp, s.src[from:s.pos]...)
		lead = s.takeBreak(leadBuf[:0])
		breaks = s.blockBreaks(breaks[:0], &indent)
	}
	if chomp != '-' {
		tmp = append(tmp, lead...)
	}
	if chomp == '+' {
		tmp = append(tmp, breaks...)
	}
	s.breaks = breaks
	s.push(token{kind: tokScalar, pos: start, val: s.keep(tmp)})
}

// toLineEnd passes everything up to a line break or the end.
func (s *scanner) toLineEnd() {
	n := bytes.IndexByte(s.src[s.pos:], '\n')
	end := s.pos + n
	if n < 0 {
		end = len(s.src)
	}
	if s.oddBreaks {
		for i := s.pos; i < end; i++ {
			if s.breakAt(i) > 0 {
				end = i
			}
		}
	}
	s.pos = end
}

// blockHeader scans what may follow | and > on their line: + or -, and a digit
// for the indentation.
func (s *scanner) blockHeader() (chomp byte, indent int) {
	start := s.pos - 1
	for range 2 {
		switch c := s.at(s.pos); {
		case (c == '+' || c == '-') && chomp == 0:
			chomp = c
			s.pos++
		case c == '0' && indent == 0:
			s.fail(s.pos, "an indentation of 0 for a block of text")
		case c >= '1' && c <= '9' && indent == 0:
			indent = int(c - '0')
			s.pos++
		}
	}
	for isBlank(s.at(s.pos)) {
		s.pos++
	}
	if s.at(s.pos) == '#' {
		s.toLineEnd()
	}
	if s.pos < len(s.src) && !s.skipBreak() {
		s.fail(start, "text after the | or > that begins a block of text")
	}
	return chomp, indent
}

// blockBreaks passes the blank lines before a line of a block text, and its
// indentation. An indent of 0 is not known yet and becomes that of the line.
func (s *scanner) blockBreaks(breaks []byte, indent *int) []byte {
	widest := 0
	for {
		for (*indent == 0 || s.pos-s.lineStart < *indent) && s.at(s.pos) == ' ' {
			s.pos++
		}
		col := s.pos - s.lineStart
		widest = max(widest, col)
		if (*indent == 0 || col < *indent) && s.at(s.pos) == '\t' {
			s.fail(s.pos, "a tab in the indentation of a block of text")
		}
		if s.breakAt(s.pos) == 0 {
			break
		}
		breaks = s.takeBreak(breaks)
	}
	if *indent == 0 {
		*indent = max(widest, s.indent+1, 1)
	}
	return breaks
}
