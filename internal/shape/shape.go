// Package shape checks values against the types that a program would decode them into, without decoding them.
// Tables define the types.
package shape

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is the kind of a value.
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

// Value is a value to check against a type.
type Value[V any] interface {
	Kind() Kind
	// Each calls visit for each member of a mapping with its key, and for each item of a list with its index.
	Each(visit func(key string, index int, v V))
}

// Type is a record of fields, a list or mapping with elements of one type, or a leaf with its own test. A record
// accepts any value under a key that is not a field.
type Type[V Value[V]] struct {
	fields map[string]*Type[V]
	elem   *Type[V]
	kind   Kind // Map if fields is set, Map or List if elem is set
	leaf   *Leaf[V]
	choose func(Kind) *Type[V] // set if the type depends on the value
}

// Leaf is a type without values inside.
type Leaf[V any] struct {
	Want    string // the expected type, for messages to people
	Fits    func(V) bool
	NotNull bool // refuse null, which all other types accept
}

// Table maps names to types.
type Table[V Value[V]] map[string]*Type[V]

// NewTable reads a table with one line for each record: its name, then field:type. A type is the name of a record
// or leaf, []T, {}T, or one of these, which depend on the value:
//
//	or-bool|T     a mapping is T, any other value schema-or-bool
//	or-list|T     a mapping is T, a list []T, any other value any
//	or-strings|T  a mapping is T, a list []string, any other value any
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

// Type returns the type of an expression.
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
		panic("there is no type " + expression) // a test parses each table
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

// Path leads to a value by keys and indexes.
type Path []any

// String returns the path in the form spec.versions[0].name.
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

// mostFound bounds the cost of a hostile value, because each mismatch has its own path.
const mostFound = 100

// Check returns the parts of a value that do not fit the type. With anyCase it ignores the case of a field's name
// if no field has the exact name, as encoding/json does.
func (t *Type[V]) Check(v V, anyCase bool) []Mismatch[V] {
	c := checker[V]{anyCase: anyCase}
	c.visit = c.inside // allocated once, because there are many values
	c.check(t, v)
	for _, m := range c.found {
		slices.Reverse(m.Path)
	}
	return c.found
}

type checker[V Value[V]] struct {
	anyCase bool
	visit   func(key string, index int, v V)
	around  *Type[V]      // of the value being visited
	found   []Mismatch[V] // their paths run from the inside out
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

// Field returns the type of a record's field, or nil if there is no such field.
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
