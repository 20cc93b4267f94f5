package schema

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/yamledit"
)

const testSchema = `
type: object
additionalProperties: false
required: [name]
properties:
  name: {type: string, pattern: "^[a-z]+$", maxLength: 3}
  born: {type: string}
  on: {type: boolean}
  count: {type: integer, minimum: 1}
  list: {type: array, uniqueItems: true, items: {type: string}}
  labels: {$ref: "#/$defs/labels"}
  more: {type: array, items: {$ref: "#"}}
  "a/b~c%d": {type: string, enum: [x]}
  free: {type: object}
$defs:
  labels: {type: object, propertyNames: {pattern: "^[a-z]+$"}, additionalProperties: {type: string}}
`

func parse(t *testing.T, src string) *yamledit.Node {
	t.Helper()
	file, err := yamledit.Open("x", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	root, err := file.Docs[0].Root()
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// Each fault has its node, its path, and the part of the schema that contains the keyword.
func TestCheck(t *testing.T) {
	s := Compile(Parse("test", []byte(testSchema)), nil)
	cluster := *s
	cluster.Kubernetes = true
	for _, c := range []struct {
		src        string
		wants      []string // LINE:COL path keyword
		kubernetes []string
	}{
		{"name: a\n", nil, nil},
		{"{}\n", []string{"1:1  Required"}, []string{"1:1  Required"}},
		{"name: A\nlist: [a, b, a]\n", []string{"1:7 name Pattern", "2:14 list[2] Unique"}, []string{"1:7 name Pattern", "2:14 list[2] Unique"}},
		{"name: ABCD\n", []string{"1:7 name MaxLength"}, []string{"1:7 name MaxLength"}}, // one fault for a scalar
		{"name: a\nnam: b\nname: c\n", []string{"2:1  key AdditionalProperties", "3:1  key Duplicate"}, []string{"2:1  key AdditionalProperties", "3:1  key Duplicate"}},
		{"name: a\non: yes\nborn: 2020-01-01\n", []string{"2:5 on Type", "3:7 born Type"}, nil},
		{"name: no\nlabels: {a: 'yes', <<: {b: 3}, x: no}\n", []string{"2:20 labels key Type", "2:24 labels.<< Type"}, []string{"1:7 name Type", "2:35 labels.x Type"}},
		{"more:\n- name: a\n  more: [{name: b, labels: {Q: x, 1: z}}]\nname: a\nlabels: {Z: x}\n",
			[]string{"3:29 more[0].more[0].labels key Pattern", "3:35 more[0].more[0].labels key Type", "5:10 labels key Pattern"},
			[]string{"3:29 more[0].more[0].labels key Pattern", "3:35 more[0].more[0].labels key Pattern", "5:10 labels key Pattern"}},
		{"name: &a {b: c}\nmore: [*a]\n", []string{"1:10 name Type", "1:11 more[0] key AdditionalProperties", "1:10 more[0] Required"}, []string{"1:10 name Type", "1:11 more[0] key AdditionalProperties", "1:10 more[0] Required"}},
		{"name: a\ncount: 0\na/b~c%d: z\n", []string{"2:8 count Minimum", "3:10 a/b~c%d Enum"}, []string{"2:8 count Minimum", "3:10 a/b~c%d Enum"}},
		{"name: a\ncount: 18446744073709551616\n", []string{"2:8 count Type"}, []string{"2:8 count Type"}},
		{"name: a\nfree: {a: 1, a: 2, 3: 4}\n", []string{"2:14 free key Duplicate", "2:20 free key Type"}, []string{"2:14 free key Duplicate"}},
		{"name: a\nfree: {a: {b: 1, b: 2}}\n", nil, nil}, // the schema does not describe these
	} {
		for _, one := range []struct {
			*Schema
			wants []string
		}{{s, c.wants}, {&cluster, c.kubernetes}} {
			var got []string
			for _, f := range one.Check(parse(t, c.src)) {
				line, col := f.Node.Position()
				keyword := strings.TrimPrefix(strings.TrimPrefix(fmt.Sprintf("%T", f.Kind), "*kind."), "schema.")
				if f.Key {
					keyword = "key " + keyword
				}
				if enum := f.Schema.Get("enum"); strings.HasSuffix(keyword, "Enum") && enum == nil {
					t.Errorf("%s: the fault's part of the schema has no enum", c.src)
				}
				got = append(got, fmt.Sprintf("%d:%d %s %s", line, col, f.Path, strings.TrimSuffix(keyword, "Items")))
			}
			slices.Sort(got)
			slices.Sort(one.wants)
			if !slices.Equal(got, one.wants) {
				t.Errorf("kubernetes %t:\n%s\ngot  %q\nwant %q", one.Kubernetes, c.src, got, one.wants)
			}
		}
	}
}

func TestAccepts(t *testing.T) {
	s := Compile(Parse("test", []byte(testSchema)), nil)
	for _, c := range []struct {
		property string
		value    any
		want     bool
	}{
		{"name", "abc", true}, {"name", 3, false}, {"name", nil, false},
		{"count", int64(3), true}, {"count", 1.5, false},
		{"labels", map[string]any{"a": "b"}, true}, {"labels", map[string]any{"a": 1}, false},
		{"more", []any{map[string]any{"name": "a", "unknown": 1}}, true},
		{"more", []any{map[string]any{"name": 1, "unknown": 1}}, false},
	} {
		if got := s.Property(c.property).Accepts(c.value); got != c.want {
			t.Errorf("%s accepts %v: %t", c.property, c.value, got)
		}
	}
}
