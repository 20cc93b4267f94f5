package yaml11

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// traits is what a text's form depends on.
type traits struct {
	plain  bool // may stand without quotes
	single bool // may stand in single quotes
	block  bool // may stand as a literal block
}

// text writes a text in the form that opm's library chooses: plain where it
// reads back as the same text, a literal block where it has line feeds, quoted
// otherwise.
func (e *emitter) text(s []byte, key bool) {
	outer := e.indent
	e.indent = max(outer, 0) + bestIndent
	tr := traits{}
	if len(s) > 0 {
		tr = examine(s)
	}
	if bytes.IndexByte(s, '\n') >= 0 {
		tr.plain, tr.single = false, false
	} else {
		readsBack := resolve(s).typ == typeString && !isBase60(s)
		tr.plain, tr.single, tr.block = tr.plain && readsBack, tr.single && readsBack, false
	}
	switch {
	case tr.plain:
		e.plain(s, !key)
	case tr.single:
		e.single(s, !key)
	case tr.block:
		e.literal(s)
	default:
		e.double(s, !key)
	}
	e.indent = outer
}

// special marks bytes that examine has to look at.
var special = func() (t [256]bool) {
	for i := range t {
		t[i] = i <= ' ' || i >= 0x7F || i == ':' || i == '#'
	}
	return t
}()

// examine finds the forms in which s, which is not empty, can be written.
func examine(s []byte) traits {
	tr := traits{plain: true, single: true, block: true}
	switch c := s[0]; c {
	case '#', ',', '[', ']', '{', '}', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`':
		tr.plain = false
	case '?', ':', '-':
		tr.plain = len(s) > 1 && !isBlank(s[1])
	}
	if bytes.HasPrefix(s, []byte("---")) || bytes.HasPrefix(s, []byte("...")) {
		tr.plain = false
	}
	for i := 0; i < len(s); i++ {
		if !special[s[i]] {
			continue
		}
		switch s[i] {
		case ' ':
			if i == 0 || i == len(s)-1 {
				tr.plain = false
			}
			if i == len(s)-1 {
				tr.block = false
			}
			if i > 0 && endsInBreak(s[:i]) {
				tr.plain, tr.single = false, false
			}
		case ':':
			if i > 0 && (i+1 == len(s) || isBlank(s[i+1])) {
				tr.plain = false
			}
		case '#':
			if i > 0 && (isBlank(s[i-1]) || s[i-1] == 0 || endsInBreak(s[:i])) {
				tr.plain = false
			}
		default:
			w := tr.rare(s, i)
			if !tr.block && !tr.single {
				return tr
			}
			i += w - 1
		}
	}
	return tr
}

// rare judges a control character, a line break or a character beyond ASCII,
// and gives its length.
func (tr *traits) rare(s []byte, i int) int {
	_, w := utf8.DecodeRune(s[i:])
	if breakLen(s, i) > 0 {
		tr.plain = false
		if i > 0 && s[i-1] == ' ' {
			tr.single, tr.block = false, false
		}
	}
	if !printable(s[i:]) {
		tr.plain, tr.single, tr.block = false, false, false
	}
	return w
}

// printable tells whether the first character of s is written as it is: no
// control character but a line feed, nothing beyond the basic plane.
func printable(s []byte) bool {
	r, _ := utf8.DecodeRune(s)
	switch {
	case r == '\n', r >= ' ' && r <= '~':
		return true
	case r == 0xFEFF, r == 0xFFFE, r == 0xFFFF:
		return false
	}
	return r >= 0xA0 && r <= 0xFFFF
}

func endsInBreak(s []byte) bool {
	switch n := len(s); s[n-1] {
	case '\n', '\r':
		return true
	case 0x85:
		return n >= 2 && breakLen(s, n-2) == 2
	case 0xA8, 0xA9:
		return n >= 3 && breakLen(s, n-3) == 3
	}
	return false
}

func hasBreak(s []byte) bool {
	for i := range s {
		if breakLen(s, i) > 0 {
			return true
		}
	}
	return false
}

// isBase60 tells whether older readers would take s for a number to the base
// of 60: [-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?
func isBase60(s []byte) bool {
	if c := s[0]; (c < '0' || c > '9') && c != '+' && c != '-' || bytes.IndexByte(s, ':') < 0 {
		return false
	}
	parts := strings.Split(cutSign(string(s)), ":")
	if n, _ := cutDigits(parts[0]); n == 0 || strings.Trim(parts[0], "0123456789_") != "" {
		return false
	}
	last := len(parts) - 1
	whole, fraction, _ := strings.Cut(parts[last], ".")
	if strings.Trim(fraction, "0123456789_") != "" {
		return false
	}
	parts[last] = whole
	for _, p := range parts[1:] {
		if n, rest := cutDigits(p); n < 1 || n > 2 || rest != "" || n == 2 && p[0] > '5' {
			return false
		}
	}
	return true
}

// put appends characters, each of which counts as one column.
func (e *emitter) put(s []byte) {
	e.out = append(e.out, s...)
	e.line += len(s) - utf8.RuneCount(s)
}

// fold tells whether a line is long enough to end at the space at i.
func (e *emitter) fold(i, n int, folding, afterSpace bool) bool {
	return folding && !afterSpace && i > 0 && i < n-1 && e.column() > bestWidth
}

// plain writes a text without line breaks as it is, folded at spaces.
func (e *emitter) plain(s []byte, folding bool) {
	if !e.whitespace {
		e.out = append(e.out, ' ')
	}
	afterSpace := false
	for i := 0; i < len(s); {
		if s[i] != ' ' {
			n := bytes.IndexByte(s[i:], ' ')
			if n < 0 {
				n = len(s) - i
			}
			e.put(s[i : i+n])
			i += n
			afterSpace = false
			continue
		}
		if s[i+1] != ' ' && e.fold(i, len(s), folding, afterSpace) {
			e.newLine()
		} else {
			e.out = append(e.out, ' ')
		}
		afterSpace = true
		i++
	}
	e.whitespace, e.indention = false, false
}

// single writes a text in single quotes. Line separators stand as they are.
func (e *emitter) single(s []byte, folding bool) {
	e.indicator("'", true, false)
	afterSpace, afterBreak := false, false
	for i := 0; i < len(s); {
		if s[i] == ' ' {
			if e.fold(i, len(s), folding, afterSpace) && s[i+1] != ' ' {
				e.newLine()
			} else {
				e.out = append(e.out, ' ')
			}
			afterSpace = true
			i++
			continue
		}
		if n := breakLen(s, i); n > 0 {
			e.out = append(e.out, s[i:i+n]...)
			e.line = len(e.out)
			e.indention = true
			afterBreak = true
			i += n
			continue
		}
		if afterBreak {
			e.newLine()
		}
		if s[i] == '\'' {
			e.out = append(e.out, '\'')
		}
		_, n := utf8.DecodeRune(s[i:])
		e.put(s[i : i+n])
		i += n
		e.indention = false
		afterSpace, afterBreak = false, false
	}
	e.indicator("'", false, false)
	e.whitespace, e.indention = false, false
}

// literal writes a text as a block, line by line.
func (e *emitter) literal(s []byte) {
	e.indicator("|", true, false)
	if s[0] == ' ' || breakLen(s, 0) > 0 {
		e.indicator("2", false, false)
	}
	e.indicator(chomping(s), false, false)
	e.lineBreak()
	e.indention, e.whitespace = true, true
	afterBreak := true
	for i := 0; i < len(s); {
		if n := breakLen(s, i); n > 0 {
			e.out = append(e.out, s[i:i+n]...)
			e.line = len(e.out)
			e.indention = true
			afterBreak = true
			i += n
			continue
		}
		if afterBreak {
			e.newLine()
		}
		n := lineLen(s[i:])
		e.out = append(e.out, s[i:i+n]...)
		e.indention, afterBreak = false, false
		i += n
	}
}

// lineLen gives the length of s up to its first line break.
func lineLen(s []byte) int {
	n := bytes.IndexByte(s, '\n')
	if n < 0 {
		n = len(s)
	}
	if i := bytes.Index(s[:n], []byte("\xE2\x80")); i >= 0 {
		for ; i < n; i++ {
			if breakLen(s, i) > 0 {
				return i
			}
		}
	}
	return n
}

// chomping is the sign that says what becomes of the line breaks at the end.
func chomping(s []byte) string {
	if !endsInBreak(s) {
		return "-"
	}
	_, w := utf8.DecodeLastRune(s)
	if rest := s[:len(s)-w]; len(rest) == 0 || endsInBreak(rest) {
		return "+"
	}
	return ""
}
