package yamledit

import (
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
)

// insertEntry inserts an entry that replaces another into the first list named entries, at the index.
func insertEntry(t testing.TB, src string, index int) (string, error) {
	t.Helper()
	f, err := Open("t.yaml", []byte(src))
	if err != nil {
		return "", err
	}
	for _, d := range f.Docs {
		root, err := d.Root()
		if err != nil {
			return "", err
		}
		seq := root.Get("entries")
		if seq == nil {
			continue
		}
		if index < 0 {
			index = len(seq.Items())
		}
		e := f.Edit()
		v := Map(Field{Key: "name", Value: Text("op.v2.0.0")}, Field{Key: "replaces", Value: Text("op.v1.0.0")}, Field{Key: "skips", Value: Texts([]string{"op.v1.5.0", "op.v1.6.0"})})
		if err := e.Insert(seq, index, v); err != nil {
			return "", err
		}
		out, err := e.Apply()
		return string(out), err
	}
	t.Fatal("no entries")
	return "", nil
}

func TestInsertItem(t *testing.T) {
	tests := []struct {
		name, in, want string
		index          int
	}{
		{"indented", "entries:\n  - name: op.v1.0.0\n", "entries:\n  - name: op.v1.0.0\n  - name: op.v2.0.0\n    replaces: op.v1.0.0\n    skips:\n      - op.v1.5.0\n      - op.v1.6.0\n", -1},
		{"flush, no final newline", "entries:\n- name: op.v1.0.0", "entries:\n- name: op.v1.0.0\n- name: op.v2.0.0\n  replaces: op.v1.0.0\n  skips:\n  - op.v1.5.0\n  - op.v1.6.0", -1},
		{"wide dash", "entries:\n-   name: op.v1.0.0\n    skips: [a]\n", "entries:\n-   name: op.v1.0.0\n    skips: [a]\n-   name: op.v2.0.0\n    replaces: op.v1.0.0\n    skips: [op.v1.5.0, op.v1.6.0]\n", -1},
		{"CRLF and trailing comment", "entries: # all\r\n- name: 'op.v1.0.0' # old\r\n# end\r\nx: 1\r\n", "entries: # all\r\n- name: 'op.v1.0.0' # old\r\n- name: 'op.v2.0.0'\r\n  replaces: 'op.v1.0.0'\r\n  skips:\r\n  - 'op.v1.5.0'\r\n  - 'op.v1.6.0'\r\n# end\r\nx: 1\r\n", -1},
		{"below the comments of the last", "entries:\n- name: a\n  # of a\n  # more\n# of z\nz: 1\n", "entries:\n- name: a\n  # of a\n  # more\n- name: op.v2.0.0\n  replaces: op.v1.0.0\n  skips:\n  - op.v1.5.0\n  - op.v1.6.0\n# of z\nz: 1\n", -1},
		{"below a comment without end", "entries:\n- name: a\n  # of a", "entries:\n- name: a\n  # of a\n- name: op.v2.0.0\n  replaces: op.v1.0.0\n  skips:\n  - op.v1.5.0\n  - op.v1.6.0", -1},
		{"before the first, above its comment", "entries:\n  # the oldest\n  - name: op.v3.0.0\n", "entries:\n  - name: op.v2.0.0\n    replaces: op.v1.0.0\n    skips:\n      - op.v1.5.0\n      - op.v1.6.0\n  # the oldest\n  - name: op.v3.0.0\n", 0},
		{"blank lines between", "entries:\n- name: a\n\n- name: b\n\nz: 1\n", "entries:\n- name: a\n\n- name: b\n\n- name: op.v2.0.0\n  replaces: op.v1.0.0\n  skips:\n  - op.v1.5.0\n  - op.v1.6.0\n\nz: 1\n", -1},
		{"sibling's key order and quotes", "entries:\n- \"replaces\": \"x\"\n  \"name\": \"a\"\n", "entries:\n- \"replaces\": \"x\"\n  \"name\": \"a\"\n- \"replaces\": \"op.v1.0.0\"\n  \"skips\":\n  - \"op.v1.5.0\"\n  - \"op.v1.6.0\"\n  \"name\": \"op.v2.0.0\"\n", -1},
		{"flow on one line", "entries: [{name: a}, {name: b}]\n", "entries: [{name: a}, {name: b}, {name: op.v2.0.0, replaces: op.v1.0.0, skips: [op.v1.5.0, op.v1.6.0]}]\n", -1},
		{"flow on many lines, comments, trailing comma", "entries: [\n  {name: a}, # one\n  {name: b}, # two\n]\n", "entries: [\n  {name: a}, # one\n  {name: b}, # two\n  {name: op.v2.0.0, replaces: op.v1.0.0, skips: [op.v1.5.0, op.v1.6.0]},\n]\n", -1},
		{"flow, two on the last line", "entries: [\n  {name: a},\n  {name: b}, {name: c}]\n", "entries: [\n  {name: a},\n  {name: b},\n  {name: op.v2.0.0, replaces: op.v1.0.0, skips: [op.v1.5.0, op.v1.6.0]}, {name: c}]\n", 2},
		{"flow, comment on the last", "entries: [\n  {name: a} # one\n]\n", "entries: [\n  {name: a}, # one\n  {name: op.v2.0.0, replaces: op.v1.0.0, skips: [op.v1.5.0, op.v1.6.0]}\n]\n", -1},
		{"JSON, two spaces", "{\n  \"entries\": [\n    {\n      \"name\": \"a\"\n    }\n  ]\n}\n", "{\n  \"entries\": [\n    {\n      \"name\": \"a\"\n    },\n    {\n      \"name\": \"op.v2.0.0\",\n      \"replaces\": \"op.v1.0.0\",\n      \"skips\": [\n        \"op.v1.5.0\",\n        \"op.v1.6.0\"\n      ]\n    }\n  ]\n}\n", -1},
		{"JSON, tabs, first", "{\n\t\"entries\": [\n\t\t{\n\t\t\t\"name\": \"a\"\n\t\t}\n\t]\n}", "{\n\t\"entries\": [\n\t\t{\n\t\t\t\"name\": \"op.v2.0.0\",\n\t\t\t\"replaces\": \"op.v1.0.0\",\n\t\t\t\"skips\": [\n\t\t\t\t\"op.v1.5.0\",\n\t\t\t\t\"op.v1.6.0\"\n\t\t\t]\n\t\t},\n\t\t{\n\t\t\t\"name\": \"a\"\n\t\t}\n\t]\n}", 0},
		{"JSON, minified", `{"entries":[{"name":"a","x":1}]}`, `{"entries":[{"name":"a","x":1},{"name":"op.v2.0.0","replaces":"op.v1.0.0","skips":["op.v1.5.0","op.v1.6.0"]}]}`, -1},
		{"empty list with a comment", "entries: [] # none yet\nz: 1\n", "entries: # none yet\n- name: op.v2.0.0\n  replaces: op.v1.0.0\n  skips:\n  - op.v1.5.0\n  - op.v1.6.0\nz: 1\n", -1},
		{"wide characters and U+2028", "# 日本語 e\u0301\nd: \"a\u2028b\"\nentries:\n- {k: \"漢字\", name: a}\n", "# 日本語 e\u0301\nd: \"a\u2028b\"\nentries:\n- {k: \"漢字\", name: a}\n- {name: op.v2.0.0, replaces: op.v1.0.0, skips: [op.v1.5.0, op.v1.6.0]}\n", -1},
		{"block scalar above", "entries:\n- name: a\n  text: |+\n    keep\n\n- name: b\n  text: |\n    # not a comment\n  # a comment\nz: 1\n", "entries:\n- name: a\n  text: |+\n    keep\n\n- name: b\n  text: |\n    # not a comment\n  # a comment\n- name: op.v2.0.0\n  replaces: op.v1.0.0\n  skips:\n  - op.v1.5.0\n  - op.v1.6.0\nz: 1\n", -1},
		{"BOM and marker", "\uFEFF---\nentries:\n- name: a\n...\n", "\uFEFF---\nentries:\n- name: a\n- name: op.v2.0.0\n  replaces: op.v1.0.0\n  skips:\n  - op.v1.5.0\n  - op.v1.6.0\n...\n", -1},
		{"anchor elsewhere", "b: &x {k: 1}\nentries:\n- name: a\nc: *x\n", "b: &x {k: 1}\nentries:\n- name: a\n- name: op.v2.0.0\n  replaces: op.v1.0.0\n  skips:\n  - op.v1.5.0\n  - op.v1.6.0\nc: *x\n", -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := insertEntry(t, tt.in, tt.index)
			if err != nil {
				t.Fatal(err)
			}
			if got != tt.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.want)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	for name, tt := range map[string]struct{ src, want string }{
		"anchored list": {"entries: &e\n- name: a\ny: *e\n", "t.yaml:2:1: editing inside of the anchor &e, which several places use"},
		"aliased list":  {"x: &e\n- name: a\nentries: *e\n", "t.yaml:3:10: editing an alias (*e)"},
		"anchor above":  {"k: 1\nentries: &a [{name: a}]\n", "t.yaml:2:13: editing inside of the anchor &a"},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := Open("t.yaml", []byte(tt.src))
			if err != nil {
				t.Fatal(err)
			}
			root, err := f.Docs[0].Root()
			if err != nil {
				t.Fatal(err)
			}
			err = f.Edit().Insert(root.Children[3], 1, Text("x"))
			if name == "anchored list" {
				err = f.Edit().Insert(root.Children[1], 1, Text("x"))
			}
			if !failure.Is(err, failure.EditRefused) || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

// Columns count characters. A byte order mark does not count.
func TestPosition(t *testing.T) {
	for _, tt := range []struct {
		src, at   string
		line, col int
	}{
		{"a: b\n", "a", 1, 1},
		{"a: b\n", "b", 1, 4},
		{"\uFEFFa: b\n", "a", 1, 1},
		{"\uFEFFa: b\nc: d\n", "d", 2, 4},
		{"漢字: é b\n", "b", 1, 7},
		{"a: b\r\nc: d\r\n", "c", 2, 1},
		{"a: b\n\n\nc: d", "d", 4, 4},
		{"a: b\n", "\n", 1, 5},
	} {
		f, err := Open("t.yaml", []byte(tt.src))
		if err != nil {
			t.Fatal(err)
		}
		if line, col := f.Position(strings.Index(tt.src, tt.at)); line != tt.line || col != tt.col {
			t.Errorf("%q: %q is at %d:%d, want %d:%d", tt.src, tt.at, line, col, tt.line, tt.col)
		}
	}
}

func TestHostile(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'k'; c++ {
		bomb += string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+string(c-1)+",", 9) + "]\n"
	}
	for name, src := range map[string]string{
		"depth 10,000 in brackets":   strings.Repeat("[", 10000),
		"depth 10,000, closed":       strings.Repeat("[", 10000) + strings.Repeat("]", 10000),
		"depth 10,000 in dashes":     strings.Repeat("- ", 10000) + "x",
		"depth 10,000 in JSON":       strings.Repeat(`{"a":`, 10000) + "1" + strings.Repeat("}", 10000),
		"alias bomb":                 bomb,
		"64 MiB":                     strings.Repeat("- a\n", 16<<20),
		"one document of 40 MiB":     strings.Repeat("- a\n", 10<<20),
		"alias inside of its anchor": "- &a [*a]",
		"not UTF-8":                  "a: \xff\n",
		"UTF-16":                     "\xff\xfea\x00",
	} {
		t.Run(name, func(t *testing.T) {
			f, err := Open("t.yaml", []byte(src))
			if err == nil {
				_, err = f.Docs[0].Root()
			}
			if !failure.Is(err, failure.TemplateMalformed) || !strings.HasPrefix(err.Error(), "t.yaml:") {
				t.Errorf("got %v, want template-malformed with its place", err)
			}
		})
	}
}

// Texts that create many nodes or documents from few bytes are refused before they are parsed.
func TestBounds(t *testing.T) {
	for name, src := range map[string]string{
		"dashes":    "a:\n" + strings.Repeat("-\n", 2<<20),
		"brackets":  "a: [" + strings.Repeat("[],", 1<<20) + "]",
		"JSON":      strings.Repeat("{}", 1<<20),
		"documents": strings.Repeat("a:\n---\n", 1<<20),
		"aliases":   strings.Repeat("- &a a\n- *a\n", 500_000),
	} {
		f, err := Open("t.yaml", []byte(src))
		if err == nil {
			_, err = f.Docs[0].Root()
		}
		if !failure.Is(err, failure.TemplateMalformed) {
			t.Errorf("%s: got %v, want template-malformed", name, err)
		}
	}
}

// Every YAML reader must read a written string back as the same string. It is quoted only if necessary, and
// written as JSON if quotes cannot hold it.
func TestScalarText(t *testing.T) {
	for _, tt := range []struct{ text, block, flow string }{
		{"op.v1.0.0", "op.v1.0.0", "op.v1.0.0"},
		{"quay.io/x/op:v1@sha256:ab", "quay.io/x/op:v1@sha256:ab", "quay.io/x/op:v1@sha256:ab"},
		{"", "''", "''"},
		{" a", "' a'", "' a'"},
		{"a b", "a b", "a b"},
		{"a: b", "'a: b'", "'a: b'"},
		{"a:", "'a:'", "'a:'"},
		{"a #b", "'a #b'", "'a #b'"},
		{"a#b", "a#b", "a#b"},
		{"a,b", "a,b", "'a,b'"},
		{"a]", "a]", "'a]'"},
		{"- a", "'- a'", "'- a'"},
		{"-a", "-a", "-a"},
		{"---", "'---'", "'---'"},
		{"---a", "'---a'", "'---a'"},
		{"...a", "'...a'", "'...a'"},
		{">=1.0.0 <1.2.0", "'>=1.0.0 <1.2.0'", "'>=1.0.0 <1.2.0'"},
		{"<1.2.0", "<1.2.0", "<1.2.0"},
		{"it's", "it's", "it's"},
		{"*it's", "'*it''s'", "'*it''s'"},
		{"yes", "'yes'", "'yes'"},
		{"Off", "'Off'", "'Off'"},
		{"null", "'null'", "'null'"},
		{"1", "'1'", "'1'"},
		{"4.20", "'4.20'", "'4.20'"},
		{"2001-01-01", "'2001-01-01'", "'2001-01-01'"},
		{"a\tb", `"a\tb"`, `"a\tb"`},
		{"a\nb", `"a\nb"`, `"a\nb"`},
		{"a\u2028b", `"a\u2028b"`, `"a\u2028b"`},
	} {
		if got := scalarText(tt.text, Plain, false, false); got != tt.block || Quote(tt.text) != got {
			t.Errorf("%q is written as %s, want %s", tt.text, got, tt.block)
		}
		if got := scalarText(tt.text, Plain, true, false); got != tt.flow {
			t.Errorf("%q is written as %s in braces, want %s", tt.text, got, tt.flow)
		}
	}
	for style, want := range map[Style]string{SingleQuoted: "'a<b'", DoubleQuoted: `"a<b"`, Plain: "a<b"} {
		if got := scalarText("a<b", style, false, false); got != want {
			t.Errorf("style %d: written as %s, want %s", style, got, want)
		}
	}
	if got := scalarText("a<b", Plain, true, true); got != `"a<b"` {
		t.Errorf("JSON: written as %s", got)
	}
}
