package yaml11

import (
	"bytes"
	"math"
	"strconv"
)

// maxYAMLKey is a length, in bytes, below which YAML's limit for the length of
// a key need not be looked at.
const maxYAMLKey = 1000

// jsonParser reads JSON as encoding/json does. With a tree it builds nodes,
// without one it only passes a value.
type jsonParser struct {
	src   []byte
	pos   int
	depth int
	t     *Tree
	odd   bool // YAML would read something in it otherwise
	loads bool // numbers must fit a float64, else opm cannot load them
	tmp   []byte
}

// ParseJSON parses one JSON value, with nothing but space after it.
func ParseJSON(src []byte) (*Tree, error) {
	t, _, err := parseJSON(src)
	return t, err
}

func parseJSON(src []byte) (t *Tree, odd bool, err error) {
	t = newTree(src)
	t.json = true
	p := jsonParser{src: src, t: t}
	defer catch(&err)
	p.space()
	t.root = p.value()
	p.space()
	if p.pos < len(src) {
		p.fail(p.pos, "JSON that goes on after its end")
	}
	t.end = p.pos
	return t, p.odd, nil
}

// Member is one key of a JSON object and the range of its value.
type Member struct {
	Key        []byte
	Start, End int
}

// Members appends the keys of the JSON object at pos to dst, and gives the
// offset after the object.
func Members(dst []Member, src []byte, pos int) (_ []Member, end int, err error) {
	p := jsonParser{src: src, pos: pos, loads: true}
	defer catch(&err)
	p.expect('{', "an object")
	return p.members(dst), p.pos, nil
}

// Elements calls take for each element of the JSON list at pos. Of an element
// that is an object it gives the keys as well, in memory that is used again.
func Elements(src []byte, pos int, take func(start, end int, members []Member)) (err error) {
	p := jsonParser{src: src, pos: pos, loads: true}
	defer catch(&err)
	p.expect('[', "a list")
	var members []Member
	p.list(']', func() {
		start := p.pos
		members = members[:0]
		if p.at() == '{' {
			p.pos++
			members = p.members(members)
		} else {
			p.value()
		}
		take(start, p.pos, members)
	})
	return nil
}

func (p *jsonParser) members(dst []Member) []Member {
	p.list('}', func() {
		key := p.key()
		start := p.pos
		p.value()
		dst = append(dst, Member{key, start, p.pos})
	})
	return dst
}

// SkipSpace gives the offset of the first byte at or after pos that is no JSON
// white space.
func SkipSpace(src []byte, pos int) int {
	p := jsonParser{src: src, pos: pos}
	p.space()
	return p.pos
}

// JSONString gives the text of the JSON string that src is, false if it is none.
func JSONString(src []byte) (text []byte, ok bool) {
	if len(src) == 0 || src[0] != '"' {
		return nil, false
	}
	p := jsonParser{src: src}
	var err error
	func() {
		defer catch(&err)
		text = p.text()
	}()
	return text, err == nil && p.pos == len(src)
}

func (p *jsonParser) fail(pos int, format string, args ...any) {
	panic(fault(p.src, pos, format, args...))
}

func (p *jsonParser) at() byte {
	if p.pos < len(p.src) {
		return p.src[p.pos]
	}
	return 0
}

func (p *jsonParser) space() {
	for p.pos < len(p.src) {
		switch p.src[p.pos] {
		case ' ', '\t', '\r', '\n':
			p.pos++
		default:
			return
		}
	}
}

func (p *jsonParser) expect(c byte, what string) {
	if p.at() != c {
		if p.pos == len(p.src) {
			p.fail(p.pos, "JSON that ends where %s was expected", what)
		}
		p.fail(p.pos, "JSON in which %s was expected, not %q", what, p.src[p.pos])
	}
	p.pos++
}

// list passes the parts of a collection and the bracket that closes it.
func (p *jsonParser) list(end byte, part func()) {
	if p.depth++; p.depth > maxDepth {
		p.fail(p.pos, "more than %d collections inside each other", maxDepth)
	}
	p.space()
	if p.at() == end {
		p.pos++
		p.depth--
		return
	}
	for {
		p.space()
		part()
		p.space()
		if p.at() == end {
			p.pos++
			p.depth--
			return
		}
		p.expect(',', "a comma")
	}
}

// key passes a key and its colon, and the space after it.
func (p *jsonParser) key() []byte {
	if p.at() != '"' {
		p.expect('"', "a key in quotes")
	}
	key := p.text()
	p.odd = p.odd || len(key) > maxYAMLKey
	p.space()
	p.expect(':', "a colon")
	p.space()
	return key
}

func (p *jsonParser) add(n node) int32 {
	if p.t == nil {
		return 0
	}
	if len(p.t.nodes) > maxNodes {
		p.fail(int(n.pos), "more than %d values in one document", maxNodes)
	}
	p.t.nodes = append(p.t.nodes, n)
	return int32(len(p.t.nodes) - 1)
}

func (p *jsonParser) value() int32 {
	pos := int32(p.pos)
	switch c := p.at(); c {
	case '{':
		p.pos++
		i := p.add(node{kind: mapping, pos: pos})
		p.object(i)
		return i
	case '[':
		p.pos++
		i := p.add(node{kind: sequence, pos: pos})
		p.array(i)
		return i
	case '"':
		if p.t == nil {
			p.skipText()
			return 0
		}
		return p.add(node{kind: scalar, pos: pos, val: p.text()})
	case 't':
		p.word("true")
	case 'f':
		p.word("false")
	case 'n':
		p.word("null")
	default:
		p.number()
	}
	return p.add(node{kind: scalar, pos: pos, val: p.src[pos:p.pos], implicit: true})
}

func (p *jsonParser) object(i int32) {
	last := int32(0)
	p.list('}', func() {
		if p.t == nil {
			p.expect('"', "a key in quotes")
			p.pos--
			p.skipText()
			p.space()
			p.expect(':', "a colon")
			p.space()
			p.value()
			return
		}
		pos := int32(p.pos)
		last = p.t.link(i, last, p.add(node{kind: scalar, pos: pos, val: p.key()}))
		last = p.t.link(i, last, p.value())
	})
}

func (p *jsonParser) array(i int32) {
	last := int32(0)
	p.list(']', func() {
		if v := p.value(); v != 0 {
			last = p.t.link(i, last, v)
		}
	})
}

func (p *jsonParser) word(w string) {
	if !bytes.HasPrefix(p.src[p.pos:], []byte(w)) {
		p.fail(p.pos, "JSON in which a value was expected")
	}
	p.pos += len(w)
}

func (p *jsonParser) number() {
	start := p.pos
	if p.at() == '-' {
		p.pos++
	}
	digits := func() int {
		from := p.pos
		for p.at() >= '0' && p.at() <= '9' {
			p.pos++
		}
		return p.pos - from
	}
	lead := p.at()
	if n := digits(); n == 0 || lead == '0' && n > 1 {
		p.fail(start, "JSON in which a value was expected")
	}
	if p.at() == '.' {
		p.pos++
		if digits() == 0 {
			p.fail(start, "a number that ends in its dot")
		}
	}
	huge := p.pos-start > 300
	if p.at() == 'e' || p.at() == 'E' {
		huge = true
		p.pos++
		if p.at() == '+' || p.at() == '-' {
			p.pos++
		}
		if digits() == 0 {
			p.fail(start, "a number without its exponent")
		}
	}
	if huge && p.loads {
		if f, _ := strconv.ParseFloat(string(p.src[start:p.pos]), 64); math.IsInf(f, 0) {
			p.fail(start, "a number that is too large")
		}
	}
}
