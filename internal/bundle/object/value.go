// Package object reads the objects of a bundle as opm does and writes them as opm's JSON: it parses YAML or JSON
// into a tree of values, and writes the tree compactly with sorted keys.
package object

import (
	"slices"
	"strconv"
	"strings"

	"github.com/olmgraft/graft/internal/fbc/canonical"
)

// Kind is the kind of a Value.
type Kind uint8

// The kinds of values.
const (
	Null Kind = iota
	Bool
	Int
	Float
	String
	List
	Map
)

// String returns the name of the kind for people.
func (k Kind) String() string {
	return [...]string{"null", "a boolean", "a whole number", "a fraction", "a string", "a list", "a mapping"}[k]
}

// Value is one node of a document.
type Value struct {
	Kind Kind
	// Text is the content of a string, or the JSON form of a boolean or number.
	Text string
	// Items are the members of a mapping, sorted by unique keys, or the items of a list, which have no keys.
	Items []Member
}

// Member is one entry of a mapping or a list.
type Member struct {
	Key   string
	Value Value
}

// Get returns the member of a mapping with exactly this key. A value that is no mapping has no members.
func (v Value) Get(key string) (Value, bool) {
	if v.Kind != Map {
		return Value{}, false
	}
	i, found := slices.BinarySearchFunc(v.Items, key, func(m Member, key string) int {
		return strings.Compare(m.Key, key)
	})
	if !found {
		return Value{}, false
	}
	return v.Items[i].Value, true
}

// At returns the value at a path of exact keys.
func (v Value) At(path ...string) Value {
	for _, key := range path {
		v, _ = v.Get(key)
	}
	return v
}

// Str returns the string at the path, or "" if there is none.
func (v Value) Str(path ...string) string {
	if v = v.At(path...); v.Kind == String {
		return v.Text
	}
	return ""
}

// Only keeps the members of a mapping whose keys are among names, ignoring case: those that a struct with these
// fields would be decoded from.
func (v Value) Only(names ...string) Value {
	kept := Value{Kind: v.Kind, Text: v.Text}
	for _, m := range v.Items {
		if slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, m.Key) }) {
			kept.Items = append(kept.Items, m)
		}
	}
	return kept
}

// Size returns the number of values in a tree, and the bytes of their texts and keys.
func (v Value) Size() (values, bytes int) {
	values, bytes = 1, len(v.Text)+1
	for _, m := range v.Items {
		n, text := m.Value.Size()
		values, bytes = values+n, bytes+text+len(m.Key)
	}
	return values, bytes
}

// AsText converts a number or boolean to the string that opm makes of it where it expects a string. It returns
// other values unchanged. Fractions have 32-bit precision: 4.10 becomes 4.1.
func (v Value) AsText() Value {
	switch v.Kind {
	case Int, Bool:
		return Value{Kind: String, Text: v.Text}
	case Float:
		if f, err := strconv.ParseFloat(v.Text, 64); err == nil {
			return Value{Kind: String, Text: strconv.FormatFloat(f, 'g', -1, 32)}
		}
	}
	return v
}

// AppendJSON appends the value as compact JSON with sorted keys and the escapes of encoding/json, including those
// of <, > and &.
func (v Value) AppendJSON(to []byte) []byte {
	switch v.Kind {
	case Null:
		return append(to, "null"...)
	case String:
		return canonical.AppendString(to, v.Text, true)
	case List:
		to = append(to, '[')
		for i, item := range v.Items {
			if i > 0 {
				to = append(to, ',')
			}
			to = item.Value.AppendJSON(to)
		}
		return append(to, ']')
	case Map:
		to = append(to, '{')
		for i, item := range v.Items {
			if i > 0 {
				to = append(to, ',')
			}
			to = canonical.AppendString(to, item.Key, true)
			to = append(to, ':')
			to = item.Value.AppendJSON(to)
		}
		return append(to, '}')
	}
	return append(to, v.Text...)
}
