package api

import (
	"encoding/json"
	"strings"
	"testing"
)

// described returns a description with one operation, whose answer has the shape x.
func described(shapes string) (*description, error) {
	return read([]byte("operations:\n  GET /x:\n    answers: {200: x}\nshapes:\n  " + strings.ReplaceAll(shapes, "\n", "\n  ")))
}

func TestShapes(t *testing.T) {
	const people = "x: {like: person, boss: person or null, maybe name: string}\nperson: {name: string, maybe age size: integer}"
	for _, tt := range []struct{ shapes, value, want string }{
		{"x: string", `"a"`, ""},
		{"x: string", `1`, "$: 1, want string"},
		{"x: boolean", `"true"`, `$: "true", want boolean`},
		{"x: integer", `10000000000`, ""},
		{"x: integer", `1.5`, "$: 1.5, want integer"},
		{"x: string or null", `null`, ""},
		{"x: string or null", `false`, "$: false, want string or null"},
		{"x: string 2..3", `"éé"`, ""},
		{"x: string 2..3", `"ééé!"`, "$: a size of 4, want string 2..3"},
		{"x: open|closed", `"open"`, ""},
		{"x: open|closed or null", `"ajar"`, `$: "ajar", want open|closed or null`},
		{"x: =file", `"file"`, ""},
		{"x: =file", `"dir"`, `$: "dir", want =file`},
		{"x: time", `"2024-01-02T03:04:05Z"`, ""},
		{"x: time", `"2024-01-02"`, `$: "2024-01-02", want time`},
		{"x: [integer]", `[1, "b", null]`, `$[1]: "b", want integer; $[2]: null, want integer`},
		{"x: [integer, ..2]", `[1, 2, 3]`, "$: a size of 3, want x"},
		{"x: [integer]", `{}`, "$: {}, want x"},
		{"x: object", `{"any": [1]}`, ""},
		{"x: {}", `{"any": 1}`, "$.any: not described"},
		{"x: {a: string, maybe b: string, c: {d: integer}}", `{"a": "", "c": {"d": 1}}`, ""},
		{"x: {a: string, maybe b: string, c: {d: integer}}", `{"b": null, "c": {"d": "1"}, "e": 0}`,
			`$.a: missing; $.b: null, want string; $.c.d: "1", want integer; $.e: not described`},
		{people, `{"name": "n", "age": 1, "boss": {"name": "b"}}`, ""},
		{people, `{"age": 1, "boss": null}`, ""},
		{people, `{"boss": {"size": 1}}`, "$.boss.name: missing"},
		{people, `{"boss": 1}`, "$.boss: 1, want person or null"},
		// The value is compared with the nearer of two objects.
		{"x: y or z\ny: {a b c: integer}\nz: {d e: integer}", `{"d": 1}`, "$.e: missing"},
		{"x: y or z\ny: {a b c: integer}\nz: {d e: integer}", `{"a": 1, "b": 2, "c": 3}`, ""},
	} {
		d, err := described(tt.shapes)
		if err != nil {
			t.Errorf("%s: %v", tt.shapes, err)
			continue
		}
		var value any
		if err := json.Unmarshal([]byte(tt.value), &value); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(d.shapes["x"].check("$", value), "; "); got != tt.want {
			t.Errorf("%s of %s: %q, want %q", tt.value, tt.shapes, got, tt.want)
		}
	}
}

// A mistake in the description is an error. It does not become a shape that accepts everything.
func TestReadRefuses(t *testing.T) {
	for shapes, want := range map[string]string{
		"x: strin":                          `there is no shape "strin"`,
		"x: {a: y}\ny: {b: x}":              `or it holds itself`,
		"x: 1":                              "1 is no shape",
		"x: {a:}":                           "<nil> is no shape",
		"x: []":                             "[] is no list of one shape",
		"x: [string, 1.., 2]":               "[string 1.. 2] is no list of one shape",
		"x: string 1-2":                     `"1-2" are no bounds`,
		"x: [string, a..]":                  `"a.." are no bounds`,
		"x: {a b: string, maybe b: string}": "the field b occurs twice",
		"x: {like: string, a: string}":      "like names no object",
		"x: string\ny: string":              `nothing needs the shapes ["y"]`,
		"x: string\nx: integer":             "already defined",
	} {
		if _, err := described(shapes); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", shapes, err, want)
		}
	}
	for text, want := range map[string]string{
		"operation: {}": "not found",
		"operations: {GET /x: {answer: {200: string}}}":                                                           "not found",
		"operations: {GET /x: {answers: {ok: string}}}":                                                           "cannot unmarshal",
		"operations: {GET /x: {answers: {200: string}}}\noutside the excerpt: {GET /x: {answers: {200: string}}}": "GET /x occurs twice",
	} {
		if _, err := read([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", text, err, want)
		}
	}
}
