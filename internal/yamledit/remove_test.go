package yamledit

import (
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
)

// A removed part leaves no trace, and no other byte changes.
func TestRemove(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		edit      func(e *Edits, root *Node) error
		want      string // "" where it is refused
	}{
		{"the first item", "e:\n- name: a\n- name: b\n", item(0), "e:\n- name: b\n"},
		{"the last item", "e:\n- name: a\n- name: b\n  x: 1\nz: 1\n", item(1), "e:\n- name: a\nz: 1\n"},
		{"no final newline", "e:\n- name: a\n- name: b", item(1), "e:\n- name: a"},
		{"no final newline, CRLF", "e:\r\n- name: a\r\n- name: b", item(1), "e:\r\n- name: a"},
		{"a comment behind it", "e:\n- name: a\n- name: b # old\n- name: c\n", item(1), "e:\n- name: a\n- name: c\n"},
		{"a comment above it", "e:\n- name: a\n# about b\n- name: b\n- name: c\n", item(1), "e:\n- name: a\n# about b\n- name: c\n"},
		{"blank lines between", "e:\n- name: a\n\n- name: b\n\n- name: c\n", item(1), "e:\n- name: a\n\n- name: c\n"},
		{"blank lines before the last", "e:\n- name: a\n\n- name: b\n\nz: 1\n", item(1), "e:\n- name: a\n\nz: 1\n"},
		{"no final newline, two lists", "e:\n- l:\n  - x\n  - y\n- b", both(func(e *Edits, root *Node) error { return e.Remove(root.Get("e").Children[0].Get("l").Children[1]) }, item(1)), "e:\n- l:\n  - x"},
		{"a dash on a line of its own", "e:\n-\n  name: a\n-\n  name: b\n", item(0), "e:\n-\n  name: b\n"},
		{"a comment behind a dash", "e:\n- # - a\n  # and - more\n  name: a\n- name: b\n", item(0), "e:\n- name: b\n"},
		{"a tag", "e:\n- a\n- !!str b\n- c\n", item(1), "e:\n- a\n- c\n"},
		{"a tag above it", "e:\n- !!map\n  a: b\n- c\n", item(0), "e:\n- c\n"},
		{"tags on one line", "e: [!!str a, b, !!str c]\n", item(0), "e: [b, !!str c]\n"},
		{"a tag that stays on one line", "e: [a, !!str b]\n", item(0), "e: [!!str b]\n"},
		{"a key with a tag", "e:\n- !!str name: a\n  !!str x: b\n", field("name"), "e:\n- !!str x: b\n"},
		{"before a tag on one line", "e: [!!str b]\n", func(e *Edits, root *Node) error { return e.Insert(root.Get("e"), 0, Text("a")) }, "e: [a, !!str b]\n"},
		{"neighbours", "e:\n- a\n- b\n- c\n- d\n", both(item(1), item(2)), "e:\n- a\n- d\n"},
		{"a dash in the text", "e:\n- a-b\n- c\n", item(0), "e:\n- c\n"},
		{"block text", "e:\n- |\n  a\n\n  b\n- c\n", item(0), "e:\n- c\n"},
		{"on one line", "e: [a, b, c]\n", item(0), "e: [b, c]\n"},
		{"on one line, the last", "e: [a, b, c]\n", item(2), "e: [a, b]\n"},
		{"on one line, the last two", "e: [a, b, c]\n", both(item(1), item(2)), "e: [a]\n"},
		{"JSON", "{\n  \"e\": [\n    {\"a\": 1},\n    {\"b\": 2}\n  ]\n}\n", item(1), "{\n  \"e\": [\n    {\"a\": 1}\n  ]\n}\n"},
		{"JSON, the first", "{\n  \"e\": [\n    {\"a\": 1},\n    {\"b\": 2}\n  ]\n}\n", item(0), "{\n  \"e\": [\n    {\"b\": 2}\n  ]\n}\n"},
		{"a key", "e:\n- name: a\n  replaces: x\n  skips: [y]\n", field("replaces"), "e:\n- name: a\n  skips: [y]\n"},
		{"the first key of an item", "e:\n- name: a\n  replaces: x\n", field("name"), "e:\n- replaces: x\n"},
		{"the last key", "e:\n- name: a\n  skips:\n  - x\n  - y\n- name: b\n", field("skips"), "e:\n- name: a\n- name: b\n"},
		{"a key on one line", "e:\n- {name: a, replaces: x}\n", field("replaces"), "e:\n- {name: a}\n"},
		{"a key in quotes", "{\"e\": [{\"name\": \"a\", \"replaces\": \"x\"}]}", field("name"), "{\"e\": [{\"replaces\": \"x\"}]}"},
		{"the last item gives way", "e:\n- a\n- b # old\n# end\n", both(item(1), behind("c", "d")), "e:\n- a\n- c\n- d\n# end\n"},
		{"the last item gives way, CRLF", "e:\r\n- a\r\n- b\r\nz: 1\r\n", both(item(1), behind("c", "d")), "e:\r\n- a\r\n- c\r\n- d\r\nz: 1\r\n"},
		{"the last two give way, no final newline", "e:\n- a\n- b\n- c", both(both(item(1), item(2)), behind("d", "f")), "e:\n- a\n- d\n- f"},
		{"a last key and an item behind it", "e:\n- name: a\n  skips:\n  - x\n  - y\n- z\n", both(field("skips"), func(e *Edits, root *Node) error { return e.Insert(root.Get("e"), 1, Text("b")) }), "e:\n- name: a\n- b\n- z\n"},
		{"the only item", "e:\n- a\n", item(0), ""},
		{"the only key", "e:\n- name: a\n", field("name"), ""},
		{"an item of a list in a list", "e:\n- - a\n  - b\n", func(e *Edits, root *Node) error { return e.Remove(root.Get("e").Children[0].Children[0]) }, ""},
		{"an item with an anchor", "e:\n- &a x\n- *a\n", item(0), ""},
	} {
		f, err := Open("t.yaml", []byte(tt.src))
		if err != nil {
			t.Fatal(err)
		}
		root, err := f.Docs[0].Root()
		if err != nil {
			t.Fatal(err)
		}
		e := f.Edit()
		err = tt.edit(e, root)
		var got []byte
		if err == nil {
			got, err = e.Apply()
		}
		if tt.want == "" && !failure.Is(err, failure.EditRefused) || tt.want != "" && (err != nil || string(got) != tt.want) {
			t.Errorf("%s: got %q %v, want %q", tt.name, got, err, tt.want)
		}
	}
}

func item(i int) func(*Edits, *Node) error {
	return func(e *Edits, root *Node) error { return e.Remove(root.Get("e").Children[i]) }
}

func field(key string) func(*Edits, *Node) error {
	return func(e *Edits, root *Node) error { return e.RemoveField(root.Get("e").Children[0], key) }
}

// behind inserts items after the last.
func behind(texts ...string) func(*Edits, *Node) error {
	return func(e *Edits, root *Node) error {
		list := root.Get("e")
		for _, text := range texts {
			if err := e.Insert(list, len(list.Children), Text(text)); err != nil {
				return err
			}
		}
		return nil
	}
}

func both(a, b func(*Edits, *Node) error) func(*Edits, *Node) error {
	return func(e *Edits, root *Node) error {
		if err := a(e, root); err != nil {
			return err
		}
		return b(e, root)
	}
}

// A document is removed with its surplus separator, and replaced between the comments around it.
func TestDocumentsGo(t *testing.T) {
	for _, tt := range []struct{ name, src, remove, replace, want string }{
		{"the first", "a: 1\n---\nb: 2\n", "0", "", "---\nb: 2\n"},
		{"the first, with a marker", "---\na: 1\n---\nb: 2\n", "0", "", "---\nb: 2\n"},
		{"the last", "---\na: 1\n---\nb: 2\n", "1", "", "---\na: 1\n"},
		{"one between", "a: 1\n---\nb: 2\n---\nc: 3\n", "1", "", "a: 1\n---\nc: 3\n"},
		{"two", "a: 1\n---\nb: 2\n---\nc: 3\n", "1 2", "", "a: 1\n"},
		{"all", "a: 1\n---\nb: 2\n", "0 1", "", ""},
		{"JSON", "{\"a\":1}\n{\"b\":2}\n", "0", "", "{\"b\":2}\n"},
		{"replaced", "a: 1\n---\nb: 2\n---\nc: 3\n", "", "1", "a: 1\n---\nx: 9\n---\nc: 3\n"},
		{"replaced, comments around", "---\n# above\na: 1\n# below\n---\nb: 2\n", "", "0", "---\n# above\nx: 9\n# below\n---\nb: 2\n"},
		{"the last replaced, a comment above", "---\na: 1\n---\n# above\nb: 2\n", "", "1", "---\na: 1\n---\n# above\nx: 9\n"},
		{"replaced, no final newline", "a: 1\n---\nb: 2", "", "1", "a: 1\n---\nx: 9"},
		{"replaced, CRLF", "a: 1\r\n---\r\nb: 2\r\n", "", "0", "x: 9\r\n---\r\nb: 2\r\n"},
	} {
		f, err := Open("t.yaml", []byte(tt.src))
		if err != nil {
			t.Fatal(err)
		}
		e := f.Edit()
		for _, i := range strings.Fields(tt.remove) {
			err = e.RemoveDoc(int(i[0] - '0'))
		}
		for _, i := range strings.Fields(tt.replace) {
			err = e.ReplaceRaw(int(i[0]-'0'), []byte("x: 9\n"))
		}
		var got []byte
		if err == nil {
			got, err = e.Apply()
		}
		if tt.want == "" && !failure.Is(err, failure.EditRefused) || tt.want != "" && (err != nil || string(got) != tt.want) {
			t.Errorf("%s: got %q %v, want %q", tt.name, got, err, tt.want)
		}
	}
}
