package fbc

import (
	"bytes"

	"github.com/olmgraft/graft/internal/fbc/canonical"
)

// value reads a value at the current position and moves to the next line.
func (l *lines) value() bool {
	switch c := l.text[l.pos]; c {
	case '\'', '"':
		return l.quoted(c)
	case '|':
		return l.literal()
	case '[', '{':
		if next := l.text[l.pos+1]; next != c+2 {
			return false
		}
		l.pos += 2
		if l.json != nil {
			l.json.empty(c)
		}
		return l.lineEnd()
	case ' ', '\n':
		return false
	}
	return l.plain()
}

// quoted reads a quoted text.
func (l *lines) quoted(quote byte) bool {
	from, column := l.pos, 0
	if l.strict {
		column = l.column()
	}
	if quote == '"' && !l.doubleQuoted() || quote == '\'' && !l.singleQuoted() {
		return false
	}
	if l.strict && !canonical.WrittenQuoted(l.text[from:l.pos], l.top().indent, column, false) {
		return false
	}
	if l.json != nil {
		l.json.quoted(l.text[from:l.pos])
	}
	return l.lineEnd()
}

func (l *lines) lineEnd() bool {
	if l.pos >= len(l.text) || l.text[l.pos] != '\n' {
		return false
	}
	l.pos++
	return true
}

// plain reads an unquoted text. It continues on the following lines that are indented further.
func (l *lines) plain() bool {
	if !startsPlain(l.text[l.pos:]) {
		return false
	}
	indent, from := l.top().indent, l.pos
	start := bytes.LastIndexByte(l.text[:l.pos], '\n') + 1
	for first := true; ; first = false {
		n := bytes.IndexByte(l.text[l.pos:], '\n')
		line := l.text[l.pos : l.pos+n]
		if !plainLine(line) || first && oddNumber(line) {
			return false
		}
		end := l.pos + n
		next := end + 1
		for next < len(l.text) && l.text[next] == ' ' {
			next++
		}
		more := next < len(l.text) && (next-end-1 > indent || l.text[next] == '\n')
		if more && (l.text[next] == '\n' || l.text[next] == '#') {
			return false
		}
		if l.strict && !l.exactPlain(start, end, first, more, next) {
			return false
		}
		l.pos = end + 1
		if !more {
			if l.json != nil {
				l.json.plain(l.text[from:end])
			}
			return true
		}
		start, l.pos = end+1, next
	}
}

// plainLine reports whether nothing in a line ends an unquoted text.
func plainLine(line []byte) bool {
	n := len(line)
	if n == 0 || line[n-1] == ' ' || line[n-1] == ':' {
		return false
	}
	for i := 0; i < n; {
		at := bytes.IndexByte(line[i:], ':')
		if at < 0 {
			break
		}
		i += at + 1
		if line[i] == ' ' {
			return false
		}
	}
	for i := 0; i < n; {
		at := bytes.IndexByte(line[i:], '#')
		if at < 0 {
			break
		}
		if i += at + 1; i >= 2 && line[i-2] == ' ' {
			return false
		}
	}
	return true
}

// oddNumber reports whether a text may be .inf or .nan, which JSON lacks.
func oddNumber(line []byte) bool {
	return len(line) <= len("-.inf") && bytes.IndexByte([]byte("+-."), line[0]) >= 0 && bytes.ContainsAny(line, "fFnN")
}

// singleQuoted reads a text in single quotes.
func (l *lines) singleQuoted() bool {
	for l.pos++; ; l.pos += 2 {
		n := bytes.IndexByte(l.text[l.pos:], '\'')
		if n < 0 || !quotedLines(l.text[l.pos:l.pos+n]) {
			return false
		}
		l.pos += n
		if l.text[l.pos+1] != '\'' {
			l.pos++
			return true
		}
	}
}

// doubleQuoted reads a text in double quotes.
func (l *lines) doubleQuoted() bool {
	l.pos++
	for from := l.pos; l.pos < len(l.text); {
		switch l.text[l.pos] {
		case '"':
			l.pos++
			return quotedLines(l.text[from : l.pos-1])
		case '\\':
			if !quotedLines(l.text[from:l.pos]) || !l.escape() {
				return false
			}
			from = l.pos
		default:
			l.pos++
		}
	}
	return false
}

// quotedLines reports whether no line of a quoted text could be taken for the end of the document.
func quotedLines(text []byte) bool {
	for {
		n := bytes.IndexByte(text, '\n')
		if n < 0 {
			return true
		}
		text = text[n+1:]
		if len(text) > 0 && text[0] != ' ' {
			return false
		}
	}
}

// escape reads a backslash and its escape.
func (l *lines) escape() bool {
	digits := 0
	switch l.text[l.pos+1] {
	case '0', 'a', 'b', 't', 'n', 'v', 'f', 'r', 'e', ' ', '"', '\'', '\\', 'N', '_', 'L', 'P':
	case '\n':
		l.pos += 2
		return l.text[l.pos] == ' '
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	default:
		return false
	}
	l.pos += 2
	if len(l.text)-l.pos <= digits {
		return false
	}
	code := l.text[l.pos : l.pos+digits]
	for _, c := range code {
		if (c < '0' || c > '9') && (c < 'A' || c > 'F') && (c < 'a' || c > 'f') {
			return false
		}
	}
	l.pos += digits
	switch digits {
	case 4:
		return code[0]|0x20 != 'd' || code[1] < '8'
	case 8: // opm uses this escape only for characters beyond the first plane
		return string(code[:3]) == "000" && code[3] != '0' || string(code[:4]) == "0010"
	}
	return true
}

// literal reads a literal block.
func (l *lines) literal() bool {
	n := bytes.IndexByte(l.text[l.pos:], '\n')
	header, hint := string(l.text[l.pos:l.pos+n]), false
	switch header {
	case "|", "|-", "|+":
	case "|2", "|2-", "|2+":
		hint = true
	default:
		return false
	}
	l.pos += n + 1
	from := l.pos
	outer := l.top().indent
	indent := outer + 2
	if !hint {
		first := l.pos
		for first < len(l.text) && l.text[first] == '\n' {
			first++
		}
		if indent = leading(l.text[first:]); indent <= outer || l.text[first+indent] == '\n' {
			return false
		}
	}
	for l.pos < len(l.text) {
		rest := l.text[l.pos:]
		got := leading(rest)
		if got < indent && rest[got] != '\n' {
			break
		}
		l.pos += got + bytes.IndexByte(rest[got:], '\n') + 1
	}
	if l.json != nil {
		l.json.literal(header, l.text[from:l.pos], indent)
	}
	return !l.strict || l.pos > from && indent == outer+2 && exactLiteral(header, l.text[from:l.pos], indent)
}

// leading counts the spaces at the start of text, which ends in a line feed.
func leading(text []byte) int {
	n := 0
	for n < len(text) && text[n] == ' ' {
		n++
	}
	return n
}
