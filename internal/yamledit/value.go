package yamledit

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Value is new content: a scalar, a list, or a mapping with ordered keys. A scalar has a tag if it is not a
// string.
type Value struct {
	kind   Kind
	text   string
	tag    string
	behind string // a comment, including the space before it
	items  []Value
	fields []Field
}

// Field is one key of a mapping value. Like is a node whose style the value follows if no sibling has the same
// key.
type Field struct {
	Key   string
	Value Value
	Like  *Node
}

// Text returns a string value. It is quoted only if necessary or if its siblings are quoted.
func Text(s string) Value { return Value{kind: Scalar, text: s} }

// Behind adds a comment after a scalar that is on its own line; the comment includes the space before it. Flow
// style and JSON drop the comment.
func (v Value) Behind(comment string) Value {
	v.behind = comment
	return v
}

// List returns a sequence value.
func List(items ...Value) Value { return Value{kind: Sequence, items: items} }

// Texts returns a sequence of strings.
func Texts(items []string) Value {
	v := Value{kind: Sequence}
	for _, s := range items {
		v.items = append(v.items, Text(s))
	}
	return v
}

// Map returns a mapping value.
func Map(fields ...Field) Value { return Value{kind: Mapping, fields: fields} }

// FromJSON converts a JSON text to a value; keys keep their order.
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

// scalar writes a scalar. The style applies to strings only.
func (v Value) scalar(style Style, flow, asJSON bool) string {
	if v.tag != "" {
		return v.text
	}
	return scalarText(v.text, style, flow, asJSON)
}

// matches reports whether the parsed node equals the value.
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
	// The writer may sort the keys as the siblings do.
	for _, f := range v.fields {
		if value := n.Get(f.Key); value == nil || !f.Value.matches(value) {
			return false
		}
	}
	return true
}
