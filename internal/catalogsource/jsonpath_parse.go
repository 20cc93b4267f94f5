package catalogsource

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// pathParser reads an expression from left to right. Its odd rules are client-go's.
type pathParser struct {
	text string
	at   int
}

// parsePath returns texts, and one steps for each {}.
func parsePath(text string) ([]pathNode, error) {
	p := &pathParser{text: text}
	var nodes []pathNode
	for p.at < len(p.text) {
		before, _, found := strings.Cut(p.rest(), "{")
		if before != "" {
			nodes = append(nodes, literal{before})
		}
		p.at += len(before)
		if !found {
			break
		}
		p.at++
		action, err := p.action()
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, action)
	}
	return nodes, nil
}

// parseAction returns the first action of {text}. A brace in the text ends it.
func parseAction(text string) (steps, error) {
	nodes, err := parsePath("{" + text + "}")
	if err != nil {
		return nil, err
	}
	return nodes[0].(steps), nil
}

func (p *pathParser) rest() string { return p.text[p.at:] }

const eof = -1

func (p *pathParser) next() rune {
	if p.at >= len(p.text) {
		return eof
	}
	r, width := utf8.DecodeRuneInString(p.rest())
	p.at += width
	return r
}

func (p *pathParser) peek() rune {
	before := p.at
	r := p.next()
	p.at = before
	return r
}

// action reads up to the closing brace.
func (p *pathParser) action() (steps, error) {
	out := steps{}
	for {
		var more []pathNode
		var err error
		rest := p.rest()
		switch r := p.next(); {
		case r == '}':
			return out, nil
		case r == eof || r == '\n' || r == '\r':
			return nil, errors.New("a brace is not closed")
		case strings.HasPrefix(rest, "[?("):
			p.at += len("?(")
			more, err = one(p.filter())
		case strings.HasPrefix(rest, ".."):
			p.at++
			more, err = p.descent(out)
		case r == ' ' || r == '@' || r == '$':
		case r == '[':
			more, err = p.brackets()
		case r == '"' || r == '\'':
			more, err = one(p.quoted(r))
		case r == '.':
			more = []pathNode{p.field()}
		case r == '+' || r == '-' || unicode.IsDigit(r):
			p.at -= utf8.RuneLen(r)
			more, err = one(p.number())
		case isWord(r):
			p.at -= utf8.RuneLen(r)
			more = []pathNode{p.word()}
		default:
			return nil, fmt.Errorf("%q does not begin a step", r)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
}

func one(n pathNode, err error) ([]pathNode, error) { return []pathNode{n}, err }

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

func isTerminator(r rune) bool { return r == eof || strings.ContainsRune(" \t\r\n.,[]$@{}", r) }

// field reads the name after a dot. A backslash removes the special meaning of the next character.
func (p *pathParser) field() pathNode {
	begin := p.at
	for !isTerminator(p.peek()) {
		if p.next() == '\\' {
			p.next()
		}
	}
	name := p.text[begin:p.at]
	if name == "*" {
		return wildcard{}
	}
	return fieldOf(strings.ReplaceAll(name, `\`, ""))
}

func (p *pathParser) descent(before steps) ([]pathNode, error) {
	if len(before) > 0 {
		if _, twice := before[len(before)-1].(descent); twice {
			return nil, errors.New("a second .. follows the first")
		}
	}
	if isWord(p.peek()) {
		return []pathNode{descent{}, p.field()}, nil
	}
	return []pathNode{descent{}}, nil
}

func (p *pathParser) word() pathNode {
	begin := p.at
	for !isTerminator(p.peek()) {
		p.next()
	}
	text := p.text[begin:p.at]
	if text == "true" || text == "false" {
		return literal{text == "true"}
	}
	return word(text)
}

func (p *pathParser) number() (pathNode, error) {
	begin := p.at
	if r := p.peek(); r == '+' || r == '-' {
		p.next()
	}
	for r := p.peek(); r == '.' || unicode.IsDigit(r); r = p.peek() {
		p.next()
	}
	text := p.text[begin:p.at]
	if i, err := strconv.Atoi(text); err == nil {
		return literal{i}, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, fmt.Errorf("%s is not a number", text)
	}
	return literal{f}, nil
}

func (p *pathParser) quoted(quote rune) (pathNode, error) {
	begin := p.at
	for {
		switch r := p.next(); {
		case r == eof || r == '\n':
			return nil, errors.New("a quote is not closed")
		case r == quote && p.text[p.at-2] != '\\':
			text, err := unquote(p.text[begin:p.at-1], byte(quote)) //nolint:gosec // one of the two quotes
			return literal{text}, err
		}
	}
}

func unquote(s string, quote byte) (string, error) {
	if !strings.ContainsRune(s, '\\') {
		return s, nil
	}
	var out []byte
	for s != "" {
		r, multibyte, rest, err := strconv.UnquoteChar(s, quote)
		if err != nil {
			return "", fmt.Errorf("the text in quotes has an unknown escape: %s", s)
		}
		if s = rest; r < utf8.RuneSelf || !multibyte {
			out = append(out, byte(r)) //nolint:gosec // \xff is a single byte
		} else {
			out = utf8.AppendRune(out, r)
		}
	}
	return string(out), nil
}

var (
	keyGrammar   = regexp.MustCompile(`^'([^']*)'$`)
	sliceGrammar = regexp.MustCompile(`^(-?[0-9]*)(:-?[0-9]*)?(:-?[0-9]*)?$`)
)

// brackets reads a union, a quoted key, a slice or an index.
func (p *pathParser) brackets() ([]pathNode, error) {
	inside, _, found := strings.Cut(p.rest(), "]")
	if !found || strings.Contains(inside, "\n") {
		return nil, errors.New("a bracket is not closed")
	}
	p.at += len(inside) + 1
	if inside == "*" {
		inside = ":"
	}
	if parts := strings.Split(inside, ","); len(parts) > 1 {
		var all union
		for _, part := range parts {
			one, err := parseAction("[" + strings.Trim(part, " ") + "]")
			if err != nil {
				return nil, err
			}
			all = append(all, one)
		}
		return []pathNode{all}, nil
	}
	if key := keyGrammar.FindStringSubmatch(inside); key != nil {
		return parseAction("." + key[1])
	}
	m := sliceGrammar.FindStringSubmatch(inside)
	if m == nil {
		return nil, fmt.Errorf("[%s] is not an index, a slice or a quoted key", inside)
	}
	return one(sliceOf(m[1], m[2], m[3]))
}

// sliceOf reads first, :end and :step. An index is a slice with one item.
func sliceOf(first, end, step string) (s slice, err error) {
	for i, text := range []string{first, strings.TrimPrefix(end, ":"), strings.TrimPrefix(step, ":")} {
		if text == "" {
			continue
		}
		s[i].known = true
		if s[i].value, err = strconv.Atoi(text); err != nil {
			return s, fmt.Errorf("%s is not the number of an item", text)
		}
	}
	if end == "" {
		s[1] = bound{s[0].value + 1, true, true}
	}
	return s, nil
}

var filterGrammar = regexp.MustCompile(`^([^!<>=]+)([!<>=]+)(.+?)$`)

// filter reads the content of [?( )]. A parenthesis inside the first pair of quotes is text.
func (p *pathParser) filter() (pathNode, error) {
	begin, opened, closed, quote := p.at, false, false, rune(0)
	for ended := false; !ended; {
		switch r := p.next(); {
		case r == eof || r == '\n':
			return nil, errors.New("a filter is not closed")
		case (r == '"' || r == '\'') && !opened:
			opened, quote = true, r
		case r == quote && opened && p.text[p.at-2] != '\\':
			closed = true
		case r == ')':
			ended = opened == closed
		}
	}
	text := p.text[begin : p.at-1]
	if p.next() != ']' {
		return nil, errors.New("a filter must end with )]")
	}
	m := filterGrammar.FindStringSubmatch(text)
	if m == nil {
		left, err := parseAction(text)
		return filter{left: left}, err
	}
	left, err := parseAction(m[1])
	if err != nil {
		return nil, err
	}
	right, err := parseAction(m[3])
	return filter{left, right, m[2]}, err
}
