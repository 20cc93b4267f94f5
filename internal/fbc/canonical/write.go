package canonical

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// FromJSON converts JSON to YAML as sigs.k8s.io/yaml.JSONToYAML does: block style, sorted keys, lists at the
// indent of their key, long lines folded at 80 columns. It leaves documents with features that are rare in
// catalogs to that library.
func FromJSON(src []byte) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(src))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if rest := bytes.TrimSpace(src[dec.InputOffset():]); len(rest) > 0 {
		return nil, errors.New("JSON that goes on after its end")
	}
	e := emitter{out: make([]byte, 0, len(src)+len(src)/4+64), indent: -1, whitespace: true, indention: true, rare: !ordinaryJSON(src)}
	if !e.rare {
		e.value(v, false)
		e.indent = 0
		e.newLine()
	}
	if e.rare {
		return yaml.JSONToYAML(src)
	}
	return e.out, nil
}

// ordinaryJSON reports whether YAML reads a JSON text as JSON does: the text has no characters that only JSON
// accepts, and no escapes that YAML lacks.
func ordinaryJSON(src []byte) bool {
	if !Ordinary(src) {
		return false
	}
	for rest := src; ; {
		i := bytes.IndexByte(rest, '\\')
		if i < 0 || i+1 == len(rest) {
			return true
		}
		if rest[i+1] == '/' || rest[i+1] == 'u' && i+2 < len(rest) && rest[i+2]|0x20 == 'd' {
			return false
		}
		rest = rest[i+2:]
	}
}

const (
	bestIndent = 2
	bestWidth  = 80
	longestKey = 128 // bytes; a longer key needs a question mark
)

// emitter writes a value as YAML. Its state has the names that libyaml uses.
type emitter struct {
	out        []byte
	line       int // start of the current line in out, minus the extra bytes of multi-byte characters
	indent     int
	whitespace bool // the next text needs no space before it
	indention  bool // the line has only indentation and indicators so far
	rare       bool // the value has a feature that is left to the library
}

func (e *emitter) column() int { return len(e.out) - e.line }

func (e *emitter) lineBreak() {
	e.out = append(e.out, '\n')
	e.line = len(e.out)
}

const spaces = "                                                                "

// newLine moves to the current indentation. It starts a new line unless the current one has only indentation.
func (e *emitter) newLine() {
	indent := max(e.indent, 0)
	col := e.column()
	if !e.indention || col > indent || col == indent && !e.whitespace {
		e.lineBreak()
		col = 0
	}
	for col < indent {
		n := min(indent-col, len(spaces))
		e.out = append(e.out, spaces[:n]...)
		col += n
	}
	e.whitespace, e.indention = true, true
}

// indicator writes -, : or the start of a scalar or flow collection.
func (e *emitter) indicator(text string, space, indention bool) {
	if space && !e.whitespace {
		e.out = append(e.out, ' ')
	}
	e.out = append(e.out, text...)
	e.whitespace = false
	e.indention = e.indention && indention
}

// value writes any value; ofKey reports whether it is the value of a mapping's key.
func (e *emitter) value(v any, ofKey bool) {
	switch v := v.(type) {
	case nil:
		e.plain([]byte("null"), false)
	case bool:
		e.plain(strconv.AppendBool(nil, v), false)
	case json.Number: // the library reads it as YAML
		if n := resolve([]byte(v)); n.typ == typeString {
			e.text([]byte(v), false)
		} else {
			e.plain(n.spell(nil), false)
		}
	case string:
		e.text([]byte(v), false)
	case []any:
		e.list(v, ofKey)
	case map[string]any:
		e.mapping(v)
	}
}

func (e *emitter) list(v []any, ofKey bool) {
	if len(v) == 0 {
		e.indicator("[]", true, false)
		return
	}
	outer := e.indent
	if e.indent < 0 {
		e.indent = 0
	} else if !ofKey { // a list has the indent of its key
		e.indent += bestIndent
	}
	for _, item := range v {
		e.newLine()
		e.indicator("-", true, true)
		e.value(item, false)
	}
	e.indent = outer
}

func (e *emitter) mapping(v map[string]any) {
	if len(v) == 0 {
		e.indicator("{}", true, false)
		return
	}
	outer := e.indent
	if e.indent < 0 {
		e.indent = 0
	} else {
		e.indent += bestIndent
	}
	for _, key := range ordered(v) {
		e.newLine()
		e.rare = e.rare || len(key) > longestKey || strings.IndexByte(key, '\n') >= 0
		e.text([]byte(key), true)
		e.indicator(":", false, false)
		e.value(v[key], true)
	}
	e.indent = outer
}

// ordered returns the keys in the emitter's order. That order is not strict; sorting by bytes first makes the
// result deterministic.
func ordered(v map[string]any) []string {
	keys := make([]string, 0, len(v))
	for key := range v {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	if !slices.IsSortedFunc(keys, CompareKeys[string]) {
		slices.SortStableFunc(keys, CompareKeys[string])
	}
	return keys
}
