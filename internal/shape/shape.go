// Package shape holds values to the types that a program would decode them into, without
// decoding them. What types there are stands in tables.
package shape

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is what a value is.
type Kind uint8

// The kinds of values.
const (
	Null Kind = iota
	Bool
	Number
	String
	List
	Map
)

// Value is what is held to a type.
type Value[V any] interface {
	Kind() Kind
	// Each gives the members of a mapping with their keys, and the items of a list with their
	// indexes.
	Each(visit func(key string, index int, v V))
}

// Type is a record of fields, a list or mapping of one type, or a leaf, which has a test of its
// own. Keys that are no fields of a record may hold anything.
type Type[V Value[V]] struct {
	fields map[string]*Type[V]
	elem   *Type[V]
	kind   Kind // Map where there are fields, Map or List where there is elem
	leaf   *Leaf[V]
	choose func(Kind) *Type[V] // where the type depends on the value
}

// Leaf is a type that has no values inside.
type Leaf[V any] struct {
	Want    string // what it is, for a person
	Fits    func(V) bool
	NotNull bool // null does not fit, as it does everywhere else
}

// Table holds types by their name.
type Table[V Value[V]] map[string]*Type[V]

// NewTable reads a table, a line for each record: its name, then field:type. A type is the name
// of a record or of a leaf, []T, {}T, or one of these, where the value says which:
//
//	or-bool|T     what is no mapping is schema-or-bool
//	or-list|T     a mapping is T, a list []T, all else any
//	or-strings|T  a mapping is T, a list []string, all else any
func NewTable[V Value[V]](text string, leaves map[string]Leaf[V]) Table[V] {
	all := Table[V]{}
	for name, leaf := range leaves {
		all[name] = &Type[V]{leaf: &leaf}
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for _, line := range lines {
		name, _, _ := strings.Cut(line, " ")
		all[name] = &Type[V]{kind: Map, fields: map[string]*Type[V]{}}
	}
	for _, line := range lines {
		fields := strings.Fields(line)
		for _, field := range fields[1:] {
			name, expression, _ := strings.Cut(field, ":")
			all[fields[0]].fields[name] = all.Type(expression)
		}
	}
	return all
}

// Type gives the type of an expression.
func (all Table[V]) Type(expression string) *Type[V] {
	if t, known := all[expression]; known {
		return t
	}
	t := &Type[V]{}
	all[expression] = t
	choice, elem, _ := strings.Cut(expression, "|")
	switch {
	case strings.HasPrefix(expression, "[]"):
		t.kind, t.elem = List, all.Type(expression[2:])
	case strings.HasPrefix(expression, "{}"):
		t.kind, t.elem = Map, all.Type(expression[2:])
	case elem == "":
		panic("there is no type " + expression) // a test reads each table
	default:
		list := map[string]string{"or-bool": "schema-or-bool", "or-list": "[]" + elem, "or-strings": "[]string"}[choice]
		other := map[string]string{"or-bool": "schema-or-bool", "or-list": "any", "or-strings": "any"}[choice]
		choices := [...]*Type[V]{all.Type(other), all.Type(other), all.Type(other), all.Type(other), List: all.Type(list), Map: all.Type(elem)}
		t.choose = func(k Kind) *Type[V] { return choices[k] }
	}
	return t
}

// Mismatch is a value of the wrong type.
type Mismatch[V any] struct {
	Path  Path
	Value V
	Want  string
}

// Path leads to a value, by keys and indexes.
type Path []any

// String is the path as in spec.versions[0].name.
func (p Path) String() string {
	var b strings.Builder
	for _, step := range p {
		switch step := step.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", step)
		case string:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(step)
		}
	}
	return b.String()
}

// mostFound bounds what a hostile value costs: each mismatch has a path of its own.
const mostFound = 100

// Check finds what in a value does not fit the type. AnyCase says that fields are found in any
// letter case where none has the exact name, as encoding/json does.
func (t *Type[V]) Check(v V, anyCase bool) []Mismatch[V] {
	c := checker[V]{anyCase: anyCase}
	c.visit = c.inside // made once: there are many values
	c.check(t, v)
	for _, m := range c.found {
		slices.Reverse(m.Path)
	}
	return c.found
}

type checker[V Value[V]] struct {
	anyCase bool
	visit   func(key string, index int, v V)
	around  *Type[V]      // of the value that is visited
	found   []Mismatch[V] // with paths from the inside out
}

func (c *checker[V]) check(t *Type[V], v V) {
	kind := v.Kind()
	if len(c.found) >= mostFound {
		return
	}
	if t.choose != nil {
		t = t.choose(kind)
	}
	switch {
	case kind == Null && (t.leaf == nil || !t.leaf.NotNull), t.leaf != nil && t.leaf.Fits(v):
	case t.leaf != nil:
		c.found = append(c.found, Mismatch[V]{Value: v, Want: t.leaf.Want})
	case kind != t.kind:
		c.found = append(c.found, Mismatch[V]{Value: v, Want: map[Kind]string{List: "a list", Map: "a mapping"}[t.kind]})
	default:
		around := c.around
		c.around = t
		v.Each(c.visit)
		c.around = around
	}
}

func (c *checker[V]) inside(key string, index int, v V) {
	t := c.around.elem
	if t == nil {
		t = c.around.Field(key, c.anyCase)
	}
	if t == nil {
		return
	}
	isItem, before := c.around.kind == List, len(c.found)
	c.check(t, v)
	for i := before; i < len(c.found); i++ {
		path := &c.found[i].Path
		if isItem {
			*path = append(*path, index)
		} else {
			*path = append(*path, key)
		}
	}
}

// Field is the type of a field of a record, nil where it has none of that name.
func (t *Type[V]) Field(name string, anyCase bool) *Type[V] {
	if f := t.fields[name]; f != nil || !anyCase {
		return f
	}
	for own, f := range t.fields {
		if strings.EqualFold(own, name) {
			return f
		}
	}
	return nil
}
