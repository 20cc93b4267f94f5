package yamledit

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Value is new content: a string, a list or a mapping whose keys keep their order. A
// scalar that is no string has a tag.
type Value struct {
	kind   Kind
	text   string
	tag    string
	behind string // a comment, and the space before it
	items  []Value
	fields []Field
}

// Field is one key of a mapping value. Like is a node that shows how the value is to
// look, where no sibling has the same key.
type Field struct {
	Key   string
	Value Value
	Like  *Node
}

// Text is a string value, written in quotes only where it must or its siblings are.
func Text(s string) Value { return Value{kind: Scalar, text: s} }

// Behind has a comment, with the space before it, follow a scalar on a line of its own. In
// flow style and in JSON there is no place for one.
func (v Value) Behind(comment string) Value {
	v.behind = comment
	return v
}

// List is a sequence value.
func List(items ...Value) Value { return Value{kind: Sequence, items: items} }

// Texts is a sequence of strings.
func Texts(items []string) Value {
	v := Value{kind: Sequence}
	for _, s := range items {
		v.items = append(v.items, Text(s))
	}
	return v
}

// Map is a mapping value.
func Map(fields ...Field) Value { return Value{kind: Mapping, fields: fields} }

// FromJSON makes a value of a JSON text; keys keep their order.
func FromJSON(text []byte) (Value, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	v, err := fromJSON(dec, 0)
	if err != nil {
		return Value{}, fmt.Errorf("reading a value: %w", err)
	}
	return v, nil
}

func fromJSON(dec *json.Decoder, depth int) (Value, error) {
	tok, err := dec.Token()
	if err != nil {
		return Value{}, err
	}
	if depth > MaxDepth {
		return Value{}, fmt.Errorf("nested deeper than %d levels", MaxDepth)
	}
	switch t := tok.(type) {
	case json.Delim:
		return collectionFromJSON(dec, t, depth)
	case string:
		return Text(t), nil
	case json.Number:
		if _, err := t.Int64(); err == nil {
			return Value{text: t.String(), tag: "!!int"}, nil
		}
		return Value{text: t.String(), tag: "!!float"}, nil
	case bool:
		return Value{text: fmt.Sprint(t), tag: "!!bool"}, nil
	}
	return Value{text: "null", tag: "!!null"}, nil
}

func collectionFromJSON(dec *json.Decoder, open json.Delim, depth int) (Value, error) {
	v := Value{kind: Sequence}
	if open == '{' {
		v.kind = Mapping
	}
	for dec.More() {
		var key string
		if open == '{' {
			tok, err := dec.Token()
			if err != nil {
				return v, err
			}
			key = tok.(string) // the decoder allows nothing else here
		}
		item, err := fromJSON(dec, depth+1)
		if err != nil {
			return v, err
		}
		if open == '{' {
			v.fields = append(v.fields, Field{Key: key, Value: item})
		} else {
			v.items = append(v.items, item)
		}
	}
	_, err := dec.Token()
	return v, err
}

// scalar writes a scalar value in the style, where it is a string.
func (v Value) scalar(style Style, flow, asJSON bool) string {
	if v.tag != "" {
		return v.text
	}
	return scalarText(v.text, style, flow, asJSON)
}

// matches reports whether the node, as parsed again, says just what the value says.
func (v Value) matches(n *Node) bool {
	if n == nil || n.Anchor != "" || n.Kind != v.kind {
		return false
	}
	switch v.kind {
	case Scalar:
		if v.tag != "" {
			return n.Tag == v.tag && n.Value == v.text
		}
		return n.Tag == "!!str" && n.Value == v.text
	case Sequence:
		if len(n.Children) != len(v.items) {
			return false
		}
		for i, item := range v.items {
			if !item.matches(n.Children[i]) {
				return false
			}
		}
		return true
	}
	if len(n.Children) != 2*len(v.fields) {
		return false
	}
	// The writer may order the keys as the siblings do.
	for _, f := range v.fields {
		if value := n.Get(f.Key); value == nil || !f.Value.matches(value) {
			return false
		}
	}
	return true
}
