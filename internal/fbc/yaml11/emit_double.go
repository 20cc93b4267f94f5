package yaml11

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// double writes a text in double quotes, with everything escaped that is not
// printable.
func (e *emitter) double(s []byte, folding bool) {
	e.indicator(`"`, true, false)
	escapeAll := hasBOM(s) // as the original does
	afterSpace := false
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRune(s[i:])
		switch {
		case escapeAll || r == '"' || r == '\\' || breakLen(s, i) > 0 || !printable(s[i:]):
			e.escape(r)
			afterSpace = false
		case r == ' ' && e.fold(i, len(s), folding, afterSpace):
			e.newLine()
			if s[i+1] == ' ' {
				e.out = append(e.out, '\\')
			}
			afterSpace = true
		default:
			e.put(s[i : i+n])
			afterSpace = r == ' '
		}
		i += n
	}
	e.indicator(`"`, false, false)
	e.whitespace, e.indention = false, false
}

var shortEscapes = map[rune]string{
	0: `\0`, '\a': `\a`, '\b': `\b`, '\t': `\t`, '\n': `\n`, '\v': `\v`, '\f': `\f`, '\r': `\r`, 0x1B: `\e`,
	'"': `\"`, '\\': `\\`, 0x85: `\N`, 0xA0: `\_`, 0x2028: `\L`, 0x2029: `\P`,
}

func (e *emitter) escape(r rune) {
	if s, ok := shortEscapes[r]; ok {
		e.out = append(e.out, s...)
		return
	}
	mark, digits := `\x`, 2
	if r > 0xFFFF {
		mark, digits = `\U`, 8
	} else if r > 0xFF {
		mark, digits = `\u`, 4
	}
	code := strings.ToUpper(strconv.FormatInt(int64(r), 16))
	e.out = append(e.out, mark...)
	e.out = append(e.out, "00000000"[:digits-len(code)]...)
	e.out = append(e.out, code...)
}
