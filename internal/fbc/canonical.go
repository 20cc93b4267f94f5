package fbc

import (
	"bytes"

	"github.com/olmgraft/graft/internal/fbc/canonical"
)

// The fast path: a document in the layout that opm writes is understood from
// its lines, without a parser. It knows block mappings and lists, plain and
// quoted texts, literal blocks and empty brackets. Whatever else there is, and
// whatever leaves a doubt, makes it give up, and the parser has its turn; so a
// document that it accepts is valid and means what it says.

const (
	deepest    = 100 // more levels than any catalog has
	longestKey = 128
	mostKeys   = 32 // at the top of a document
)

// level is a block collection that is open.
type level struct {
	indent int
	list   bool
	last   []byte // key, where order matters
}

func (v level) is(indent int, list bool) bool { return v.indent == indent && v.list == list }

// item is one item of the list at the top of a document that is sought.
type item struct {
	start  int // of its line
	second int // of the line of its second key, 0 for none
	keys   int // if it is a mapping
}

// lines walks through a document.
type lines struct {
	text    []byte
	pos     int
	open    []level
	waiting bool // the last key has no value yet
	key     []byte
	keys    [mostKeys][]byte
	nkeys   int
	doc     *Doc         // whose fields are filled in, or nil
	strict  bool         // nothing is accepted but opm's bytes
	json    *jsonBuilder // takes down what is passed, or nil

	sought string // a key at the top
	items  []item // of its list
	end    int    // of the list
}

// indexCanonical fills in the fields of the document if it is in opm's layout
// and all right, and tells whether it is.
func (d *Doc) indexCanonical() bool {
	l := lines{text: d.raw, doc: d}
	if !canonical.Ordinary(d.raw) || !l.walk() || d.Schema == "" {
		d.Schema, d.Package, d.Name, d.Image = "", "", "", ""
		return false
	}
	d.canonical = true
	return true
}

// walk passes the whole document, and is false when there is a doubt.
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

// line passes one line, or more when a text goes on.
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
		l.leave() // a list flush with its key
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

// enterList makes the list that has a dash at indent the innermost level.
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

// item passes what follows a dash.
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

// pair passes a key, and its value if that begins on the same line. The line
// begins at start, 0 if it begins with a dash.
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
		return len(l.open) > 1 || l.doc == nil || l.doc.takeText(key, []byte("{")) // no text, whatever it is
	}
	l.pos++
	from := l.pos
	if !l.value() {
		return false
	}
	return len(l.open) > 1 || l.doc == nil || l.doc.takeText(key, l.text[from:l.pos-1])
}

// topKey notes a key at the top; none may occur twice, in any case.
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

// takeText fills in a field from its text as it stands in the document.
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
		return !known // in another case
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

// keyAt finds the key at the current position and what follows its colon. after
// is -1 when there is no key but perhaps a value; ok is false when in doubt.
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
			// A text of several words; value finds out if a colon follows.
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

// plainKey tells whether a key is a text without doubt.
func plainKey(key []byte) bool {
	if len(key) == 0 || len(key) > longestKey || !startsPlain(key) || string(key) == "<<" {
		return false
	}
	return canonical.IsText(key)
}

// startsPlain tells whether a text with more than one character can begin so
// without quotes.
func startsPlain(text []byte) bool {
	switch text[0] {
	case ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`', '?', ':':
		return false
	case '-':
		return len(text) > 1 && text[1] != ' ' && text[1] != '\n'
	}
	return true
}
