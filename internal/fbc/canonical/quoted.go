package canonical

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// Unquote returns the text of a quoted scalar as opm writes it. ok is false for anything else, such as a blank
// line or an escape that opm does not use.
func Unquote(quoted []byte) (text []byte, ok bool) {
	n := len(quoted)
	if n < 2 || quoted[0] != quoted[n-1] {
		return nil, false
	}
	inner := quoted[1 : n-1]
	if quoted[0] == '\'' {
		if inner, ok = Fold(inner); !ok {
			return nil, false
		}
		return bytes.ReplaceAll(inner, []byte("''"), []byte("'")), true
	}
	return unescape(inner)
}

// Fold joins the lines of a text: a line break and the blanks around it become one space. ok is false if a line
// is blank.
func Fold(text []byte) (folded []byte, ok bool) {
	if bytes.IndexByte(text, '\n') < 0 {
		return text, true
	}
	for i, line := range bytes.Split(text, []byte("\n")) {
		if i > 0 {
			folded = append(bytes.TrimRight(folded, " "), ' ')
			line = bytes.TrimLeft(line, " ")
		}
		if len(line) == 0 {
			return nil, false
		}
		folded = append(folded, line...)
	}
	return folded, true
}

var escapes = [256]rune{
	'0': 0, 'a': '\a', 'b': '\b', 't': '\t', 'n': '\n', 'v': '\v', 'f': '\f', 'r': '\r', 'e': 0x1B,
	' ': ' ', '"': '"', '\'': '\'', '\\': '\\', 'N': 0x85, '_': 0xA0, 'L': 0x2028, 'P': 0x2029,
}

// unescape does the work of Unquote for the content of double quotes.
func unescape(src []byte) (text []byte, ok bool) {
	kept := 0 // length of the text that folding must not trim
	for i := 0; i < len(src); i++ {
		switch c := src[i]; c {
		case '\n':
			n := len(text)
			for n > kept && text[n-1] == ' ' {
				n--
			}
			text = append(text[:n], ' ')
			if i = blanks(src, i+1); i+1 == len(src) || src[i+1] == '\n' {
				return nil, false
			}
		case '\\':
			if i++; i == len(src) {
				return nil, false
			}
			if src[i] == '\n' {
				i = blanks(src, i+1)
				continue
			}
			var r rune
			if r, i = escaped(src, i); r < 0 {
				return nil, false
			}
			text = utf8.AppendRune(text, r)
			kept = len(text)
		default:
			text = append(text, c)
		}
	}
	return text, true
}

// blanks returns the offset of the last of the spaces that start at i, or i-1 if there is none.
func blanks(src []byte, i int) int {
	for i < len(src) && src[i] == ' ' {
		i++
	}
	return i - 1
}

// escaped returns the character of the escape whose letter is at i, and the offset of the escape's last byte.
func escaped(src []byte, i int) (rune, int) {
	var digits int
	switch c := src[i]; c {
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	default:
		if r := escapes[c]; r != 0 || c == '0' {
			return r, i
		}
		return -1, i
	}
	if i+digits >= len(src) {
		return -1, i
	}
	code, err := strconv.ParseUint(string(src[i+1:i+1+digits]), 16, 32)
	if r := rune(code); err == nil && utf8.ValidRune(r) {
		return r, i + digits
	}
	return -1, i
}
