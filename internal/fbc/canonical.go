package fbc

import (
	"bytes"

	"github.com/olmgraft/graft/internal/fbc/canonical"
)

// The fast path reads a document in opm's layout from its lines, without a parser. It understands block mappings
// and lists, plain and quoted texts, literal blocks and empty brackets. It gives up on everything else, and
// wherever it cannot be certain; then the parser reads the document. So a document that the fast path accepts is
// valid, and its meaning is certain.

const (
	deepest    = 100 // more levels than any catalog has
	longestKey = 128
	mostKeys   = 32 // at the top level of a document
)

// level is an open block collection.
type level struct {
	indent int
	list   bool
	last   []byte // last key, if order matters
}

func (v level) is(indent int, list bool) bool { return v.indent == indent && v.list == list }

// item is one item of the sought list at the top level of a document.
type item struct {
	start  int // offset of its line
	second int // offset of the line of its second key, or 0
	keys   int // number of keys, if the item is a mapping
}

// lines reads a document line by line.
type lines struct {
	text    []byte
	pos     int
	open    []level
	waiting bool // the last key has no value yet
	key     []byte
	keys    [mostKeys][]byte
	nkeys   int
	doc     *Doc         // document whose fields are set, or nil
	strict  bool         // accept opm's exact bytes only
	json    *jsonBuilder // receives the values, or nil

	sought string // key at the top level
	items  []item // of the sought list
	end    int    // offset at which the sought list ends
}

// indexCanonical sets the fields of a valid document in opm's layout. It reports false for any other document.
func (d *Doc) indexCanonical() bool {
	l := lines{text: d.raw, doc: d}
	if !canonical.Ordinary(d.raw) || !l.walk() || d.Schema == "" {
		d.Schema, d.Package, d.Name, d.Image = "", "", "", ""
		return false
	}
	d.canonical = true
	return true
}

// walk reads the whole document. It returns false if it does not understand it for certain.
func (l *lines) walk() bool {
	n := len(l.text)
	if n == 0 || l.text[n-1] != '\n' || l.text[0] == ' ' || l.text[0] == '-' {
		return false
	}
	var levels [16]level
	l.open = levels[:0]
	l.enter(level{})
	for l.pos < n {
		if !l.line() {
			return false
		}
	}
	if l.end == 0 {
		l.end = n
	}
	return !l.waiting
}

// line reads one line, or several if a text continues.
func (l *lines) line() bool {
	start, indent := l.pos, 0
	for l.text[l.pos] == ' ' { // a line feed ends the text
		l.pos++
		indent++
	}
	for l.top().indent > indent {
		if l.waiting {
			return false
		}
		l.leave()
	}
	if l.text[l.pos] == '-' && l.text[l.pos+1] == ' ' {
		if !l.enterList(indent) {
			return false
		}
		if len(l.open) == 2 && string(l.key) == l.sought {
			l.items = append(l.items, item{start: start})
		}
		return l.item(indent + 2)
	}
	if top := l.top(); top.list && top.indent == indent && !l.waiting {
		l.leave() // a list at the same indent as its key
	}
	if l.waiting {
		if outer := l.top().indent; indent <= outer || l.strict && indent != outer+2 {
			return false
		}
		l.enter(level{indent: indent})
		l.waiting = false
	}
	return len(l.open) <= deepest && l.top().is(indent, false) && l.pair(start)
}

func (l *lines) top() level { return l.open[len(l.open)-1] }

func (l *lines) enter(v level) {
	l.open = append(l.open, v)
	if l.json != nil {
		l.json.begin(v.list)
	}
}

func (l *lines) leave() {
	l.open = l.open[:len(l.open)-1]
	if l.json != nil {
		l.json.end()
	}
}

// enterList opens a list for a dash at indent, unless the list is already the innermost level.
func (l *lines) enterList(indent int) bool {
	if l.waiting {
		if outer := l.top().indent; indent < outer || l.strict && indent != outer {
			return false
		}
		l.enter(level{indent: indent, list: true})
		l.waiting = false
	}
	return len(l.open) <= deepest && l.top().is(indent, true)
}

// item reads the rest of a line after its dash.
func (l *lines) item(indent int) bool {
	l.pos += 2
	for l.text[l.pos] == '-' && l.text[l.pos+1] == ' ' {
		l.enter(level{indent: indent, list: true})
		indent += 2
		l.pos += 2
	}
	if _, after, ok := l.keyAt(); !ok || after < 0 {
		return ok && l.value()
	}
	l.enter(level{indent: indent})
	return len(l.open) <= deepest && l.pair(0)
}

// pair reads a key, and its value if the value begins on the same line. start is the offset of the line, or 0 if
// the line begins with a dash.
func (l *lines) pair(start int) bool {
	key, after, ok := l.keyAt()
	if !ok || after < 0 {
		return false
	}
	if len(l.open) == 1 && !l.topKey(key, start) {
		return false
	}
	if n := len(l.items); n > 0 && l.end == 0 && len(l.open) == 3 && !l.open[2].list {
		it := &l.items[n-1]
		if it.keys++; it.keys == 2 {
			it.second = start
		}
	}
	if l.strict && !l.exactKey(l.text[l.pos:after-1], key) {
		return false
	}
	if l.json != nil {
		l.json.key(string(key))
	}
	l.pos = after
	if l.text[l.pos] == '\n' {
		l.pos++
		l.waiting = true
		return len(l.open) > 1 || l.doc == nil || l.doc.takeText(key, []byte("{")) // the value is not a text on this line, and takeText refuses all others
	}
	l.pos++
	from := l.pos
	if !l.value() {
		return false
	}
	return len(l.open) > 1 || l.doc == nil || l.doc.takeText(key, l.text[from:l.pos-1])
}

// topKey records a key at the top level. It refuses a repeated key, ignoring case.
func (l *lines) topKey(key []byte, start int) bool {
	for _, k := range l.keys[:l.nkeys] {
		if bytes.EqualFold(k, key) {
			return false
		}
	}
	if l.nkeys == mostKeys || !letters(key) {
		return false
	}
	l.keys[l.nkeys] = key
	l.nkeys++
	if string(l.key) == l.sought && l.end == 0 {
		l.end = start
	}
	l.key = key
	return true
}

func letters(b []byte) bool {
	for _, c := range b {
		if c|0x20 < 'a' || c|0x20 > 'z' {
			return false
		}
	}
	return true
}

// takeText sets a field from its text as written in the document.
func (d *Doc) takeText(key, text []byte) bool {
	var into *string
	switch string(key) {
	case "schema":
		into = &d.Schema
	case "package":
		into = &d.Package
	case "name":
		into = &d.Name
	case "image":
		into = &d.Image
	default:
		_, known := d.field(foldKey(string(key)))
		return !known // a known key in another case
	}
	switch c := text[0]; {
	case bytes.IndexByte(text, '\n') >= 0, c == '|', c == '[', c == '{':
		return false
	case c == '\'' || c == '"':
		inner := text[1 : len(text)-1]
		if bytes.ContainsAny(inner, `\'`) {
			return false
		}
		*into = string(inner)
	default:
		if !canonical.IsText(text) {
			return false
		}
		*into = string(text)
	}
	return true
}

// keyAt returns the key at the current position and the offset after its colon. after is -1 if there may be a
// value but no key. ok is false if that is not certain.
func (l *lines) keyAt() (key []byte, after int, ok bool) {
	text := l.text[l.pos:]
	if c := text[0]; c == '"' || c == '\'' {
		return l.quotedKey(text, c)
	}
	for i, c := range text {
		switch c {
		case ':':
			if next := text[i+1]; next != ' ' && next != '\n' {
				continue
			}
			return text[:i], l.pos + i + 1, plainKey(text[:i])
		case ' ', '\n':
			// This is a text of several words; value checks whether a colon follows.
			return nil, -1, true
		}
		if i > longestKey {
			return nil, -1, true
		}
	}
	return nil, -1, false
}

func (l *lines) quotedKey(text []byte, quote byte) (key []byte, after int, ok bool) {
	n := bytes.IndexByte(text[1:], quote)
	if n < 0 {
		return nil, -1, false
	}
	key = text[1 : 1+n]
	rest := text[n+2:]
	if len(rest) < 2 || rest[0] != ':' {
		return nil, -1, true
	}
	ok = n > 0 && n <= longestKey && (rest[1] == ' ' || rest[1] == '\n') && !bytes.ContainsAny(key, "\\\n")
	return key, l.pos + n + 3, ok
}

// plainKey reports whether a key is certainly a string.
func plainKey(key []byte) bool {
	if len(key) == 0 || len(key) > longestKey || !startsPlain(key) || string(key) == "<<" {
		return false
	}
	return canonical.IsText(key)
}

// startsPlain reports whether a text of more than one character can begin like this without quotes.
func startsPlain(text []byte) bool {
	switch text[0] {
	case ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`', '?', ':':
		return false
	case '-':
		return len(text) > 1 && text[1] != ' ' && text[1] != '\n'
	}
	return true
}
