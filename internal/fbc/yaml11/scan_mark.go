package yaml11

import (
	"bytes"
	"math/bits"
)

// isWord tells whether c may stand in the name of an anchor or a directive.
func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '-'
}

func (s *scanner) word() []byte {
	from := s.pos
	for isWord(s.at(s.pos)) {
		s.pos++
	}
	return s.src[from:s.pos]
}

// fetchAnchor scans an anchor or an alias.
func (s *scanner) fetchAnchor(kind tokenKind) {
	s.saveKey()
	s.keyAllowed = false
	level, start := s.takeLevel(), s.pos
	s.pos++
	name := s.word()
	if len(name) == 0 || !s.blankz(s.pos) && bytes.IndexByte([]byte("?:,]}%@`"), s.src[s.pos]) < 0 {
		s.fail(start, "an anchor or alias whose name is not made of letters and digits")
	}
	s.push(token{kind: kind, level: level, pos: start, val: name})
}

// scanTag scans !suffix, !handle!suffix or !<uri>.
func (s *scanner) scanTag() {
	level, start := s.takeLevel(), s.pos
	var handle, suffix []byte
	if s.at(s.pos+1) == '<' {
		s.pos += 2
		suffix = s.uri(nil, false)
		if s.at(s.pos) != '>' {
			s.fail(start, "a tag without its closing >")
		}
		s.pos++
	} else {
		handle = s.tagHandle()
		if len(handle) > 1 && handle[len(handle)-1] == '!' {
			suffix = s.uri(nil, false)
		} else {
			suffix = s.uri(handle[1:], true)
			handle = []byte("!")
			if len(suffix) == 0 {
				handle, suffix = nil, handle
			}
		}
	}
	if !s.blankz(s.pos) {
		s.fail(start, "a tag with an unexpected character in it")
	}
	s.push(token{kind: tokTag, level: level, pos: start, handle: handle, val: suffix})
}

// tagHandle scans !, !word or !word!.
func (s *scanner) tagHandle() []byte {
	from := s.pos
	if s.at(s.pos) != '!' {
		s.fail(s.pos, "a tag directive whose handle does not begin with !")
	}
	s.pos++
	s.word()
	if s.at(s.pos) == '!' {
		s.pos++
	}
	return s.src[from:s.pos]
}

// uri scans the rest of a tag and undoes its percent escapes. It may be empty
// only if the tag has begun already.
func (s *scanner) uri(head []byte, begun bool) []byte {
	start := s.pos
	text := bytes.Clone(head)
	for {
		c := s.at(s.pos)
		if c == '%' {
			text = s.uriEscape(text)
			continue
		}
		if !isWord(c) && (c == 0 || bytes.IndexByte([]byte(";/?:@&=+$,.!~*'()[]"), c) < 0) {
			break
		}
		text = append(text, c)
		s.pos++
	}
	if s.pos == start && !begun {
		s.fail(start, "a tag without a name")
	}
	return text
}

// uriEscape appends the character that %XX, or a sequence of them, stands for.
func (s *scanner) uriEscape(text []byte) []byte {
	for left := -1; left != 0; left-- {
		v, ok := hex(s.src[min(s.pos+1, len(s.src)):min(s.pos+3, len(s.src))], 2)
		if s.at(s.pos) != '%' || !ok {
			s.fail(s.pos, "a percent escape in a tag that is not complete")
		}
		lead := bits.LeadingZeros8(^byte(v))
		switch {
		case left > 0 && lead != 1, left < 0 && (lead == 1 || lead > 4):
			s.fail(s.pos, "a percent escape in a tag that is not UTF-8")
		case left < 0:
			left = max(lead, 1)
		}
		text = append(text, byte(v))
		s.pos += 3
	}
	return text
}

// scanDirective scans a %YAML or %TAG line.
func (s *scanner) scanDirective() {
	start := s.pos
	s.pos++
	name := string(s.word())
	if !s.blankz(s.pos) {
		s.fail(start, "a directive whose name has an unexpected character in it")
	}
	t := token{pos: start}
	switch name {
	case "YAML":
		t.kind = tokVersion
		s.blanks()
		major := s.versionNumber(start)
		if s.at(s.pos) != '.' {
			s.fail(start, "a %%YAML directive without a version")
		}
		s.pos++
		t.val = append(append(major, '.'), s.versionNumber(start)...)
	case "TAG":
		t.kind = tokTagDirective
		s.blanks()
		t.handle = s.tagHandle()
		if n := len(t.handle); n > 1 && t.handle[n-1] != '!' || !isBlank(s.at(s.pos)) {
			s.fail(start, "a %%TAG directive whose handle is not of the form !word!")
		}
		s.blanks()
		t.val = s.uri(nil, false)
		if !s.blankz(s.pos) {
			s.fail(start, "a %%TAG directive with an unexpected character in it")
		}
	default:
		s.fail(start, "an unknown directive")
	}
	s.blanks()
	if s.at(s.pos) == '#' {
		s.toLineEnd()
	}
	if !s.skipBreak() && s.pos < len(s.src) {
		s.fail(start, "a directive with more on its line than belongs to it")
	}
	s.push(t)
}

func (s *scanner) blanks() {
	for isBlank(s.at(s.pos)) {
		s.pos++
	}
}

// versionNumber scans one or two digits, and gives them without leading zeros.
func (s *scanner) versionNumber(start int) []byte {
	from := s.pos
	for s.at(s.pos) >= '0' && s.at(s.pos) <= '9' {
		s.pos++
	}
	if n := s.pos - from; n < 1 || n > 2 {
		s.fail(start, "a %%YAML directive without a version")
	}
	digits := bytes.TrimLeft(s.src[from:s.pos], "0")
	return bytes.Clone(digits)
}
