package yaml11

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// plainText gives the length of the string that begins after its quote when
// nothing in it is escaped, else -1.
func plainText(b []byte) int {
	n := bytes.IndexByte(b, '"')
	if n < 0 || bytes.IndexByte(b[:n], '\\') >= 0 || hasControl(b[:n]) {
		return -1
	}
	return n
}

func hasControl(b []byte) bool {
	for len(b) > 0 {
		b = b[plainASCII(b):]
		i := 0
		for ; i < len(b) && i < 8; i++ {
			if b[i] < ' ' {
				return true
			}
		}
		b = b[i:]
	}
	return false
}

// skipText passes a string.
func (p *jsonParser) skipText() {
	src, start := p.src, p.pos
	for i := start + 1; i < len(src); {
		switch c := src[i]; {
		case inText[c]:
			i++
		case c == '"':
			p.pos = i + 1
			return
		case c == '\\' && i+1 < len(src) && shortEscape[src[i+1]]:
			i += 2
		case c == '\\':
			var buf [8]byte
			p.pos = i
			p.escape(buf[:0])
			i = p.pos
		default:
			p.fail(i, "a control character in a JSON string")
		}
	}
	p.fail(start, "a JSON string that is never closed")
}

// inText marks the bytes that stand for themselves in a JSON string, and
// shortEscape those that make an escape of two characters.
var inText, shortEscape = func() (text, short [256]bool) {
	for i := range text {
		text[i] = i >= ' ' && i != '"' && i != '\\'
	}
	for _, c := range []byte(`"\bfnrt`) {
		short[c] = true
	}
	return text, short
}()

// text passes a string and gives its text.
func (p *jsonParser) text() []byte {
	start := p.pos
	if n := plainText(p.src[start+1:]); n >= 0 && utf8.Valid(p.src[start+1:start+1+n]) {
		p.pos += n + 2
		return p.src[start+1 : start+1+n]
	}
	p.pos++
	out := p.tmp[:0]
	for {
		from := p.pos
		for p.pos < len(p.src) && p.src[p.pos] != '"' && p.src[p.pos] != '\\' && p.src[p.pos] >= ' ' {
			p.pos++
		}
		out = appendValid(out, p.src[from:p.pos])
		switch c := p.at(); {
		case p.pos == len(p.src):
			p.fail(start, "a JSON string that is never closed")
		case c == '"':
			p.pos++
			p.tmp = out
			if p.t == nil {
				return bytes.Clone(out)
			}
			return p.t.store.keep(out)
		case c == '\\':
			out = p.escape(out)
		default:
			p.fail(p.pos, "a control character in a JSON string")
		}
	}
}

// appendValid appends a text, with a replacement character for each byte in it
// that is not UTF-8.
func appendValid(dst, text []byte) []byte {
	if utf8.Valid(text) {
		return append(dst, text...)
	}
	for _, r := range string(text) {
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

// escape passes an escape and appends what it stands for.
func (p *jsonParser) escape(out []byte) []byte {
	start := p.pos
	p.pos += 2
	c := byte(0)
	if p.pos <= len(p.src) {
		c = p.src[p.pos-1]
	}
	switch c {
	case '"', '\\':
		return append(out, c)
	case '/':
		p.odd = true
		return append(out, c)
	case 'b':
		return append(out, '\b')
	case 'f':
		return append(out, '\f')
	case 'n':
		return append(out, '\n')
	case 'r':
		return append(out, '\r')
	case 't':
		return append(out, '\t')
	case 'u':
		r, ok := p.unit(p.pos)
		if !ok {
			p.fail(start, "a \\u without its 4 hexadecimal digits")
		}
		p.pos += 4
		if utf16.IsSurrogate(r) {
			p.odd = true
			low := rune(0)
			if p.pos+2 <= len(p.src) && p.src[p.pos] == '\\' && p.src[p.pos+1] == 'u' {
				low, _ = p.unit(p.pos + 2)
			}
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				p.pos += 6
			}
		}
		return utf8.AppendRune(out, r)
	}
	p.fail(start, "an unknown escape in a JSON string")
	return nil
}

func (p *jsonParser) unit(pos int) (rune, bool) {
	v, ok := hex(p.src[min(pos, len(p.src)):min(pos+4, len(p.src))], 4)
	return rune(v), ok
}
