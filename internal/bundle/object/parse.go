package object

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// parse reads a tree from JSON. The JSON must be valid: encoding/json or the conversion from YAML has checked it.
// exact preserves the text of numbers. Otherwise they become what Kubernetes reads: int64 if that can hold them,
// else float64.
func parse(valid string, exact bool) (Value, error) {
	p := parser{src: valid, exact: exact}
	p.blanks()
	v := p.value()
	return v, p.err
}

// parser collects the members of open mappings and lists on one stack and stores complete ones in large chunks,
// so that a document needs few allocations.
type parser struct {
	src   string
	pos   int
	exact bool
	open  []Member
	chunk []Member
	err   error
}

func (p *parser) blanks() {
	for p.src[p.pos] <= ' ' {
		p.pos++
	}
}

func (p *parser) value() Value {
	switch p.src[p.pos] {
	case '{':
		return p.members(Map, '}')
	case '[':
		return p.members(List, ']')
	case '"':
		return Value{Kind: String, Text: p.str()}
	case 't':
		p.pos += len("true")
		return Value{Kind: Bool, Text: "true"}
	case 'f':
		p.pos += len("false")
		return Value{Kind: Bool, Text: "false"}
	case 'n':
		p.pos += len("null")
		return Value{}
	}
	return p.number()
}

func (p *parser) members(kind Kind, end byte) Value {
	mark := len(p.open)
	p.pos++
	for {
		p.blanks()
		switch p.src[p.pos] {
		case end:
			p.pos++
			return p.close(kind, mark)
		case ',':
			p.pos++
			p.blanks()
		}
		var key string
		if kind == Map {
			key = p.str()
			p.blanks()
			p.pos++ // the colon
			p.blanks()
		}
		v := p.value()
		p.open = append(p.open, Member{key, v})
	}
}

// close returns the members since mark as a complete list or mapping.
func (p *parser) close(kind Kind, mark int) Value {
	items := p.open[mark:]
	if kind == Map {
		items = sorted(items)
	}
	if len(items) > cap(p.chunk)-len(p.chunk) {
		// About as many members as a text of this size has, within a limit.
		p.chunk = make([]Member, 0, max(min(len(p.src)/32, 512), len(items)))
	}
	from := len(p.chunk)
	p.chunk = append(p.chunk, items...)
	p.open = p.open[:mark]
	return Value{Kind: kind, Items: p.chunk[from:len(p.chunk):len(p.chunk)]}
}

// sorted sorts members by key in place. The last of equal keys counts.
func sorted(items []Member) []Member {
	ordered := true
	for i := 1; i < len(items) && ordered; i++ {
		ordered = items[i-1].Key < items[i].Key
	}
	if ordered {
		return items
	}
	slices.SortStableFunc(items, func(a, b Member) int { return strings.Compare(a.Key, b.Key) })
	n := 0
	for i := range items {
		if i+1 < len(items) && items[i+1].Key == items[i].Key {
			continue
		}
		items[n] = items[i]
		n++
	}
	return items[:n]
}

// str reads a string. Most strings have no escapes and alias the source.
func (p *parser) str() string {
	start := p.pos + 1
	for i := start; ; i++ {
		switch c := p.src[i]; {
		case c == '"':
			p.pos = i + 1
			return p.src[start:i]
		case c == '\\', c >= utf8.RuneSelf:
			return p.escaped(start)
		}
	}
}

// escaped reads a string that has escapes or non-ASCII characters. It leaves rare content, such as halves of
// surrogate pairs and bytes that are not UTF-8, to encoding/json.
func (p *parser) escaped(start int) string {
	end := start
	for ; p.src[end] != '"'; end++ {
		if p.src[end] == '\\' {
			end++
		}
	}
	p.pos = end + 1
	raw := p.src[start:end]
	if !utf8.ValidString(raw) || strings.Contains(raw, `\ud`) || strings.Contains(raw, `\uD`) {
		var s string
		if err := json.Unmarshal([]byte(p.src[start-1:end+1]), &s); err != nil {
			p.err = err
		}
		return s
	}
	if strings.IndexByte(raw, '\\') < 0 {
		return raw
	}
	return unescape(raw)
}

func unescape(raw string) string {
	out := make([]byte, 0, len(raw))
	for {
		i := strings.IndexByte(raw, '\\')
		if i < 0 {
			return string(append(out, raw...))
		}
		out = append(out, raw[:i]...)
		c := raw[i+1]
		raw = raw[i+2:]
		switch c {
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		case 'r':
			out = append(out, '\r')
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'u':
			r, _ := strconv.ParseUint(raw[:4], 16, 16) // valid JSON has four digits here
			out = utf8.AppendRune(out, rune(r))
			raw = raw[4:]
		default:
			out = append(out, c)
		}
	}
}

func (p *parser) number() Value {
	start := p.pos
	for p.pos < len(p.src) && strings.IndexByte("+-.0123456789Ee", p.src[p.pos]) >= 0 {
		p.pos++
	}
	text := p.src[start:p.pos]
	if p.exact {
		if strings.ContainsAny(text, ".eE") {
			return Value{Kind: Float, Text: text}
		}
		return Value{Kind: Int, Text: text}
	}
	if !strings.Contains(text, ".") {
		if i, err := strconv.ParseInt(text, 10, 64); err == nil {
			return Value{Kind: Int, Text: strconv.FormatInt(i, 10)}
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		p.err = fmt.Errorf("the number %s is out of range", text)
		return Value{}
	}
	out, err := json.Marshal(f)
	if err != nil { // only infinities, for which ParseFloat returns an error
		p.err = err
	}
	return Value{Kind: Float, Text: string(out)}
}
