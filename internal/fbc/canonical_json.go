package fbc

import (
	"bytes"
	"slices"

	"github.com/olmgraft/graft/internal/fbc/canonical"
	"github.com/olmgraft/graft/internal/yamlread"
)

// YAMLToJSON converts the first document of a text as yamlread does within the bounds. It takes the fast path if
// that understands the text.
func YAMLToJSON(text []byte, within yamlread.Bound) ([]byte, error) {
	if out, ok := canonicalJSON(bytes.TrimPrefix(text, []byte("---\n")), false); ok {
		return out, nil
	}
	return within.ToJSON(text)
}

// canonicalJSON returns the JSON of a document in opm's layout, as the library would write it. It returns false
// if the fast path does not understand the document. With loaded, numbers pass through float64, as when opm loads
// a catalog.
func canonicalJSON(text []byte, loaded bool) ([]byte, bool) {
	j := jsonBuilder{out: make([]byte, 0, len(text)+len(text)/8), loaded: loaded}
	l := lines{text: text, json: &j}
	if !canonical.Ordinary(text) || !l.walk() {
		return nil, false
	}
	for len(l.open) > 0 {
		l.leave()
	}
	return j.out, !j.failed
}

// jsonBuilder writes the values that lines reads as JSON.
type jsonBuilder struct {
	out    []byte
	open   []collection
	loaded bool
	failed bool // a value was not certain
}

// collection is an open list or mapping.
type collection struct {
	list    bool
	count   int
	start   int      // offset of its content
	members []member // of a mapping
}

type member struct {
	key string
	at  int // offset at which it begins
}

// next writes the comma between two items of a list.
func (j *jsonBuilder) next() {
	if n := len(j.open); n > 0 && j.open[n-1].list {
		if j.open[n-1].count++; j.open[n-1].count > 1 {
			j.out = append(j.out, ',')
		}
	}
}

func (j *jsonBuilder) begin(list bool) {
	j.next()
	j.out = append(j.out, map[bool]byte{true: '[', false: '{'}[list])
	j.open = append(j.open, collection{list: list, start: len(j.out)})
}

func (j *jsonBuilder) key(text string) {
	c := &j.open[len(j.open)-1]
	if len(c.members) > 0 {
		j.out = append(j.out, ',')
	}
	c.members = append(c.members, member{text, len(j.out)})
	j.out = append(canonical.AppendString(j.out, text, false), ':')
}

// end closes a collection. It sorts the keys of a mapping; the last of equal keys counts.
func (j *jsonBuilder) end() {
	c := j.open[len(j.open)-1]
	j.open = j.open[:len(j.open)-1]
	if c.list {
		j.out = append(j.out, ']')
		return
	}
	for i := 1; i < len(c.members); i++ {
		if c.members[i-1].key >= c.members[i].key {
			j.arrange(c)
			break
		}
	}
	j.out = append(j.out, '}')
}

func (j *jsonBuilder) arrange(c collection) {
	body := bytes.Clone(j.out[c.start:])
	parts := map[string][]byte{}
	for i, m := range c.members {
		end := len(body)
		if i+1 < len(c.members) {
			end = c.members[i+1].at - c.start - 1
		}
		parts[m.key] = body[m.at-c.start : end]
	}
	keys := make([]string, 0, len(parts))
	for key := range parts {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	j.out = j.out[:c.start]
	for i, key := range keys {
		if i > 0 {
			j.out = append(j.out, ',')
		}
		j.out = append(j.out, parts[key]...)
	}
}

func (j *jsonBuilder) text(s []byte) {
	j.next()
	j.out = canonical.AppendString(j.out, string(s), false)
}

// plain writes an unquoted value, which may be a string, number, boolean or null.
func (j *jsonBuilder) plain(s []byte) {
	folded, ok := canonical.Fold(s)
	if !ok {
		j.failed = true
		return
	}
	if value := canonical.JSONOf(folded, j.loaded); value != nil {
		j.next()
		j.out = append(j.out, value...)
		return
	}
	j.text(folded)
}

func (j *jsonBuilder) quoted(s []byte) {
	text, ok := canonical.Unquote(s)
	if j.failed = j.failed || !ok; ok {
		j.text(text)
	}
}

// literal writes a literal block. body is the lines below the header; indent is their indentation.
func (j *jsonBuilder) literal(header string, body []byte, indent int) {
	text := make([]byte, 0, len(body))
	for line := range bytes.Lines(body) {
		text = append(text, line[min(indent, leading(line)):]...)
	}
	switch kept := bytes.TrimRight(text, "\n"); {
	case header[len(header)-1] == '-':
		text = kept
	case header[len(header)-1] != '+':
		text = text[:min(len(kept)+1, len(text))]
		if len(kept) == 0 {
			text = nil
		}
	}
	j.text(text)
}

func (j *jsonBuilder) empty(bracket byte) {
	j.next()
	j.out = append(j.out, bracket, bracket+2)
}
