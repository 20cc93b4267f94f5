package canonical

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// traits are the properties of a text that decide its form.
type traits struct {
	plain  bool // allowed without quotes
	single bool // allowed in single quotes
	block  bool // allowed as a literal block
	rare   bool // left to the library: the text has a BOM, or line breaks other than line feeds
}

// text writes a text in the form that opm's library chooses: plain if it reads back as the same text, as a
// literal block if it contains line feeds, otherwise quoted.
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
	case tr.rare:
		e.rare = true
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

// special marks the bytes that examine has to check.
var special = func() (t [256]bool) {
	for i := range t {
		t[i] = i <= ' ' || i >= 0x7F || i == ':' || i == '#'
	}
	return t
}()

// examine returns the forms in which s can be written. s must not be empty.
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
	last := len(s) - 1
	for i := 0; i <= last; i++ {
		if !special[s[i]] {
			continue
		}
		switch s[i] {
		case ' ':
			tr.plain = tr.plain && i > 0 && i < last
			tr.block = tr.block && i < last
			if i > 0 && s[i-1] == '\n' {
				tr.plain, tr.single = false, false
			}
		case ':':
			tr.plain = tr.plain && (i == 0 || i < last && !isBlank(s[i+1]) && s[i+1] != '\n')
		case '#':
			tr.plain = tr.plain && (i == 0 || !isBlank(s[i-1]) && s[i-1] != '\n' && s[i-1] != 0)
		case '\n':
			tr.plain = false
			if i > 0 && s[i-1] == ' ' {
				tr.single, tr.block = false, false
			}
		default:
			i += tr.other(s[i:]) - 1
		}
	}
	return tr
}

// other checks a control or non-ASCII character and returns its length.
func (tr *traits) other(s []byte) int {
	r, w := utf8.DecodeRune(s)
	switch {
	case r == '\r', r == 0x85, r == 0x2028, r == 0x2029, r == 0xFEFF:
		tr.rare = true
	case !printable(r):
		tr.plain, tr.single, tr.block = false, false, false
	}
	return w
}

// printable reports whether a character is written as it is. Control characters other than the line feed, and
// characters beyond the basic plane, are not.
func printable(r rune) bool {
	return r == '\n' || r >= ' ' && r <= '~' || r >= 0xA0 && r < 0xFFFE && r != 0xFEFF
}

// isBase60 reports whether older readers would take s for a base 60 number.
func isBase60(s []byte) bool {
	c := s[0]
	return (c >= '0' && c <= '9' || c == '+' || c == '-') && bytes.IndexByte(s, ':') >= 0 && base60.Match(s)
}

var base60 = regexp.MustCompile(`^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$`)

// put appends characters and counts each as one column.
func (e *emitter) put(s []byte) {
	e.out = append(e.out, s...)
	e.line += len(s) - utf8.RuneCount(s)
}

// fold reports whether a line is long enough to end at the space at i.
func (e *emitter) fold(i, n int, folding, afterSpace bool) bool {
	return folding && !afterSpace && i > 0 && i < n-1 && e.column() > bestWidth
}

// plain writes a text without line feeds unquoted, folded at spaces.
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

// single writes a text without line feeds in single quotes.
func (e *emitter) single(s []byte, folding bool) {
	e.indicator("'", true, false)
	afterSpace := false
	for i := 0; i < len(s); {
		_, n := utf8.DecodeRune(s[i:])
		switch {
		case s[i] != ' ':
			if s[i] == '\'' {
				e.out = append(e.out, '\'')
			}
			e.put(s[i : i+n])
			e.indention = false
		case e.fold(i, len(s), folding, afterSpace) && s[i+1] != ' ':
			e.newLine()
		default:
			e.out = append(e.out, ' ')
		}
		afterSpace = s[i] == ' '
		i += n
	}
	e.indicator("'", false, false)
	e.whitespace, e.indention = false, false
}

// double writes a text in double quotes and escapes everything that is not printable.
func (e *emitter) double(s []byte, folding bool) {
	e.indicator(`"`, true, false)
	afterSpace := false
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRune(s[i:])
		switch {
		case r == '"' || r == '\\' || r == '\n' || !printable(r):
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
	0: `\0`, '\a': `\a`, '\b': `\b`, '\t': `\t`, '\n': `\n`, '\v': `\v`, '\f': `\f`, 0x1B: `\e`, '"': `\"`, '\\': `\\`,
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

// literal writes a text as a literal block, line by line.
func (e *emitter) literal(s []byte) {
	e.indicator("|", true, false)
	if s[0] == ' ' || s[0] == '\n' {
		e.indicator("2", false, false)
	}
	e.indicator(chomping(s), false, false)
	e.lineBreak()
	for line := range bytes.Lines(s) {
		if line[0] != '\n' {
			e.indention, e.whitespace = true, true
			e.newLine()
		}
		e.out = append(e.out, line...)
		e.line = len(e.out)
	}
	ends := s[len(s)-1] == '\n'
	e.indention, e.whitespace = ends, true
	if !ends {
		e.line = bytes.LastIndexByte(e.out, '\n') + 1
	}
}

// chomping returns the indicator for the line feeds at the end of a literal block.
func chomping(s []byte) string {
	switch {
	case s[len(s)-1] != '\n':
		return "-"
	case len(s) == 1 || s[len(s)-2] == '\n':
		return "+"
	}
	return ""
}
