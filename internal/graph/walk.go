package graph

import (
	"bytes"
	"encoding/json"
	"iter"
	"strings"

	"github.com/olmgraft/graft/internal/shape"
)

// value is compact, valid JSON as returned by Doc.JSON. Its methods walk it without decoding what they skip. On
// any other text a walk stops early and never reads beyond the end. An empty value means no value.
type value []byte

// Kind returns the kind of the value, from its first byte.
func (v value) Kind() shape.Kind {
	if len(v) == 0 {
		return shape.Null
	}
	switch v[0] {
	case '"':
		return shape.String
	case '{':
		return shape.Map
	case '[':
		return shape.List
	case 't', 'f':
		return shape.Bool
	case 'n':
		return shape.Null
	}
	return shape.Number
}

// Members returns the keys and values of a mapping in order, and nothing for other values.
func (v value) Members() iter.Seq2[string, value] {
	return func(yield func(string, value) bool) {
		if len(v) == 0 || v[0] != '{' {
			return
		}
		for i := 1; i < len(v) && v[i] == '"'; i++ {
			end := skipString(v, i)
			key := v[i:end]
			if end >= len(v) || v[end] != ':' {
				return
			}
			i = skipValue(v, end+1)
			if !yield(unquote(key), v[end+1:i]) || i >= len(v) || v[i] != ',' {
				return
			}
		}
	}
}

// Items returns the indexes and items of a list, and nothing for other values.
func (v value) Items() iter.Seq2[int, value] {
	return func(yield func(int, value) bool) {
		if len(v) < 2 || v[0] != '[' || v[1] == ']' {
			return
		}
		for n, i := 0, 1; i < len(v); n++ {
			end := skipValue(v, i)
			if end == i || !yield(n, v[i:end]) || end >= len(v) || v[end] != ',' {
				return
			}
			i = end + 1
		}
	}
}

// Each visits the members of a mapping or the items of a list.
func (v value) Each(visit func(key string, index int, v value)) {
	for key, member := range v.Members() {
		visit(key, 0, member)
	}
	for i, item := range v.Items() {
		visit("", i, item)
	}
}

// field returns the value that encoding/json would store in a field with this name: the last whose key is equal,
// ignoring case.
func (v value) field(name string) (found value) {
	for k, one := range v.Members() {
		if k == name || strings.EqualFold(k, name) {
			found = one
		}
	}
	return found
}

// text returns the content of a string, or "" for other values.
func (v value) text() string {
	if v.Kind() == shape.String {
		return unquote(v)
	}
	return ""
}

// skipValue returns the end of the value that begins at i.
func skipValue(js []byte, i int) int {
	depth := 0
	for i < len(js) {
		switch js[i] {
		case '"':
			i = skipString(js, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
			i++
		case ',', ':':
			if depth == 0 {
				return i
			}
			i++
			continue
		default:
			i++
			continue
		}
		if depth == 0 {
			return i
		}
	}
	return i
}

// skipString returns the end of the string whose opening quote is at i.
func skipString(js []byte, i int) int {
	for i++; i < len(js); i++ {
		n := bytes.IndexByte(js[i:], '"')
		if n < 0 {
			return len(js)
		}
		i += n
		slashes := 0
		for js[i-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i + 1
		}
	}
	return len(js)
}

// unquote returns the text of a JSON string.
func unquote(js []byte) string {
	if len(js) >= 2 && bytes.IndexByte(js, '\\') < 0 {
		return string(js[1 : len(js)-1])
	}
	var s string
	_ = json.Unmarshal(js, &s)
	return s
}
