package canonical

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// Unquote gives the text that a scalar in quotes stands for. It knows what opm writes; ok is
// false where there is more: a blank line, an escape that opm does not use.
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

// Fold joins the lines of a text that goes on over several: a line break and the blanks
// around it are one space. ok is false where a line is blank.
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

// unescape is Unquote for what stands between double quotes.
func unescape(src []byte) (text []byte, ok bool) {
	kept := 0 // bytes that no fold may trim
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

// blanks gives the offset of the last of the spaces at i, i-1 for none.
func blanks(src []byte, i int) int {
	for i < len(src) && src[i] == ' ' {
		i++
	}
	return i - 1
}

// escaped gives the character of the escape whose letter is at i, and its last byte.
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
