package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// shape describes the values that JSON may have here: any of these forms.
type shape []form

type form struct {
	// kind is null, boolean, integer, string, time, list or object. text is the name of the form, or its notation.
	kind, text string
	// words are the only values that a string may have, if there are any.
	words []string
	// least and most limit the characters of a string, or the number of items or fields.
	least, most int
	item        shape
	// fields are the fields of an object. nil allows any fields.
	fields map[string]field
}

type field struct {
	shape    shape
	optional bool
}

// check returns each fault of a value with its place. If there are several forms, check returns the faults of
// the form with the fewest.
func (s shape) check(at string, value any) []string {
	var nearest []string
	want := ""
	for _, f := range s {
		want += " or " + f.text
		if !f.holds(value) {
			continue
		}
		faults := f.check(at, value)
		if len(faults) == 0 {
			return nil
		}
		if nearest == nil || len(faults) < len(nearest) {
			nearest = faults
		}
	}
	if nearest == nil {
		got, _ := json.Marshal(value) //nolint:errchkjson // it was just decoded
		nearest = []string{fmt.Sprintf("%s: %.50s, want %s", at, got, strings.TrimPrefix(want, " or "))}
	}
	return nearest
}

// holds reports whether a value is of the form's kind.
func (f form) holds(value any) bool {
	switch v := value.(type) {
	case nil:
		return f.kind == "null"
	case bool:
		return f.kind == "boolean"
	case float64:
		return f.kind == "integer" && v == math.Trunc(v)
	case string:
		_, err := time.Parse(time.RFC3339, v)
		return f.kind == "string" && (f.words == nil || slices.Contains(f.words, v)) || f.kind == "time" && err == nil
	case []any:
		return f.kind == "list"
	}
	return f.kind == "object"
}

// check checks a value of the form's kind.
func (f form) check(at string, value any) (faults []string) {
	size := f.least
	switch v := value.(type) {
	case string:
		size = utf8.RuneCountInString(v)
	case []any:
		size = len(v)
		for i, item := range v {
			faults = append(faults, f.item.check(fmt.Sprintf("%s[%d]", at, i), item)...)
		}
	case map[string]any:
		size = len(v)
		faults = f.checkFields(at, v)
	}
	if size < f.least || size > f.most {
		faults = append(faults, fmt.Sprintf("%s: a size of %d, want %s", at, size, f.text))
	}
	return faults
}

func (f form) checkFields(at string, object map[string]any) (faults []string) {
	if f.fields == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(f.fields)) {
		if value, there := object[name]; there {
			faults = append(faults, f.fields[name].shape.check(at+"."+name, value)...)
		} else if !f.fields[name].optional {
			faults = append(faults, at+"."+name+": missing")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if _, known := f.fields[name]; !known {
			faults = append(faults, at+"."+name+": not described")
		}
	}
	return faults
}
