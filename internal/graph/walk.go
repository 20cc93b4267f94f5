package graph

import (
	"bytes"
	"encoding/json"
	"iter"
	"strings"

	"github.com/olmgraft/graft/internal/shape"
)

// value is compact, valid JSON, as Doc.JSON gives it, and is walked through without making
// anything of what is passed. On text that is not that a walk stops early, and never runs past
// its end. An empty value is none.
type value []byte

// Kind tells what the value is by how it begins.
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

// Members gives a mapping's keys and values in order; nothing for another value.
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

// Items gives a list's items and their indexes; nothing for another value.
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

// Each visits the members of a mapping, or the items of a list.
func (v value) Each(visit func(key string, index int, v value)) {
	for key, member := range v.Members() {
		visit(key, 0, member)
	}
	for i, item := range v.Items() {
		visit("", i, item)
	}
}

// field gives the value that encoding/json would store in a field of that name:
// the last whose key is equal without regard to case.
func (v value) field(name string) (found value) {
	for k, one := range v.Members() {
		if k == name || strings.EqualFold(k, name) {
			found = one
		}
	}
	return found
}

// text is the content of a string, "" for any other value.
func (v value) text() string {
	if v.Kind() == shape.String {
		return unquote(v)
	}
	return ""
}

// skipValue gives the end of the value that begins at i.
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

// skipString gives the end of the string whose opening quote is at i.
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

// unquote gives the text of a JSON string.
func unquote(js []byte) string {
	if len(js) >= 2 && bytes.IndexByte(js, '\\') < 0 {
		return string(js[1 : len(js)-1])
	}
	var s string
	_ = json.Unmarshal(js, &s)
	return s
}
