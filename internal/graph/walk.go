package graph

import (
	"bytes"
	"encoding/json"
	"iter"
	"strings"
)

// The functions here walk compact, valid JSON, as Doc.JSON gives it, without
// making anything of what they pass. On text that is not that they stop early,
// and never run past its end.

// fields gives an object's keys and values in order; nothing for another value.
func fields(js []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		if len(js) == 0 || js[0] != '{' {
			return
		}
		for i := 1; i < len(js) && js[i] == '"'; i++ {
			end := skipString(js, i)
			key := js[i:end]
			if end >= len(js) || js[end] != ':' {
				return
			}
			i = skipValue(js, end+1)
			if !yield(unquote(key), js[end+1:i]) || i >= len(js) || js[i] != ',' {
				return
			}
		}
	}
}

// items gives a list's items and their indexes; nothing for another value.
func items(js []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		if len(js) < 2 || js[0] != '[' || js[1] == ']' {
			return
		}
		for n, i := 0, 1; i < len(js); n++ {
			end := skipValue(js, i)
			if end == i || !yield(n, js[i:end]) || end >= len(js) || js[end] != ',' {
				return
			}
			i = end + 1
		}
	}
}

// field gives the value that encoding/json would store in a field of that name:
// the last whose key is equal without regard to case.
func field(js []byte, name string) (value []byte, ok bool) {
	for k, v := range fields(js) {
		if k == name || strings.EqualFold(k, name) {
			value, ok = v, true
		}
	}
	return value, ok
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
